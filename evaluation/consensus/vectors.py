"""Embedding of workers' and models' answers in one vector space."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from itertools import permutations
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from annotations.exchange import AnswerStatus
from evaluation.consensus.inputs import GradingInput
from evaluation.consensus.parameters import AqerParameters
from evaluation.core.backends import EmbedderInfo, get_embedder
from evaluation.core.backends.nli import EntailmentModel
from evaluation.core.messages.message import Message
from evaluation.core.stats.grams import Vectors
from evaluation.core.stats.undefined import divide_where_positive
from evaluation.core.text.languages import check_language
from evaluation.core.text.spelling import correct_spelling

# (what, done, total)
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Embedded:
    """Vectors of workers' answers and models' answers, with embedder and warnings.

    Attributes
    ----------
    answers, models : (N, d) and (R, d), dense or sparse.
    info : how they were made. warnings : what the user should know about it.
    plain : (N, d) of the texts as written, where the others are of corrected ones. spelling : what
        was corrected.
    """

    answers: Vectors
    models: Vectors | None
    info: EmbedderInfo
    warnings: list[Message] = field(default_factory=list)
    plain: Vectors | None = None
    spelling: dict[str, Any] | None = None


# Gives the vectors of workers' answers and of models' answers, none of which is empty; None where
# there are no models. Raises `BackendError`.
EmbedTexts = Callable[[Sequence[str], Sequence[str] | None], Embedded]


def embed(
    parameters: AqerParameters,
    answers: Sequence[str],
    model_answers: Sequence[str] | None,
    progress: Progress | None = None,
) -> Embedded:
    """Return the vectors of non-empty answers by the embedder of `parameters`.

    Raises `BackendError`.
    """
    precision = cast(Literal["float32", "bfloat16", "auto"], parameters.precision)
    embedder = get_embedder(parameters.embedder, precision)
    total = len(answers) + len(model_answers or ())

    def report_after(after: int) -> Callable[[int, int], None] | None:
        return progress and (lambda done, _: progress("embedding", after + done, total))

    embedder.fit(answers)
    vectors = embedder.embed(answers, report_after(0))
    cut = embedder.n_truncated_
    of_models = None
    if model_answers is not None:
        of_models = embedder.embed(model_answers, report_after(len(answers)))
        cut += embedder.n_truncated_
    info = embedder.describe()
    found = [
        build_truncation_warning(cut, info),
        check_language([*answers, *(model_answers or ())], info),
    ]
    return Embedded(vectors, of_models, info, [warning for warning in found if warning])


def build_truncation_warning(cut: int, info: EmbedderInfo) -> Message | None:
    """Return a warning that the embedder cut `cut` texts at its longest input; None for 0."""
    if not cut:
        return None
    values = {"answers": int(cut), "tokens": info.max_length, "model": info.model}
    return Message("truncated", values)


def compute_entailment_scores(
    name: str,
    texts: Sequence[str],
    questions: Sequence[Hashable],
    progress: Progress | None = None,
) -> NDArray[np.float64]:
    """Return for each answer the mean probability that the question's other answers entail it.

    NaN for a question's only answer. (Yahav et al. 2025, appendix B.1.) Raises `BackendError`.
    """
    model = EntailmentModel.load(name)
    of_question: dict[Hashable, list[int]] = {}
    for row, question in enumerate(questions):
        of_question.setdefault(question, []).append(row)
    pairs = [pair for rows in of_question.values() for pair in permutations(rows, 2)]
    found = model.probabilities(
        [(texts[premise], texts[hypothesis]) for premise, hypothesis in pairs],
        progress and (lambda done, total: progress("entailment", done, total)),
    )
    hypotheses = np.array([hypothesis for _, hypothesis in pairs], dtype=np.int64)
    count = np.bincount(hypotheses, minlength=len(texts))
    total = np.bincount(hypotheses, weights=found, minlength=len(texts))
    return divide_where_positive(total, count)


def embed_graded_answers(given: GradingInput, embed: EmbedTexts) -> Embedded:
    """Return vectors of all graded answers, and one row for each answer of a model.

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
        both, done = correct_spelling([*texts, *(of_models or ())], language)
        plain = embed(texts, None).answers
        found = embed(both[:n], None if of_models is None else both[n:])
        found = replace(found, plain=plain, spelling=done)
    if given.models is None:
        return found
    assert found.models is not None
    return replace(found, models=_place_rows(found.models, spoken, len(given.models)))


def _place_rows(vectors: Vectors, rows: list[int], count: int) -> Vectors:
    """Return `count` vectors: those of `vectors` at the positions `rows`, zeros elsewhere."""
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
