"""Where each model stands in a view: its mean, and by how much it differs from the others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from evaluation.methods.cells import Floats
from evaluation.methods.inference.clustered import Estimate, means


@dataclass(frozen=True)
class Standing:
    """A model in a view.

    Attributes
    ----------
    mean : over the questions where it has a number. gain : its number less the mean of the other
        models' numbers, over the questions where it and another model have one; undefined for the
        only model. Both with 95% intervals over questions.
    place : 1 + the number of models with a better mean; None without a mean. n_models : with one.
    """

    mean: Estimate
    gain: Estimate
    place: int | None
    n_models: int


def standings(
    values: ArrayLike, *, higher_is_better: bool = True, n_draws: int = 400, seed: int = 0
) -> list[Standing]:
    """Return where each model stands, out of (M, Q) numbers with NaN for none."""
    own = np.asarray(values, dtype=np.float64)
    m = len(own)
    found = means(np.concatenate([own, own - _of_others(own)]), n_draws, seed)
    mean, gain = found[:m], found[m:]
    known = [one.value for one in mean if one.value is not None]

    def better(one: float, than: float) -> bool:
        return one > than if higher_is_better else one < than

    return [
        Standing(
            of_model,
            less_others,
            None
            if of_model.value is None
            else 1 + sum(better(other, of_model.value) for other in known),
            len(known),
        )
        for of_model, less_others in zip(mean, gain, strict=True)
    ]


def _of_others(own: Floats) -> Floats:
    """Return (M, Q) means of the other models' numbers, NaN where none has one."""
    known = ~np.isnan(own)
    filled = np.where(known, own, 0.0)
    total = filled.sum(axis=0) - filled
    count = known.sum(axis=0) - known
    return np.divide(total, count, out=np.full(own.shape, np.nan), where=count > 0)
