"""What the intervals of workers need besides the draws: a closed form, and grades of raw bounds."""

from __future__ import annotations

import numpy as np

from evaluation.methods.aqer.fixed_point import Rest, Vote, WorkerMeans, grades_of
from evaluation.methods.cells import Floats


def closed_form_errors(vote: Vote, means: WorkerMeans, rest: Rest) -> Floats:
    """Return (M,) standard errors of leave-one-out raw scores, without draws.

    They are those of the weighted means behind raw, sd / sqrt(n) where no switch weights the
    questions; NaN for a worker with fewer than 2 scores.
    """
    cells = vote.cells
    raw = rest.raw[:, 0]
    scores = vote.similarity(rest.previous, leave_one_out=True)
    s, weight = (part[:, 0] for part in means.adjusted(scores))
    n = cells.sum_by_worker((weight > 0).astype(float))
    squares = cells.sum_by_worker(weight**2 * np.nan_to_num(s - raw[cells.worker]) ** 2)
    total = cells.sum_by_worker(weight)
    safe = np.divide(n, n - 1, out=np.full_like(n, np.nan), where=n > 1)
    return np.asarray(np.sqrt(squares * safe) / np.where(total > 0, total, np.nan))


def as_grades(values: Floats, raw: Floats) -> Floats:
    """Map values (M,) on the scale of raw scores to grades, clipped to 0..1.

    By the minimum and maximum of the run's own raw scores (M,); all NaN where these have no spread.
    """
    known = raw[~np.isnan(raw)]
    spread = known.max() - known.min() if len(known) else 0.0
    flat = not len(known) or bool((grades_of(known[:, None]) == 1.0).all())
    if flat:
        return np.full(len(values), np.nan)
    return np.asarray(np.clip((values - known.min()) / spread, 0.0, 1.0))
