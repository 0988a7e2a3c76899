"""Vectors to grades: AQER on the answers of a crowd, then the models against its exemplars."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotations.exchange import AnswerStatus
from evaluation.flow.parameters import AqerParameters
from evaluation.flow.remedies import OutsideInformation, RemedyReport, grade_with_remedies
from evaluation.flow.vectors import Progress
from evaluation.methods import AQER, ModelScores
from evaluation.methods.aqer.resampling import KeptDraws
from evaluation.methods.grams import Vectors

# Characters; what people use as ids is shorter.
LONG_ID = 200


@dataclass(frozen=True)
class ModelColumns:
    """R answers of models, as columns; vectors of rows without a text are never read."""

    models: Sequence[Hashable]
    questions: Sequence[Hashable]
    statuses: Sequence[AnswerStatus]
    vectors: Vectors


@dataclass(frozen=True)
class Graded:
    """The fitted estimator and, where there were models, their scores.

    With remedies also the plain run, without draws, and what the remedies did.
    """

    aqer: AQER
    models: ModelScores | None
    plain: AQER | None = None
    remedies: RemedyReport | None = None


def kind_of(status: AnswerStatus) -> str:
    """Return how a status enters a model's score: "text", "no_text" or "error"."""
    if status is AnswerStatus.TEXT:
        return "text"
    return "error" if status.is_missing else "no_text"


def grade(
    parameters: AqerParameters,
    vectors: Vectors,
    workers: Sequence[Hashable],
    questions: Sequence[Hashable],
    initial_scores: NDArray[np.float64] | None = None,
    models: ModelColumns | None = None,
    progress: Progress | None = None,
    kept: KeptDraws | None = None,
    outside: OutsideInformation | None = None,
) -> Graded:
    """Grade the workers of N answers, and score models. Raises ValueError as `AQER.fit` does.

    `outside` is what remedies need, if any are asked for; they may raise `RemedyError`.
    """
    draws: Callable[[int, int], None] | None = None
    if progress is not None:
        tell = progress

        def draws(done: int, total: int) -> None:
            tell("intervals", done, total)

    columns = (vectors, labels_of(workers), labels_of(questions))
    plain = report = None
    if parameters.remedies:
        remedied = grade_with_remedies(
            parameters, *columns, outside or OutsideInformation(), initial_scores, draws, kept
        )
        aqer, plain, report = remedied.aqer, remedied.plain, remedied.report
    else:
        aqer = parameters.estimator().fit(*columns, initial_scores, draws, kept)
    if models is None:
        return Graded(aqer, None, plain, report)
    kinds = [kind_of(status) for status in models.statuses]
    scores = aqer.score_models(
        models.vectors, labels_of(models.models), labels_of(models.questions), kinds
    )
    return Graded(aqer, scores, plain, report)


def labels_of(values: Sequence[Hashable]) -> NDArray[np.generic]:
    """Return ids as an array."""
    # numpy's own text is fast, but has one width: a single long id would cost it in every row.
    long = any(isinstance(value, str) and len(value) > LONG_ID for value in values)
    return np.array(values, dtype=object if long else None)
