"""The vectors of a grading: of which texts they are made, and where they stand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from scipy import sparse

from annotations.exchange import AnswerStatus
from evaluation.flow.embed import Embedded
from evaluation.flow.inputs import GradingInput
from evaluation.methods.grams import Vectors
from evaluation.texts.spelling import corrected

# Gives the vectors of workers' answers and of models' answers, none of which is empty; None where
# there are no models. Raises `BackendError`.
EmbedTexts = Callable[[Sequence[str], Sequence[str] | None], Embedded]


def vectors_of(given: GradingInput, embed: EmbedTexts) -> Embedded:
    """Return the vectors of the answers with a text, and one for every answer of a model.

    Rows of models' answers without a text are zeros, which are never read. With a language for the
    spelling the vectors are those of the corrected texts, and those of the workers' answers as
    written stand beside them.
    """
    language = given.parameters.spelling
    texts: Sequence[str] = given.answered.texts
    of_models: Sequence[str] | None = None
    spoken: list[int] = []
    if given.models is not None:
        statuses = given.models.statuses
        spoken = [row for row, status in enumerate(statuses) if status is AnswerStatus.TEXT]
        of_models = given.models.with_text().texts
    if language is None:
        found = embed(texts, of_models)
    else:
        n = len(texts)
        both, done = corrected([*texts, *(of_models or ())], language)
        plain = embed(texts, None).answers
        found = embed(both[:n], None if of_models is None else both[n:])
        found = replace(found, plain=plain, spelling=done)
    if given.models is None:
        return found
    assert found.models is not None
    return replace(found, models=_spread(found.models, spoken, len(given.models)))


def _spread(vectors: Vectors, rows: list[int], count: int) -> Vectors:
    """Put the vectors of some rows among `count` rows, zeros elsewhere."""
    if len(rows) == count:
        return vectors
    if isinstance(vectors, np.ndarray):
        spread = np.zeros((count, vectors.shape[1]), dtype=vectors.dtype)
        spread[rows] = vectors
        return spread
    selector = sparse.csr_array(
        (np.ones(len(rows), dtype=vectors.dtype), (rows, np.arange(len(rows)))),
        shape=(count, len(rows)),
    )
    return selector @ vectors
