"""The numbers of each item: what goes into a group's means, and why some are undefined."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation.methods.multiqa.panel import Bools, Panel
from evaluation.methods.multiqa.votes import Votes
from evaluation.methods.undefined import ratio

Floats = NDArray[np.float64]

NO_VOTES = "no_votes"
ONE_VOTE = "fewer_than_2_votes"
ONE_POSSIBLE = "one_possible_answer"

OF_ITEMS = (
    *("accuracy", "worst_case", "best_case", "plurality", "plurality_fractional", "tie_rate"),
    *("item_difficulty", "certainty", "m2_certainty", "agreement", "free_marginal_kappa"),
)


@dataclass(frozen=True)
class ItemNumbers:
    """Numbers of n items by name (`OF_ITEMS`), each (n,) in 0..1 but for free_marginal_kappa.

    `values` hold NaN where a number is undefined; `reasons[name]` says which items that are, by
    the reason. `votes` and `n_given`, (n,) how many replies there are, is what they were made of.
    """

    values: Mapping[str, Floats]
    reasons: Mapping[str, Mapping[str, Bools]]
    votes: Votes
    n_given: NDArray[np.int64]

    def reason(self, name: str, item: int) -> str | None:
        """Return why the number of an item is undefined."""
        found = (why for why, items in self.reasons.get(name, {}).items() if items[item])
        return next(found, None)


def numbers_of(panel: Panel) -> ItemNumbers:
    """Return the numbers of every item of a panel.

    Refused and empty replies are wrong and have no vote. Without a vote the modal answer is wrong,
    and how far votes agree is undefined.

    Raises
    ------
    AssertionError : worst <= plurality, accuracy <= best does not hold.
    """
    votes = Votes.of(panel)
    right, given = panel.right, panel.given
    n_given = given.sum(axis=1)
    none, single = votes.n_votes == 0, votes.n_votes < 2
    one_possible = panel.possible < 2
    log_k = np.log(np.maximum(panel.possible, 2))
    certainty = 1.0 + votes.negative_entropy() / log_k
    k = np.maximum(panel.possible, 2).astype(np.float64)
    squares = votes.sum_of_squares().astype(np.float64)
    m2 = 1.0 - k / (k - 1.0) * (1.0 - ratio(squares, votes.n_votes.astype(np.float64) ** 2))
    pairs = votes.n_votes * (votes.n_votes - 1.0)
    agreement = ratio(squares - votes.n_votes, pairs)
    free_marginal = (agreement - 1.0 / k) / (1.0 - 1.0 / k)
    for numbers in (certainty, m2, free_marginal):
        numbers[one_possible] = np.nan
    values: dict[str, Floats] = {
        "accuracy": right[:, 0].astype(np.float64) if len(panel) else np.empty(0),
        "worst_case": np.asarray((right | ~given).all(axis=1), dtype=np.float64),
        "best_case": np.asarray(right.any(axis=1), dtype=np.float64),
        "plurality": votes.plurality(panel),
        "plurality_fractional": ratio(votes.right_modes, votes.n_modes, undefined=0.0),
        "tie_rate": np.where(none, np.nan, votes.n_modes > 1),
        "item_difficulty": ratio(right.sum(axis=1), n_given),
        # Rounding must not make an item a little less than certain, or less than undecided.
        "certainty": np.clip(certainty, 0.0, 1.0),
        "m2_certainty": np.clip(m2, 0.0, 1.0),
        "agreement": agreement,
        "free_marginal_kappa": free_marginal,
    }
    least = np.minimum(values["plurality"], values["accuracy"])
    most = np.maximum(values["plurality"], values["accuracy"])
    assert (values["worst_case"] <= least).all()
    assert (most <= values["best_case"]).all()
    of_votes = {NO_VOTES: none, ONE_POSSIBLE: one_possible & ~none}
    of_pairs = {NO_VOTES: none, ONE_VOTE: single & ~none}
    reasons = {
        "tie_rate": {NO_VOTES: none},
        "certainty": of_votes,
        "m2_certainty": of_votes,
        "agreement": of_pairs,
        "free_marginal_kappa": {**of_pairs, ONE_POSSIBLE: one_possible & ~single},
    }
    return ItemNumbers(values, reasons, votes, n_given.astype(np.int64))
