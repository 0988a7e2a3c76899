"""The answers and vectors that a finished run graded, read again without asking a model."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from evaluation.backends import BackendError
from evaluation.consensus.inputs import GradingInput
from evaluation.consensus.vectors import embed
from evaluation.grading.storage.running import load
from evaluation.grading.summary import summary_of
from evaluation.methods.grams import Vectors
from evaluation.models import EmbedderVersion, LLMAnswerScore, Run, text_hash
from evaluation.steps.answers import parameters_of
from evaluation.steps.cache import is_kept, stored_vectors
from evaluation.steps.checkpoints import RunInputError

# These make vectors of words and letters at once; others need a model, or a file.
OF_WORDS = ("tfidf-word", "tfidf-char", "bow")


class NotAtOnceError(Exception):
    """Error of a result that is not computed at once; `code` is a key of `NOT_AT_ONCE`."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


def as_graded(run: Run) -> GradingInput:
    """Return the workers' answers that a finished run graded, without models' answers.

    Models' answers change no grade of a worker. Raises `NotAtOnceError` if answers changed since.
    """
    try:
        given = load(run.pk)
    except RunInputError:
        raise NotAtOnceError("changed") from None
    if known := summary_of(run).people_hash:
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


def vectors_as_graded(run: Run, given: GradingInput) -> Vectors:
    """Return the vectors (N, d) of a run's answers with a text, in the order of `given.answered`.

    Raises `NotAtOnceError` where they are not stored and a model would have to make them.
    """
    parameters = parameters_of(run.parameters)
    if parameters.spelling is not None:
        raise NotAtOnceError("slow_settings")
    texts = given.answered.texts
    if parameters.embedder in OF_WORDS:
        try:
            return embed(parameters, texts, None).answers
        except BackendError:
            raise NotAtOnceError("no_vectors") from None
    if not is_kept(parameters.embedder):
        raise NotAtOnceError("no_vectors")
    embedding_info = summary_of(run).embedding
    version = EmbedderVersion.objects.filter(
        model=embedding_info.model,
        revision=embedding_info.revision,
        precision=embedding_info.precision,
        max_length=embedding_info.max_length or 0,
        prefix="",
    ).first()
    distinct = list(dict.fromkeys(texts))
    by_hash = {text_hash(text): text for text in distinct}
    vectors_of_texts = None if version is None else stored_vectors(version, by_hash)
    if vectors_of_texts is None:
        raise NotAtOnceError("no_vectors")
    index_of_text = {text: at for at, text in enumerate(distinct)}
    return vectors_of_texts[np.array([index_of_text[text] for text in texts])]
