"""The vote on facts, with its arithmetic."""

import numpy as np
import pytest
from scipy import stats

from evaluation.core.stats.statistics.descriptive import wilson_interval
from evaluation.grading.facts.methods import (
    Mentions,
    ValueState,
    Verdict,
    compute_agreement,
    compute_consensus,
    judge_answer,
)


def crowd(values, weights=None, bounds=None):
    low = np.array(values, dtype=float)
    bound = np.zeros(len(low), dtype=int) if bounds is None else np.array(bounds)
    weights = np.ones(len(low)) if weights is None else np.array(weights, dtype=float)
    return compute_consensus(Mentions(np.arange(len(low)), low, low, bound), weights)


def verdicts(found, *values, bound=0, **options):
    low = np.array(values, dtype=float)
    judged = judge_answer(found, low, low, np.full(len(low), bound), **options)
    return [one.verdict for one in judged]


@pytest.mark.medium
def test_wilsons_interval_is_that_of_scipy_to_the_last_digit():
    for n in range(1, 40):
        for k in range(n + 1):
            expected = stats.binomtest(k, n).proportion_ci(method="wilson")
            assert tuple(map(float, wilson_interval(k / n, n))) == (expected.low, expected.high)


def test_three_of_three_agree_and_four_of_five_do_not():
    # Wilson lower bounds: 3 of 3 .438, 4 of 5 .376, 5 of 6 .436.
    assert crowd([7, 7, 7]).states == (ValueState.AGREED,)
    assert crowd([7, 7, 7, 7, 8]).states == (ValueState.CONTESTED, ValueState.OPEN)
    assert crowd([7, 7, 7, 7, 7, 8]).states[0] == ValueState.AGREED


def test_under_three_mentions_are_too_few():
    assert crowd([7, 7]).states == (ValueState.TOO_FEW,)


def test_a_value_is_contested_from_two_and_a_quarter_on():
    # 2 of 8 are a quarter, 2 of 9 are less.
    assert crowd([7] * 6 + [8] * 2).states[1] == ValueState.CONTESTED
    assert crowd([7] * 7 + [8] * 2).states[1] == ValueState.OPEN


def test_weights_can_take_an_agreement_away_but_not_make_one():
    # Five of six heads, but 5 of 15 weights: the smaller share counts.
    assert crowd([7] * 5 + [8], weights=[1] * 5 + [10]).states[0] != ValueState.AGREED
    assert crowd([7] + [8] * 5, weights=[10] + [1] * 5).states[0] != ValueState.AGREED


def test_nobody_is_judged_by_the_own_vote():
    # Of 3 + 1 voters each of the three meets 2 of 3 others who agree: below 3 in support.
    found = crowd([7, 7, 7, 8])
    assert verdicts(found, 7, weight=1) == [Verdict.OPEN]
    # The fourth meets 3 of 3.
    assert verdicts(found, 8, weight=1) == [Verdict.CONTRADICTS]


def test_a_model_is_judged_by_all_workers():
    assert verdicts(crowd([7, 7, 7]), 7, is_voter=False) == [Verdict.AGREES]
    assert verdicts(crowd([7, 7, 7]), 8, is_voter=False) == [Verdict.CONTRADICTS]
    assert verdicts(crowd([7, 7, 7]), is_voter=False) == [Verdict.MISSING]
    assert verdicts(crowd([7, 7, 7]), 7, 8, is_voter=False) == [Verdict.AGREES, Verdict.EXTRA]
    assert verdicts(crowd([7, 7]), 7, is_voter=False) == [Verdict.TOO_FEW]
    assert verdicts(crowd([7, 8, 9]), 7, is_voter=False) == [Verdict.OPEN]


def test_what_a_quarter_of_the_others_say_is_contested_and_no_contradiction():
    found = crowd([7] * 12 + [8] * 4)
    # Wilson lower bound of 12 of 16 is .505; 4 of 16 are a quarter.
    assert verdicts(found, 8, is_voter=False) == [Verdict.CONTESTED]


def test_one_agreed_value_pairs_with_one_other_value_only():
    found = crowd([7] * 6)
    assert verdicts(found, 8, 9, is_voter=False) == [Verdict.CONTRADICTS, Verdict.EXTRA]


@pytest.mark.parametrize(
    ("value", "bound", "verdict"),
    [(5, 1, Verdict.AGREES), (9, 1, Verdict.CONTRADICTS), (9, -1, Verdict.AGREES)],
)
def test_a_bound_agrees_with_every_value_on_its_side(value, bound, verdict):
    assert verdicts(crowd([7] * 6), value, bound=bound, is_voter=False) == [verdict]


def test_two_bounds_of_one_side_are_compared_by_their_numbers():
    found = crowd([12] * 5, bounds=[1] * 5)
    assert verdicts(found, 6, bound=1, is_voter=False) == [Verdict.CONTRADICTS]
    assert verdicts(found, 14, is_voter=False) == [Verdict.AGREES]


def test_of_names_one_that_is_agreed_is_enough():
    found = crowd([1] * 5)
    options = {"is_voter": False, "one_is_enough": True}
    assert verdicts(found, 2, **options) == [Verdict.CONTRADICTS]
    assert verdicts(found, 1, 2, **options) == [Verdict.AGREES, Verdict.EXTRA]
    assert verdicts(found, 2, may_contradict=False, **options) == [Verdict.EXTRA, Verdict.MISSING]


def test_intervals_that_overlap_back_each_other():
    low, high = (
        np.array([1850.0, 1857, 1857, 1857, 1900]),
        np.array([1859.0, 1857, 1857, 1857, 1900]),
    )
    found = compute_consensus(Mentions(np.arange(5), low, high, np.zeros(5, dtype=int)), np.ones(5))
    assert found.backed.tolist() == [4, 1]
    assert (found.low[0], found.high[0]) == (1857, 1857)


def test_agreement_is_empty_below_five_facts():
    assert compute_agreement(4, 0).agreement is None
    found = compute_agreement(4, 1)
    expected = stats.binomtest(4, 5).proportion_ci(method="wilson")
    assert (found.agreement, found.low, found.high) == (0.8, expected.low, expected.high)
