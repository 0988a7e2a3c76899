"""Question weights by discrimination: the item-rest correlation of each question.

q_j = max(0, correlation over its answerers of their score on it with their mean score on other
questions). Questions with fewer than 5 such answerers get the median of the others.
"""

from __future__ import annotations

import numpy as np

from evaluation.core.stats.cells import Booleans, Cells, Floats
from evaluation.core.stats.undefined import divide_where_positive

FEWEST_ANSWERERS = 5


def compute_item_rest_weights(scores: Floats, times: Floats, cells: Cells) -> Floats:
    """Return question weights: item-rest correlations cut at 0; row per question, column per draw.

    Parameters
    ----------
    scores : (N, D) cell scores.
    times : (N, D) how often a cell counts (0: not at all); equal within a question except for
        zeros.

    Notes
    -----
    A question on which all answerers score the same, or whose answerers all do equally well
    elsewhere, tells nothing: 0. A worker without another question takes no part. If no question
    has enough answerers, or all q are zero, every question counts equally (1).
    """
    s = np.where(times > 0, scores, 0.0)
    total = cells.sum_by_worker(times * s)[cells.worker]
    count = cells.sum_by_worker(times)[cells.worker]
    others = count - times
    part = (times > 0) & (others > 0)
    rest = np.divide(total - times * s, others, out=np.zeros_like(s), where=part)
    n = cells.sum_by_question(part.astype(float))
    x = _center_by_question(s, part, n, cells)
    y = _center_by_question(rest, part, n, cells)
    xy, xx, yy = (cells.sum_by_question(product) for product in (x * y, x * x, y * y))
    # A spread below rounding of the values themselves is no spread.
    floor_x = 1e-24 * cells.sum_by_question(np.where(part, s, 0.0) ** 2)
    floor_y = 1e-24 * cells.sum_by_question(np.where(part, rest, 0.0) ** 2)
    varied = (xx > floor_x) & (yy > floor_y)
    norm = np.sqrt(xx * yy)
    q = np.maximum(np.divide(xy, norm, out=np.zeros_like(xy), where=varied & (norm > 0)), 0.0)
    return _fill_with_median(q, n >= FEWEST_ANSWERERS, cells.sum_by_question(times) > 0)


def _center_by_question(values: Floats, part: Booleans, n: Floats, cells: Cells) -> Floats:
    """Return answer scores less their question's mean over the answers in `part`; 0 elsewhere."""
    inside = np.where(part, values, 0.0)
    mean = divide_where_positive(cells.sum_by_question(inside), n, 0.0)
    return np.where(part, values - cells.spread(mean), 0.0)


def _fill_with_median(q: Floats, enough: Booleans, present: Booleans) -> Floats:
    """Replace weights of questions with too few answers by the column's median.

    Ones if all are 0.
    """
    out = np.ones_like(q)
    for d in range(q.shape[1]):
        known = enough[:, d] & present[:, d]
        if not known.any():
            continue
        column = np.where(known, q[:, d], np.median(q[known, d]))
        if (column[present[:, d]] > 0).any():
            out[:, d] = column
    return out
