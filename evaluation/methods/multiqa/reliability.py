"""Numbers of all items together: Fleiss' kappa and Cronbach's alpha, the latter in two ways.

Each is a function of how often every profile of items counts, (draws, n), so that the items as they
are (`times`) and every bootstrap draw are computed alike.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from evaluation.methods.multiqa.items import ItemNumbers
from evaluation.methods.multiqa.panel import Bools, Ints, Panel
from evaluation.methods.undefined import ratio

Floats = NDArray[np.float64]

NO_ITEMS = "no_items"
ONE_ITEM = "fewer_than_2_items"
ONE_ANSWER = "one_answer_each"
ONE_CATEGORY = "one_category"
NO_SPREAD = "zero_variance"

# Numbers of a block of draws times categories: 64 MB.
AT_ONCE = 8_000_000
# What rounding leaves of a difference that is zero.
ROUNDING = 1e-12


class FleissKappa:
    """Fleiss' kappa (1971): (Pbar - Pe) / (1 - Pe), Pe from the answers of all items together.

    Items with fewer than 2 votes are left out; an item's votes may be fewer than another's. `n` is
    how many items count.
    """

    def __init__(self, panel: Panel, numbers: ItemNumbers, times: Ints) -> None:
        agreement = numbers.values["agreement"]
        counted = ~np.isnan(agreement)
        self.n = int(times[counted].sum())
        self._counted = counted.astype(np.float64)
        self._agreement = np.where(counted, agreement, 0.0)
        answers = np.where(counted[:, None], panel.answers, -1)
        items, columns = np.nonzero(answers >= 0)
        _, categories = np.unique(answers[items, columns], return_inverse=True)
        n_categories = int(categories.max(initial=-1)) + 1
        shape = (n_categories, len(panel))
        ones = np.ones(len(items))
        # Equal places are added up: how often an item gave an answer.
        self._of_category = sparse.csr_array((ones, (categories, items)), shape=shape)
        self._several = panel.answers.shape[1] > 1

    def __call__(self, weights: Floats) -> Floats:
        """Return (draws,); NaN where all votes are for one answer, and without two votes."""
        observed = ratio(weights @ self._agreement, weights @ self._counted)
        expected = np.empty(len(weights))
        step = max(1, AT_ONCE // max(1, self._of_category.shape[0]))
        for first in range(0, len(weights), step):
            block = weights[first : first + step]
            of_category = self._of_category @ block.T
            total = of_category.sum(axis=0)
            expected[first : first + step] = ratio((of_category**2).sum(axis=0), total**2)
        chance = 1.0 - expected
        chance[chance < ROUNDING] = 0.0
        return ratio(observed - expected, chance)

    def reason(self) -> str:
        """Return why it is undefined, where it is."""
        if not self.n:
            return NO_ITEMS if self._several else ONE_ANSWER
        return ONE_CATEGORY


class Alpha:
    """Cronbach's alpha of right and wrong: the wordings are its items, the questions its persons.

    R/(R-1) (1 - sum_i var_j(c_ji) / var_j(sum_i c_ji)). R is the commonest number of replies of a
    question (of several the greatest): questions with fewer are left out, of those with more the
    first R count. `n` is how many questions count.
    """

    def __init__(self, panel: Panel, times: Ints) -> None:
        self.answers, complete = _complete(panel, times)
        self.n = int(times[complete].sum())
        # Rows without a number weigh nothing.
        self._counted = complete.astype(np.float64)
        right = panel.right[:, : self.answers] & complete[:, None]
        self._right = right.astype(np.float64)

    def __call__(self, weights: Floats) -> Floats:
        """Return (draws,); NaN where the totals do not differ, and for one reply each."""
        r = self.answers
        if r < 2:
            return np.full(len(weights), np.nan)
        # Variances times the square of how many they are of: whole numbers, so that what is 0 is 0.
        count = weights @ self._counted
        totals = self._right.sum(axis=1)
        right = weights @ self._right
        of_wordings = (right * (count[:, None] - right)).sum(axis=1)
        of_totals = count * (weights @ totals**2) - (weights @ totals) ** 2
        return r / (r - 1.0) * (1.0 - ratio(of_wordings, of_totals))

    def reason(self) -> str:
        """Return why it is undefined, where it is."""
        if not self.n:
            return NO_ITEMS
        return ONE_ANSWER if self.answers < 2 else NO_SPREAD


class AlphaOfPaper:
    """The same as the paper words it: the questions are its items, the wordings its persons.

    n/(n-1) (1 - sum_j var_i(c_ji) / var_i(sum_j c_ji)), over the same questions as `Alpha`. It is
    about 0, or negative, for wordings that may be exchanged, however alike they are answered.
    """

    def __init__(self, panel: Panel, times: Ints) -> None:
        self.answers, complete = _complete(panel, times)
        self.n = int(times[complete].sum())
        self._counted = complete.astype(np.float64)
        self._right = (panel.right[:, : self.answers] & complete[:, None]).astype(np.float64)

    def __call__(self, weights: Floats) -> Floats:
        """Return (draws,); NaN where the wordings' sums do not differ, and for one question."""
        r = self.answers
        if r < 2 or self.n < 2:
            return np.full(len(weights), np.nan)
        count = weights @ self._counted
        right = self._right.sum(axis=1)
        of_questions = weights @ (right * (r - right))
        sums = weights @ self._right
        of_sums = r * (sums**2).sum(axis=1) - sums.sum(axis=1) ** 2
        return ratio(count, count - 1.0) * (1.0 - ratio(of_questions, of_sums))

    def reason(self) -> str:
        """Return why it is undefined, where it is."""
        if self.n < 2:
            return ONE_ITEM if self.n else NO_ITEMS
        return ONE_ANSWER if self.answers < 2 else NO_SPREAD


def _complete(panel: Panel, times: Ints) -> tuple[int, Bools]:
    """Return R, and which questions have so many replies in a row."""
    in_a_row = np.cumprod(panel.given, axis=1).sum(axis=1)
    if not len(in_a_row):
        return 0, np.zeros(0, dtype=np.bool_)
    questions = np.bincount(in_a_row, weights=times)
    commonest = int(np.flatnonzero(questions == questions.max())[-1])
    return commonest, np.asarray(in_a_row >= commonest)
