"""The answers of a run that is done, with the vectors that it had, without asking any model."""

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
    """It is not computed at once; `code` says why, a key of `what_if_messages` of the remedies."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


def as_graded(run: Run) -> GradingInput:
    """Return what a run graded people by, without models' answers, which change no grade of them.

    Raises `NotAtOnceError`: it is not that any more.
    """
    try:
        given = load(run.pk)
    except RunInputError:
        raise NotAtOnceError("changed") from None
    if known := summary_of(run).people_hash:
        same = given.people_hash() == known
    else:
        same = _with_its_models(run, given).hash() == run.input_hash
    if not same:
        raise NotAtOnceError("changed")
    return replace(given, models=None)


def _with_its_models(run: Run, given: GradingInput) -> GradingInput:
    """Return the inputs with those answers of models alone that the run scored."""
    if given.models is None:
        return given
    scored = set(LLMAnswerScore.objects.filter(run=run).values_list("llm_response_id", flat=True))
    models = given.models.kept(key in scored for key in given.models.keys)
    return replace(given, models=models if len(models) else None)


def vectors_as_graded(run: Run, given: GradingInput) -> Vectors:
    """Return the vectors of its answers with a text, as the run had them.

    Raises `NotAtOnceError` where they are not at hand, and cannot be made at once.
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
    made = summary_of(run).embedding
    version = EmbedderVersion.objects.filter(
        model=made.model,
        revision=made.revision,
        precision=made.precision,
        max_length=made.max_length or 0,
        prefix="",
    ).first()
    distinct = list(dict.fromkeys(texts))
    by_hash = {text_hash(text): text for text in distinct}
    found = None if version is None else stored_vectors(version, by_hash)
    if found is None:
        raise NotAtOnceError("no_vectors")
    place = {text: at for at, text in enumerate(distinct)}
    return found[np.array([place[text] for text in texts])]
