"""Metrics over a group of items with bootstrap intervals, and chance levels.

Fleiss' kappa and Cronbach's alpha (in two readings) take weights (draws, n): how often each profile
counts. `times`, the number of items of each profile, gives the estimate; bootstrap weights give the
draws. A guesser gives R answers to an item; each is one of k choices at random, one of them right.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import astuple, dataclass, fields, replace
from functools import lru_cache
from math import comb, log

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, stats

from evaluation.core.stats.cells import divide_where_positive
from evaluation.core.stats.inference.clustered import compute_drawn_intervals
from evaluation.core.stats.inference.estimate import SampleEstimate
from evaluation.multiqa.methods.panel import (
    NO_VOTE,
    NO_VOTES,
    Bools,
    Ints,
    ItemMetrics,
    Panel,
    compute_item_metrics,
)


@dataclass(frozen=True)
class ChanceLevels:
    """Expected metrics of an item if its answers are guessed, by name of the metric.

    The paper multiplies the worst case by a binomial coefficient in error: all R guesses are right
    with probability k^-R. certainty and tie_rate are exact expectations over the multinomial
    distribution of the votes. kappa and alpha of guesses are 0.
    """

    accuracy: float
    worst_case: float
    best_case: float
    plurality: float
    plurality_fractional: float
    tie_rate: float
    item_difficulty: float
    certainty: float
    m2_certainty: float
    fleiss_kappa: float = 0.0
    free_marginal_kappa: float = 0.0
    alpha: float = 0.0
    alpha_paper: float = 0.0


@lru_cache(maxsize=4096)
def compute_chance_levels(choices: int, answers: int) -> ChanceLevels:
    """Return the metrics expected from guessing among `choices` in `answers` wordings.

    With k = 4 and R = 6: best_case .822, m2_certainty 1/6, certainty .2204.

    Raises
    ------
    ValueError : fewer choices or answers.
    """
    k, r = choices, answers
    if k < 2 or r < 1:
        raise ValueError("guessing needs 2 choices and 1 answer")
    return ChanceLevels(
        accuracy=1 / k,
        worst_case=float(k) ** -r,
        best_case=1 - (1 - 1 / k) ** r,
        plurality=1 / k,
        plurality_fractional=1 / k,
        tie_rate=1.0 - _compute_single_mode_probability(k, r),
        item_difficulty=1 / k,
        certainty=_compute_expected_certainty(k, r),
        m2_certainty=1 / r,
    )


def _compute_expected_certainty(k: int, r: int) -> float:
    """Return the expected certainty of `r` random votes on `k` choices.

    Each of the k shares is binomial, so the expected sum is k times that of one share.
    """
    votes = np.arange(1, r + 1)
    share = votes / r
    probability = stats.binom.pmf(votes, r, 1 / k)
    return float(1 + k * (probability * share * np.log(share)).sum() / log(k))


def _compute_single_mode_probability(k: int, r: int) -> float:
    """Return the probability that `r` random votes on `k` choices have one winner.

    By symmetry it is k times the probability that the first choice is the single mode: it has m
    votes, and each of the other k - 1 choices has fewer than m. The vote sequences are counted by
    adding one choice after the other.
    """
    ways = 0
    for m in range(1, r + 1):
        # others[v]: number of sequences of v votes on the choices added so far.
        others = [1] + [0] * (r - m)
        for _ in range(k - 1):
            others = [
                sum(comb(left, f) * others[left - f] for f in range(min(m, left + 1)))
                for left in range(r - m + 1)
            ]
        ways += comb(r, m) * others[r - m]
    return k * ways / k**r


Floats = NDArray[np.float64]

NO_ITEMS = "no_items"
ONE_ITEM = "fewer_than_2_items"
ONE_ANSWER = "one_answer_each"
ONE_CATEGORY = "one_category"
NO_SPREAD = "zero_variance"

# Cells (draws times categories) that are computed in one block: 64 MB.
BLOCK_CELLS = 8_000_000
# Differences below this are rounding errors of zero.
ROUNDING = 1e-12


class FleissKappa:
    """Fleiss' kappa (1971) of the answers to the wordings, for weighted items.

    Items may differ in their numbers of votes; items with fewer than 2 votes are left out. `n` is
    the number of items that count.
    """

    def __init__(self, panel: Panel, metrics: ItemMetrics, times: Ints) -> None:
        agreement = metrics.values["agreement"]
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
        # csr_array adds up equal coordinates, which gives the votes of each category and item.
        self._category_votes = sparse.csr_array((ones, (categories, items)), shape=shape)
        # Distinguishes the two reasons for no item: one wording only, or no votes.
        self._several = panel.answers.shape[1] > 1

    def __call__(self, weights: Floats) -> Floats:
        """Return kappa for each draw of item weights; NaN if undefined."""
        observed = divide_where_positive(weights @ self._agreement, weights @ self._counted)
        expected = np.empty(len(weights))
        step = max(1, BLOCK_CELLS // max(1, self._category_votes.shape[0]))
        for first in range(0, len(weights), step):
            block = weights[first : first + step]
            category_votes = self._category_votes @ block.T
            total = category_votes.sum(axis=0)
            expected[first : first + step] = divide_where_positive(
                (category_votes**2).sum(axis=0), total**2
            )
        # With a single category 1 - Pe is 0 except for rounding, and kappa is undefined.
        chance = 1.0 - expected
        chance[chance < ROUNDING] = 0.0
        return divide_where_positive(observed - expected, chance)

    def explain_undefined(self) -> str:
        """Return the reason code why kappa is undefined."""
        if not self.n:
            return NO_ITEMS if self._several else ONE_ANSWER
        return ONE_CATEGORY


class CronbachAlpha:
    """Cronbach's alpha of right and wrong replies, with wordings as items, questions as persons.

    R/(R-1) (1 - sum_i var_j(c_ji) / var_j(sum_i c_ji)). R is the most frequent number of replies
    to a question (of ties the greatest). Questions with fewer replies are left out; of questions
    with more replies the first R count. `n` is the number of questions that count.
    """

    def __init__(self, panel: Panel, times: Ints) -> None:
        self.answers, complete = _select_complete_questions(panel, times)
        self.n = int(times[complete].sum())
        # Questions that are left out get weight 0.
        self._counted = complete.astype(np.float64)
        right = panel.right[:, : self.answers] & complete[:, None]
        self._right = right.astype(np.float64)

    def __call__(self, weights: Floats) -> Floats:
        """Return alpha for each draw of item weights; NaN if undefined."""
        r = self.answers
        if r < 2:
            return np.full(len(weights), np.nan)
        # Variances times the squared count are whole numbers, so a variance of 0 is exactly 0.
        count = weights @ self._counted
        totals = self._right.sum(axis=1)
        right = weights @ self._right
        wording_variance = (right * (count[:, None] - right)).sum(axis=1)
        total_variance = count * (weights @ totals**2) - (weights @ totals) ** 2
        return r / (r - 1.0) * (1.0 - divide_where_positive(wording_variance, total_variance))

    def explain_undefined(self) -> str:
        """Return the reason code why alpha is undefined."""
        if not self.n:
            return NO_ITEMS
        return ONE_ANSWER if self.answers < 2 else NO_SPREAD


class PaperAlpha:
    """Cronbach's alpha as in the paper, with questions as items and wordings as persons.

    n/(n-1) (1 - sum_j var_i(c_ji) / var_i(sum_j c_ji)), over the same questions as
    `CronbachAlpha`. For exchangeable wordings it is about 0 or negative, even if all replies agree.
    """

    def __init__(self, panel: Panel, times: Ints) -> None:
        self.answers, complete = _select_complete_questions(panel, times)
        self.n = int(times[complete].sum())
        self._counted = complete.astype(np.float64)
        self._right = (panel.right[:, : self.answers] & complete[:, None]).astype(np.float64)

    def __call__(self, weights: Floats) -> Floats:
        """Return the paper's alpha for each draw of question weights; NaN if undefined."""
        r = self.answers
        if r < 2 or self.n < 2:
            return np.full(len(weights), np.nan)
        count = weights @ self._counted
        right = self._right.sum(axis=1)
        question_variance = weights @ (right * (r - right))
        sums = weights @ self._right
        sum_variance = r * (sums**2).sum(axis=1) - sums.sum(axis=1) ** 2
        return divide_where_positive(count, count - 1.0) * (
            1.0 - divide_where_positive(question_variance, sum_variance)
        )

    def explain_undefined(self) -> str:
        """Return the reason code why the paper's alpha is undefined."""
        if self.n < 2:
            return ONE_ITEM if self.n else NO_ITEMS
        return ONE_ANSWER if self.answers < 2 else NO_SPREAD


def _select_complete_questions(panel: Panel, times: Ints) -> tuple[int, Bools]:
    """Return the most frequent number of replies, and which questions have at least as many.

    Only replies before the first missing one count, since alpha needs the same R wordings.
    """
    consecutive = np.cumprod(panel.has_reply, axis=1).sum(axis=1)
    if not len(consecutive):
        return 0, np.zeros(0, dtype=np.bool_)
    questions = np.bincount(consecutive, weights=times)
    # Of ties the greatest number of replies uses the most data.
    most_frequent = int(np.flatnonzero(questions == questions.max())[-1])
    return most_frequent, np.asarray(consecutive >= most_frequent)


NO_CHOICES = "no_choices"
FEWER_ANSWERS = "fewer_answers"

# All metrics in the order of the tables.
METRIC_NAMES = (
    *("alpha", "accuracy", "worst_case", "best_case", "plurality", "plurality_fractional"),
    *("tie_rate", "item_difficulty", "certainty", "m2_certainty", "fleiss_kappa"),
    *("free_marginal_kappa", "alpha_paper"),
)
# Metrics that are means over items; the others are coefficients of a whole group.
MEAN_METRICS = (
    *("accuracy", "worst_case", "best_case", "plurality", "plurality_fractional", "tie_rate"),
    *("item_difficulty", "certainty", "m2_certainty", "free_marginal_kappa"),
)


@dataclass(frozen=True)
class Robustness:
    """Metrics of one system's replies to a group of items, with intervals and chance levels.

    Attributes
    ----------
    estimates : each metric of `METRIC_NAMES` with its interval.
    chance : chance levels by the same names, averaged over the items with 2 or more choices;
        without intervals.
    left_out : for each metric, the number of items left out of it, by reason.
    profile_metrics : metrics of each profile of items.
    profiles : (n,) each item's profile.
    """

    estimates: Mapping[str, SampleEstimate]
    chance: Mapping[str, SampleEstimate]
    left_out: Mapping[str, Mapping[str, int]]
    profile_metrics: ItemMetrics
    profiles: Ints


def compute_robustness(
    panel: Panel, n_draws: int = 400, seed: int = 0, level: float = 0.95
) -> Robustness:
    """Return every metric of a panel of replies, with bootstrap interval and chance level.

    Parameters
    ----------
    n_draws : bootstrap draws of items; 0 for no intervals.
    seed : of the draws.
    level : coverage of the intervals.
    """
    profile_panel, profiles = panel.find_profiles()
    times = np.bincount(profiles, minlength=len(profile_panel)).astype(np.int64)
    metrics = compute_item_metrics(profile_panel)
    rows = np.array([metrics.values[name] for name in MEAN_METRICS])
    known = ~np.isnan(rows)
    filled = np.where(known, rows, 0.0)
    # Most rows are known for all items and share one denominator; only the others need their own.
    partly = ~known.all(axis=1)
    partly_known = known[partly].astype(np.float64)
    coefficients: dict[str, FleissKappa | CronbachAlpha | PaperAlpha] = {
        "fleiss_kappa": FleissKappa(profile_panel, metrics, times),
        "alpha": CronbachAlpha(profile_panel, times),
        "alpha_paper": PaperAlpha(profile_panel, times),
    }

    def compute_estimates(weights: Floats) -> Floats:
        """Return the metrics for bootstrap weights, one row per metric, one column per draw."""
        sums = filled @ weights.T
        counts = np.broadcast_to(weights.sum(axis=1), sums.shape).copy()
        counts[partly] = partly_known @ weights.T
        return np.vstack(
            [
                divide_where_positive(sums, counts),
                *(coefficient(weights) for coefficient in coefficients.values()),
            ]
        )

    names = (*MEAN_METRICS, *coefficients)
    n = [*(known @ times).tolist(), *(coefficient.n for coefficient in coefficients.values())]
    if len(panel):
        values = compute_estimates(times[None].astype(np.float64))[:, 0]
    else:
        values = np.full(len(names), np.nan)
    drawn = compute_drawn_intervals(
        values, n, compute_estimates, len(panel), n_draws, seed, level, kinds=profiles
    )
    estimates = dict(zip(names, drawn, strict=True))
    left_out = {
        name: _count_left_out_items(metrics, name, times)
        for name in MEAN_METRICS
        if name in metrics.reasons
    }
    left_out["fleiss_kappa"] = _count_left_out_items(metrics, "agreement", times)
    for name in ("alpha", "alpha_paper"):
        # Alpha needs the same number of wordings for all questions: `_select_complete_questions`.
        missing = len(panel) - coefficients[name].n
        left_out[name] = {FEWER_ANSWERS: missing} if missing else {}
    for name, estimate in estimates.items():
        if estimate.value is None:
            why = (
                coefficients[name].explain_undefined()
                if name in coefficients
                else _find_commonest_reason(left_out, name)
            )
            estimates[name] = replace(estimate, reason=why)
    return Robustness(
        {name: estimates[name] for name in METRIC_NAMES},
        _average_chance(profile_panel, times),
        {name: reasons for name, reasons in left_out.items() if reasons},
        metrics,
        profiles,
    )


def _count_left_out_items(metrics: ItemMetrics, name: str, times: Ints) -> dict[str, int]:
    """Return the number of items whose metric `name` is undefined, by reason."""
    counts = {why: int(times[items].sum()) for why, items in metrics.reasons[name].items()}
    return {why: count for why, count in counts.items() if count}


def _find_commonest_reason(left_out: Mapping[str, Mapping[str, int]], name: str) -> str:
    """Return the most frequent reason why the metric `name` is undefined."""
    reasons = Counter(left_out.get(name, {})).most_common(1)
    return reasons[0][0] if reasons else NO_ITEMS


def _average_chance(panel: Panel, times: Ints) -> dict[str, SampleEstimate]:
    """Return each metric's mean chance level over the items with 2 or more choices.

    A guesser gives as many answers to an item as there are replies with a vote. Refused and empty
    replies have none; an item without any vote is left out.
    """
    votes = (panel.answers != NO_VOTE).sum(axis=1)
    can_guess = (panel.n_guesses > 1) & (votes > 0)
    n = int(times[can_guess].sum())
    if not n:
        is_silent = bool((panel.n_guesses > 1).any())
        why = NO_VOTES if is_silent else NO_CHOICES if len(panel) else NO_ITEMS
        return {name: SampleEstimate(None, None, None, 0, why) for name in METRIC_NAMES}
    # A few pairs of choices and votes occur very often, so each level is computed once.
    pairs, pair_numbers = np.unique(
        np.stack([panel.n_guesses[can_guess], votes[can_guess]]), axis=1, return_inverse=True
    )
    levels = np.array([astuple(compute_chance_levels(int(k), int(r))) for k, r in pairs.T])
    mean = np.bincount(pair_numbers.ravel(), weights=times[can_guess]) @ levels / n
    by_name = dict(zip((field.name for field in fields(ChanceLevels)), mean.tolist(), strict=True))
    return {name: SampleEstimate(by_name[name], None, None, n) for name in METRIC_NAMES}
