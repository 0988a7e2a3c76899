"""The vectors of a run: kept ones out of the database, lexical ones learned from the run itself."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import sparse

from annotations.exchange import AnswerStatus
from evaluation.flow.embed import Embedded, embed, truncation_warning
from evaluation.methods.grams import Vectors
from evaluation.steps.cache import cached_vectors, is_kept
from evaluation.steps.checkpoints import Turn
from evaluation.steps.load import RunInput
from evaluation.texts.languages import language_warning
from evaluation.texts.spelling import corrected


def vectors_of(source: RunInput, turn: Turn) -> Embedded:
    """Return the vectors of the workers' answers and of the models' answers.

    With a language for the spelling those of the corrected texts, and of the workers' answers as
    written beside them. Raises and ends as `_vectors_of`.
    """
    language = source.parameters.spelling
    if language is None:
        return _vectors_of(source, turn)
    texts, done = corrected([*source.texts, *source.model_texts], language)
    n = len(source.texts)
    new = _vectors_of(replace(source, texts=texts[:n], model_texts=texts[n:]), turn)
    plain = _vectors_of(replace(source, model_texts=[], statuses=[]), turn)
    return replace(new, plain=plain.answers, spelling=done)


def _vectors_of(source: RunInput, turn: Turn) -> Embedded:
    """Return the vectors of the texts in `source`.

    Rows of models' answers without a text are zeros, which are never read. Raises
    `BackendError`, and ends the turn between two parts when its time is up.
    """
    spoken = [at for at, status in enumerate(source.statuses) if status is AnswerStatus.TEXT]
    of_models = [source.model_texts[at] for at in spoken]
    parameters = source.parameters
    if not is_kept(parameters.embedder):
        embedded = embed(parameters, source.texts, of_models or None, turn.report)
        rows = _spread(embedded.models, spoken, len(source.statuses))
        return Embedded(embedded.answers, rows, embedded.info, embedded.warnings)
    texts = [*source.texts, *of_models]
    vectors, info, cut = cached_vectors(parameters.embedder, parameters.precision, texts, turn)
    n = len(source.texts)
    found = [truncation_warning(cut, info), language_warning(texts, info)]
    return Embedded(
        vectors[:n],
        _spread(vectors[n:], spoken, len(source.statuses)),
        info,
        [warning for warning in found if warning],
    )


def _spread(vectors: Vectors | None, rows: list[int], count: int) -> Vectors | None:
    """Put the vectors of some rows among `count` rows, zeros elsewhere; None for no rows at all."""
    if vectors is None or not count:
        return None
    selector = sparse.csr_array(
        (np.ones(len(rows), dtype=vectors.dtype), (rows, np.arange(len(rows)))),
        shape=(count, len(rows)),
    )
    return selector @ vectors
