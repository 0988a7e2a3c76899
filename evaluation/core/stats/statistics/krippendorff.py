"""Krippendorff's alpha: agreement of any number of raters, also with missing ratings."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from evaluation.core.stats.cells import Floats

# What two ratings are apart: only different, by how many ratings stand between, or by how much.
Level = Literal["nominal", "ordinal", "interval"]


def count_ratings(ratings: ArrayLike) -> tuple[Floats, Floats]:
    """Return how many raters gave each item (row) each value (column), and the values.

    Parameters
    ----------
    ratings : (n, k) numbers of n things by k raters, NaN for a missing one. Labels are coded first
        (`cells.encode_labels`); of them only the nominal alpha means something.

    Returns
    -------
    counts : (n, v). values : (v,), rising.
    """
    given = np.asarray(ratings, dtype=np.float64)
    if given.ndim != 2:
        raise ValueError(f"ratings of shape {given.shape}: things in rows, raters in columns")
    values = np.unique(given[~np.isnan(given)])
    return (given[:, :, None] == values).sum(axis=1).astype(np.float64), values


def krippendorff_alpha(counts: ArrayLike, values: ArrayLike, level: Level) -> float | None:
    """Return Krippendorff's alpha: 1 for full agreement, 0 for agreement as by chance.

    Disagreement is observed within things, over all pairs of their ratings, and expected over all
    pairs of ratings (Krippendorff 2011, "Computing Krippendorff's alpha-reliability"). A thing with
    one rating pairs with nothing and is left out.

    Parameters
    ----------
    counts : (n, v) how many raters gave each thing each value. values : (v,) rising.
    level : "nominal" takes any two different values for as far apart, "ordinal" counts the ratings
        between them, "interval" squares their difference.

    Returns
    -------
    None where no disagreement is expected, because all ratings are the same, or where no thing has
    two.

    Raises
    ------
    ValueError : an unknown level, or shapes that do not fit.
    """
    given, scale = np.asarray(counts, dtype=np.float64), np.asarray(values, dtype=np.float64)
    if given.ndim != 2 or given.shape[1:] != scale.shape:
        raise ValueError(f"counts of shape {given.shape} for values of shape {scale.shape}")
    raters = given.sum(axis=1)
    paired, raters = given[raters >= 2], raters[raters >= 2]
    # How often each pair of values meets in a thing, each thing with the weight of its ratings.
    by_thing = paired / (raters[:, None] - 1)
    coincidences = by_thing.T @ paired - np.diag(by_thing.sum(axis=0))
    times = coincidences.sum(axis=0)
    apart = _compute_squared_distances(times, scale, level)
    expected = float(times @ apart @ times)
    if expected <= 0:
        return None
    return 1.0 - (float(times.sum()) - 1) * float((coincidences * apart).sum()) / expected


def _compute_squared_distances(times: Floats, scale: Floats, level: Level) -> Floats:
    """Return squared distances of all pairs of values, by the level of measurement."""
    if level == "nominal":
        return 1.0 - np.eye(len(scale))
    if level == "interval":
        return np.asarray((scale[:, None] - scale[None, :]) ** 2)
    if level != "ordinal":
        raise ValueError(f"level must be nominal, ordinal or interval, got {level!r}")
    # From the middle of the one's ratings to the middle of the other's.
    middle = np.cumsum(times) - times / 2
    return np.asarray((middle[:, None] - middle[None, :]) ** 2)
