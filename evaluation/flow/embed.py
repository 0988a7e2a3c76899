"""Texts to vectors: workers' and models' answers in one space."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from itertools import permutations
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from evaluation.backends import EmbedderInfo, get_embedder
from evaluation.backends.nli import EntailmentModel
from evaluation.flow.parameters import AqerParameters
from evaluation.methods.grams import Vectors
from evaluation.methods.undefined import ratio
from evaluation.texts.languages import language_warning
from evaluation.words.message import Message

# (what, done, total)
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Embedded:
    """Vectors of N workers' answers and of R models' answers (None without models).

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


def embed(
    parameters: AqerParameters,
    answers: Sequence[str],
    model_answers: Sequence[str] | None,
    progress: Progress | None = None,
) -> Embedded:
    """Embed answers with the embedder that `parameters` name; every text must be non-empty.

    Raises `BackendError`.
    """
    precision = cast(Literal["float32", "bfloat16", "auto"], parameters.precision)
    embedder = get_embedder(parameters.embedder, precision)
    total = len(answers) + len(model_answers or ())

    def told(after: int) -> Callable[[int, int], None] | None:
        return progress and (lambda done, _: progress("embedding", after + done, total))

    embedder.fit(answers)
    vectors = embedder.embed(answers, told(0))
    cut = embedder.n_truncated_
    of_models = None
    if model_answers is not None:
        of_models = embedder.embed(model_answers, told(len(answers)))
        cut += embedder.n_truncated_
    info = embedder.describe()
    found = [
        truncation_warning(cut, info),
        language_warning([*answers, *(model_answers or ())], info),
    ]
    return Embedded(vectors, of_models, info, [warning for warning in found if warning])


def truncation_warning(cut: int, info: EmbedderInfo) -> Message | None:
    """Return a warning if some answers are longer than what the model reads."""
    if not cut:
        return None
    values = {"answers": int(cut), "tokens": info.max_length, "model": info.model}
    return Message("truncated", values)


def entailment_scores(
    name: str,
    texts: Sequence[str],
    questions: Sequence[Hashable],
    progress: Progress | None = None,
) -> NDArray[np.float64]:
    """Return (N,) the mean probability that the other answers to its question entail each answer.

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
    return ratio(total, count)
