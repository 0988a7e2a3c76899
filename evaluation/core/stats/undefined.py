"""Handle undefined numbers: NaN in arrays, None in results."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from evaluation.core.stats.cells import Floats


def divide_where_positive(part: ArrayLike, whole: ArrayLike, undefined: float = np.nan) -> Floats:
    """Return ``part / whole`` elementwise; `undefined` where the whole is not above 0.

    Parameters
    ----------
    part, whole : numbers of shapes that fit together.
    """
    above, below = np.asarray(part), np.asarray(whole)
    out = np.full(np.broadcast_shapes(above.shape, below.shape), undefined, dtype=np.float64)
    return np.divide(above, below, out=out, where=below > 0)


def convert_nan_to_none(value: float) -> float | None:
    """Return a number as a float; None for NaN."""
    return None if np.isnan(value) else float(value)
