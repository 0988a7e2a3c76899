"""Average the worker x question table of scores, in at most 40 x 40 cells."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evaluation.core.stats.cells import Floats, Integers
from evaluation.core.stats.undefined import divide_where_positive

# Rows and columns of the overview at most.
MOST = 40


@dataclass(frozen=True)
class Overview:
    """Mean scores of groups of workers (rows) on groups of questions (columns).

    Attributes
    ----------
    means : (R, C) mean score of the answers in a field; NaN where there is none.
    counts : (R, C) answers with a score in it.
    workers_to, questions_to : (R,), (C,) how many workers (best first) and questions (easiest
        first) there are up to the end of each group; the last ones are all of them.
    """

    means: Floats
    counts: Integers
    workers_to: Integers
    questions_to: Integers


def compute_overview(
    scores: Floats,
    worker: Integers,
    question: Integers,
    workers_in_order: Integers,
    questions_in_order: Integers,
    most: int = MOST,
) -> Overview:
    """Return the mean scores of at most `most` x `most` groups of workers and questions.

    Parameters
    ----------
    scores : (N,) NaN for an answer without one.
    worker, question : (N,) codes.
    workers_in_order, questions_in_order : (M,), (Q,) all codes, in the order they are shown.
    """
    row_of, rows_to = _split_into_groups(workers_in_order, most)
    column_of, columns_to = _split_into_groups(questions_in_order, most)
    known = ~np.isnan(scores)
    shape = (len(rows_to), len(columns_to))
    field = row_of[worker[known]] * shape[1] + column_of[question[known]]
    size = shape[0] * shape[1]
    counts = np.bincount(field, minlength=size)
    sums = np.bincount(field, weights=scores[known], minlength=size)
    means = divide_where_positive(sums, counts)
    return Overview(means.reshape(shape), counts.reshape(shape), rows_to, columns_to)


def compute_mean_by_code(scores: Floats, codes: Integers, n: int) -> Floats:
    """Return the mean of the known scores for each code (worker or question); NaN if none.

    Shape (n,).
    """
    known = ~np.isnan(scores)
    counts = np.bincount(codes[known], minlength=n)
    sums = np.bincount(codes[known], weights=scores[known], minlength=n)
    return divide_where_positive(sums, counts)


def _split_into_groups(in_order: Integers, most: int) -> tuple[Integers, Integers]:
    """Split ordered codes into at most `most` equal groups; return groups and their ends."""
    n = len(in_order)
    groups = min(n, most)
    # Whole numbers, so that group sizes differ by one at most.
    ends = (np.arange(1, groups + 1) * n) // groups
    rank = np.empty(n, dtype=np.int64)
    rank[in_order] = np.arange(n)
    return np.searchsorted(ends, rank, side="right").astype(np.int64), ends
