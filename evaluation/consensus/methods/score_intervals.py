"""Intervals of mean scores, from bootstrap draws or in closed form, and their map to grades."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evaluation.consensus.methods.fixed_point import FixedPoint, Vote, WorkerMeans, scale_to_grades
from evaluation.core.stats.cells import Floats
from evaluation.core.stats.inference.intervals import (
    compute_bootstrap_t_interval,
    compute_widened_percentile_interval,
)
from evaluation.core.stats.undefined import divide_where_positive

# A weighted mean of cosines may be this much above 1.
ROUNDING = 1e-9


def compute_score_intervals(
    estimate: Floats, drawn: Floats, n: NDArray[np.integer], *, leave_one_out: bool, cosine: bool
) -> tuple[Floats, Floats, list[str | None]]:
    """Return the ends of the 95% interval of each mean score, and the reason of each NaN.

    Parameters
    ----------
    estimate : (k,) scores of the run; NaN for none.
    drawn : (k, n_draws) the same in the draws.
    n : (k,) questions behind each.

    Notes
    -----
    With leave-one-out, bootstrap standard error and Student's t, on the arctanh scale for
    cosines; a score that an adjustment for difficulty brought outside -1..1 stays on its own
    scale. Without leave-one-out, the widened percentile interval: a worker's share in its own
    exemplary answers biases the draws, which a standard error around the estimate would miss.
    """
    undefined = np.isnan(estimate)
    drawn = np.where(undefined[:, None], np.nan, drawn)
    if not leave_one_out:
        found = compute_widened_percentile_interval(drawn, n)
        return found.low, found.high, list(found.reasons)
    with np.errstate(invalid="ignore"):
        outside = (np.abs(np.column_stack([estimate, drawn])) > 1.0 + ROUNDING).any(axis=1)
    bent = np.full(len(estimate), cosine) & ~outside
    low, high = np.full(len(estimate), np.nan), np.full(len(estimate), np.nan)
    reasons: list[str | None] = [None] * len(estimate)
    for rows, scale in ((np.flatnonzero(bent), "arctanh"), (np.flatnonzero(~bent), "identity")):
        found = compute_bootstrap_t_interval(estimate[rows], drawn[rows], n[rows], scale=scale)  # type: ignore[arg-type]
        low[rows], high[rows] = found.low, found.high
        for row, reason in zip(rows, found.reasons, strict=True):
            reasons[row] = reason
    return low, high, reasons


def compute_closed_form_errors(vote: Vote, means: WorkerMeans, rest: FixedPoint) -> Floats:
    """Return each worker's standard error, sd / sqrt(n), of the leave-one-out raw score.

    They are those of the weighted means behind raw, sd / sqrt(n) where no switch weights the
    questions; NaN for a worker with fewer than 2 scores.
    """
    cells = vote.cells
    raw = rest.raw[:, 0]
    scores = vote.similarity(rest.previous, leave_one_out=True)
    s, weight = (part[:, 0] for part in means.compute_adjusted_scores(scores))
    n = cells.sum_by_worker((weight > 0).astype(float))
    squares = cells.sum_by_worker(weight**2 * np.nan_to_num(s - raw[cells.worker]) ** 2)
    total = cells.sum_by_worker(weight)
    safe = divide_where_positive(n, n - 1)
    return np.asarray(np.sqrt(squares * safe) / np.where(total > 0, total, np.nan))


def map_to_grades(values: Floats, raw: Floats) -> Floats:
    """Map values from the scale of raw scores to grades 0..1 by the run's minimum and maximum.

    By the minimum and maximum of the run's own raw scores (M,); all NaN where these have no spread.
    """
    known = raw[~np.isnan(raw)]
    spread = known.max() - known.min() if len(known) else 0.0
    flat = not len(known) or bool((scale_to_grades(known[:, None]) == 1.0).all())
    if flat:
        return np.full(len(values), np.nan)
    return np.asarray(np.clip((values - known.min()) / spread, 0.0, 1.0))
