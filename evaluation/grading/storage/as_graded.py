"""Read again the answers and vectors that a finished run graded, without a model."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from evaluation.consensus.inputs import GradingInput
from evaluation.consensus.vectors import embed
from evaluation.core.backends import BackendError
from evaluation.core.stats.grams import Vectors
from evaluation.grading.storage.running import load_inputs
from evaluation.grading.summary import read_summary
from evaluation.models import EmbedderVersion, LLMAnswerScore, Run, text_hash
from evaluation.runs.steps.answers import read_parameters
from evaluation.runs.steps.cache import has_stored_vectors, load_stored_vectors
from evaluation.runs.steps.checkpoints import RunInputError

# These make vectors of words and letters at once; others need a model, or a file.
OF_WORDS = ("tfidf-word", "tfidf-char", "bow")


class NotAtOnceError(Exception):
    """Error: a result cannot be computed at once; `code` is a key of `NOT_AT_ONCE`."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


def read_graded_input(run: Run) -> GradingInput:
    """Return the workers' answers that a finished run graded, without models' answers.

    Models' answers change no grade of a worker. Raises `NotAtOnceError` if answers changed since.
    """
    try:
        given = load_inputs(run.pk)
    except RunInputError:
        raise NotAtOnceError("changed") from None
    if known := read_summary(run).people_hash:
        same = given.people_hash() == known
    else:
        same = _select_scored_models(run, given).hash() == run.input_hash
    if not same:
        raise NotAtOnceError("changed")
    return replace(given, models=None)


def _select_scored_models(run: Run, given: GradingInput) -> GradingInput:
    """Return the inputs with only those models' answers that the run scored."""
    if given.models is None:
        return given
    scored = set(LLMAnswerScore.objects.filter(run=run).values_list("llm_response_id", flat=True))
    models = given.models.kept(key in scored for key in given.models.keys)
    return replace(given, models=models if len(models) else None)


def read_graded_vectors(run: Run, given: GradingInput) -> Vectors:
    """Return the vectors of the answers that a run graded, one row per answer with a text.

    Raises `NotAtOnceError` where they are not stored and a model would have to make them.
    """
    parameters = read_parameters(run.parameters)
    if parameters.spelling is not None:
        raise NotAtOnceError("slow_settings")
    texts = given.answered.texts
    if parameters.embedder in OF_WORDS:
        try:
            return embed(parameters, texts, None).answers
        except BackendError:
            raise NotAtOnceError("no_vectors") from None
    if not has_stored_vectors(parameters.embedder):
        raise NotAtOnceError("no_vectors")
    embedding_info = read_summary(run).embedding
    version = EmbedderVersion.objects.filter(
        model=embedding_info.model,
        revision=embedding_info.revision,
        precision=embedding_info.precision,
        max_length=embedding_info.max_length or 0,
        prefix="",
    ).first()
    distinct = list(dict.fromkeys(texts))
    by_hash = {text_hash(text): text for text in distinct}
    vectors_of_texts = None if version is None else load_stored_vectors(version, by_hash)
    if vectors_of_texts is None:
        raise NotAtOnceError("no_vectors")
    index_of_text = {text: at for at, text in enumerate(distinct)}
    return vectors_of_texts[np.array([index_of_text[text] for text in texts])]
