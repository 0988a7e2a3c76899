"""Bootstrap draws, and statistics of their rows; NaN where a draw leaves a statistic undefined."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]

# Cells of a block of draws: 32 MB.
BLOCK_CELLS = 4_000_000


def draw_multiplicities(
    count: int, n_draws: int, seed: int, kinds: NDArray[np.int64] | None = None
) -> Iterator[FloatArray]:
    """Yield blocks of draws, one row each: how often each cluster is drawn.

    Blocks of shape (draws, count), `n_draws` rows in all; each row sums to `count`. The same seed
    and count give the same draws.

    Parameters
    ----------
    kinds : (count,) numbers from 0 of clusters that are alike; then the columns are the kinds, and
        a kind is drawn whenever one of its clusters is.
    """
    rng = np.random.default_rng(seed)
    columns = count if kinds is None else int(kinds.max()) + 1
    step = max(1, BLOCK_CELLS // count)
    for start in range(0, n_draws, step):
        rows = min(step, n_draws - start)
        chosen = rng.integers(0, count, size=(rows, count))
        if kinds is not None:
            chosen = kinds[chosen]
        chosen += columns * np.arange(rows)[:, None]
        times = np.bincount(chosen.ravel(), minlength=rows * columns).reshape(rows, columns)
        yield times.astype(np.float64)


def shape_draws(draws: ArrayLike, rows: int | None = None) -> FloatArray:
    """Return draws as floats, one row per statistic, one column per draw; a vector is one row.

    Raises
    ------
    ValueError : another shape or number of rows, or an infinite draw.
    """
    drawn = np.atleast_2d(np.asarray(draws, dtype=np.float64))
    if drawn.ndim != 2 or (rows is not None and len(drawn) != rows):
        raise ValueError("draws must have shape (rows, n_draws), one row for every estimate")
    if np.isinf(drawn).any():
        raise ValueError("draws must be finite or NaN")
    return drawn


def compute_standard_deviations(drawn: FloatArray) -> FloatArray:
    """Return each row's standard deviation (ddof 1), NaN ignored; NaN below 2 draws."""
    if drawn.shape[1] == 0:
        return np.full(len(drawn), np.nan)
    known = ~np.isnan(drawn)
    count = known.sum(axis=1)
    filled = np.where(known, drawn, 0.0)
    mean = filled.sum(axis=1) / np.maximum(count, 1)
    centred = np.where(known, filled - mean[:, None], 0.0)
    sd = np.sqrt((centred**2).sum(axis=1) / np.maximum(count - 1, 1))
    # Equal draws have no spread, but their mean may be rounded and differ from them.
    first = np.take_along_axis(drawn, known.argmax(axis=1)[:, None], axis=1)
    constant = ((drawn == first) | ~known).all(axis=1)
    return np.where(count < 2, np.nan, np.where(constant, 0.0, sd))


def interpolate_rows(ordered: FloatArray, position: FloatArray) -> FloatArray:
    """Return each row's value at its fractional column, by numpy.quantile's linear rule."""
    below = np.floor(position).astype(np.int64)[:, None]
    above = np.ceil(position).astype(np.int64)[:, None]
    left = np.take_along_axis(ordered, below, axis=1)[:, 0]
    right = np.take_along_axis(ordered, above, axis=1)[:, 0]
    return np.asarray(left + (right - left) * (position - below[:, 0]), dtype=np.float64)
