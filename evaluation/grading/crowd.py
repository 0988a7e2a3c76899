"""Records of a graded crowd: fitted estimator, models' answers, and inputs of remedies."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annotations.exchange import AnswerStatus
from evaluation.consensus import AQER, ModelScores
from evaluation.core.stats.grams import Vectors

# Characters; what people use as ids is shorter.
LONG_ID = 200


@dataclass(frozen=True)
class ModelColumns:
    """Answers of language models as columns: model, question, status and vector."""

    models: Sequence[Hashable]
    questions: Sequence[Hashable]
    statuses: Sequence[AnswerStatus]
    vectors: Vectors


def build_labels(values: Sequence[Hashable]) -> NDArray[np.generic]:
    """Return ids as a numpy array: fixed-width text, or objects if an id is long."""
    # numpy's own text is fast, but has one width: a single long id would cost it in every row.
    long = any(isinstance(value, str) and len(value) > LONG_ID for value in values)
    return np.array(values, dtype=object if long else None)


@dataclass(frozen=True)
class GradedCrowd:
    """The estimator fitted to a crowd, and the models' scores (None without models).

    `plain` is the estimator fitted without remedies and draws; None in a run without remedies.
    """

    aqer: AQER
    models: ModelScores | None
    plain: AQER | None = None


@dataclass(frozen=True)
class RemedyInputs:
    """Inputs of the remedies: excluded workers, answer times, experts' grades, original texts.

    Attributes
    ----------
    texts : (N,) answers as written.
    excluded : ids of workers who do not vote.
    collapsed : ids of workers whose groups of copies get one vote; () for all groups.
    times : (N,) time of each answer in seconds, NaN if unknown; () without any times.
    anchor_rows, anchor_grades : (A,) rows that an expert graded, and the grades.
    plain_vectors : (N, d) vectors of the texts as written, if the grading uses corrected spelling.
    spelling : report of the corrections, or None.
    """

    texts: Sequence[str] = ()
    excluded: Sequence[Hashable] = ()
    collapsed: Sequence[Hashable] = ()
    times: Sequence[float] = ()
    anchor_rows: Sequence[int] = ()
    anchor_grades: Sequence[float] = ()
    plain_vectors: Vectors | None = None
    spelling: dict[str, Any] | None = None


# Rows named for one reason; the others are only counted.
NAMED = 1000


class EmptyCellReasons:
    """Collector of the reasons for empty cells of the result tables, by table and column."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str, str], tuple[list[Any], list[int]]] = {}

    def convert_number(
        self, number: float, table: str, column: str, row: object, reason: str
    ) -> Any:
        """Return the number as a float; for NaN return None and add the reason it is empty."""
        if not math.isnan(number):
            return float(number)
        self.add_reason(table, column, row, reason)
        return None

    def add_reason(self, table: str, column: str, row: object, reason: str) -> None:
        """Add the reason why a cell is empty; `row` is the id of the cell's row."""
        rows, count = self._found.setdefault((table, column, reason), ([], [0]))
        count[0] += 1
        if len(rows) < NAMED:
            rows.append(row)

    def list_reasons(self) -> list[dict[str, Any]]:
        """Return one entry per table, column and reason, with the count and up to 1,000 row ids."""
        return [
            {"file": table, "column": column, "reason": reason, "count": count[0], "rows": rows}
            for (table, column, reason), (rows, count) in self._found.items()
        ]
