"""Electorate: which workers vote, the weight cap, and whose scores set the scale of grades.

Everybody alike in the published method. The remedies of `evaluation.grading.remedies.methods`
change it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from evaluation.core.stats.cells import Booleans, Floats

# A weight above the cap by less than this share of it is at the cap.
ROUNDING = 1e-12


class RemedyError(ValueError):
    """An option against copiers or outliers cannot be applied to these workers.

    Attributes
    ----------
    code, values : why, for `evaluation.grading.remedies.messages`.
    """

    def __init__(self, code: str, **values: float) -> None:
        self.code, self.values = code, values
        told = ", ".join(f"{name} {value:g}" for name, value in values.items())
        super().__init__(f"{code}: {told}" if told else code)


@dataclass(frozen=True)
class Electorate:
    """Deviations from equal voting rights, one value per worker; None for no deviation.

    Attributes
    ----------
    factor : (M,) multiplies the grade in the vote, 0 for no vote.
    on_scale : (M,) whose raw scores are the minimum and the maximum; grades of the others are
        clipped to 0..1.
    left_out : (M,) who is compared with the exemplary answer of the others in any case.
    start : (M,) first weights; None for those of the initialisation.
    cap : no voting weight above it.
    """

    factor: Floats | None = None
    on_scale: Booleans | None = None
    left_out: Booleans | None = None
    start: Floats | None = None
    cap: float | None = None

    def with_cap(self, cap: float, n_workers: int) -> Electorate:
        """Return a copy with a cap. Raises RemedyError where capped weights could not sum to 1."""
        voters = n_workers if self.factor is None else int(np.count_nonzero(self.factor))
        if cap * voters < 1.0 - ROUNDING:
            lowest = float(np.ceil(1e4 / voters) / 1e4)
            raise RemedyError("cap_too_low", cap=cap, voters=voters, lowest=lowest)
        return replace(self, cap=cap)

    def find_scaling_workers(self, copies: Floats | None) -> Booleans | None:
        """Return flags (workers x draws) of raw scores that set the min-max scale.

        None for all workers.
        """
        present = None if copies is None else copies > 0
        if self.on_scale is None:
            return present
        scale = self.on_scale[:, None]
        return scale if present is None else present & scale

    def weights(self, grades: Floats, copies: Floats | None) -> Floats:
        """Return voting weights from grades, both workers x draws; they sum to 1 over all copies.

        Parameters
        ----------
        grades : (M, D), NaN for no vote. copies : (M, D) how often each worker votes.

        Notes
        -----
        Where nobody who may vote has a grade above 0, they count by their factors.
        """
        known = ~np.isnan(grades)
        share = np.where(known, grades, 0.0)
        times = 1.0 if copies is None else copies
        if self.factor is not None:
            allowed = np.where(known, self.factor[:, None], 0.0)
            share = share * self.factor[:, None]
            share = np.where((share * times).sum(axis=0) > 0, share, allowed)
        total = (share * times).sum(axis=0)
        weights = share / np.where(total > 0, total, 1.0)
        if self.cap is None:
            return weights
        able = known if self.factor is None else known & (self.factor > 0)[:, None]
        return cap_weights(weights, self.cap, able, copies)


EVERYBODY = Electorate()


def cap_weights(
    weights: Floats, cap: float, able: Booleans | None = None, copies: Floats | None = None
) -> Floats:
    """Cut weights (workers x draws) at `cap`; the other workers share the excess in proportion.

    Repeated until nobody is above: the result is min(cap, c w) with the c that makes the sum 1.
    Where all positive weights are at the cap, those of weight 0 share the rest alike.

    Parameters
    ----------
    weights : (M, D), not negative, summing to 1 over the copies.
    able : (M, D) who may get a share of the rest; None for everybody.
    copies : (M, D) how often each worker votes; None for once.

    Notes
    -----
    The sum stays below 1 where the cap times the number of voters is, as in a crowd of which most
    have no raw score.
    """
    times = np.ones_like(weights) if copies is None else copies
    able = np.ones(weights.shape, dtype=bool) if able is None else able
    out, full = weights, np.zeros(weights.shape, dtype=bool)
    while (over := out > cap * (1 + ROUNDING)).any():
        full |= over
        rest = np.maximum(1.0 - cap * (times * full).sum(axis=0), 0.0)
        share = np.where(full, 0.0, weights)
        share = np.where((times * share).sum(axis=0) > 0, share, 1.0 * (able & ~full))
        total = (times * share).sum(axis=0)
        out = np.where(full, cap, share * (rest / np.where(total > 0, total, 1.0)))
    return out
