from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from evaluation.core.stats.inference.correlations import (
    _compute_mean_correlations,
    _draw_workers,
    compare_correlations,
    compute_bca_interval,
    compute_bca_p_value,
    compute_mean_correlation,
)


def crowd(noise, seed=0, workers=20, repetitions=1):
    """Truth and scores of methods that are the truth and noise."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=(repetitions, workers))
    scores = [truth + level * rng.normal(size=truth.shape) for level in noise]
    return truth, np.array(scores)


def test_the_difference_is_the_mean_over_repetitions_of_two_correlations():
    truth, (a, b) = crowd([0.4, 0.8], repetitions=3)
    (found,) = compare_correlations([a], b, truth, n_draws=99)
    by_hand = [
        np.corrcoef(a[r], truth[r])[0, 1] - np.corrcoef(b[r], truth[r])[0, 1] for r in range(3)
    ]
    assert found.difference == pytest.approx(np.mean(by_hand))


def test_draws_count_a_worker_as_often_as_it_was_drawn():
    truth, (a,) = crowd([0.5], workers=6)
    times = np.array([[2, 0, 1, 1, 1, 1]])
    drawn = np.repeat(np.arange(6), times[0])
    expected = np.corrcoef(a[0][drawn], truth[0][drawn])[0, 1]
    everybody = np.ones_like(a, dtype=bool)
    assert _compute_mean_correlations(a, truth, everybody, times) == pytest.approx(expected)


@pytest.mark.parametrize("noise", [(0.6, 0.8), (0.8, 0.6), (0.5, 0.6), (0.7, 0.7)])
def test_scipys_bca_interval_at_the_level_of_p_ends_at_zero(noise):
    truth, (a, b) = crowd(noise, seed=4, workers=30)

    def statistic(rows):
        x, y, t = a[0][rows], b[0][rows], truth[0][rows]
        return np.corrcoef(x, t)[0, 1] - np.corrcoef(y, t)[0, 1]

    rows = np.arange(30)
    times = _draw_workers(30, 4_999, seed=1)
    everybody = np.ones_like(a, dtype=bool)
    draws = _compute_mean_correlations(a, truth, everybody, times) - _compute_mean_correlations(
        b, truth, everybody, times
    )
    left_out = np.array([statistic(np.delete(rows, row)) for row in rows])
    p = compute_bca_p_value(statistic(rows), draws, left_out)
    interval = stats.bootstrap(
        (rows,),
        statistic,
        vectorized=False,
        n_resamples=0,
        confidence_level=1 - p,
        method="BCa",
        bootstrap_result=SimpleNamespace(bootstrap_distribution=draws),
    ).confidence_interval
    assert p > 0.001  # the draws reach 0
    assert min(abs(interval.low), abs(interval.high)) < 0.02 * draws.std()


def test_equal_methods_have_no_p_and_a_much_better_one_a_small_one():
    truth, (good, bad) = crowd([0.1, 3.0], seed=2, workers=40)
    same, better = compare_correlations([bad, good], bad, truth, n_draws=999)
    assert (same.difference, same.p_value, same.reason) == (0, None, "no_difference")
    assert better.p_value is not None
    assert 2 / 1000 <= better.p_value < 0.01


def test_p_does_not_depend_on_scale_or_place_of_the_scores():
    truth, (a, b) = crowd([0.5, 0.7], workers=25, repetitions=2)
    plain, moved = compare_correlations([a, 1e-3 * a + 1e3], b, truth, n_draws=999)
    assert moved.p_value == pytest.approx(plain.p_value)


@pytest.mark.long
def test_p_is_seldom_small_where_methods_are_equally_good():
    found = []
    for seed in range(200):
        truth, (a, b) = crowd([0.6, 0.6], seed=seed, workers=100)
        found.append(compare_correlations([a], b, truth, n_draws=399)[0].p_value)
    # 200 true null hypotheses: 20 expected at or below .1, standard deviation 4.2, and some more,
    # because the interval is too narrow for small crowds (see the docstring of the module).
    assert 8 <= sum(p <= 0.1 for p in found) <= 40


def test_workers_without_a_score_are_left_out_of_both():
    truth, (a, b) = crowd([0.5, 0.7], workers=12)
    a[0, 3] = np.nan
    (found,) = compare_correlations([a], b, truth, n_draws=99)
    rest = np.arange(12) != 3
    expected = (
        np.corrcoef(a[0][rest], truth[0][rest])[0, 1]
        - np.corrcoef(b[0][rest], truth[0][rest])[0, 1]
    )
    assert found.difference == pytest.approx(expected)


def test_what_cannot_be_compared_says_why():
    truth, (a, b) = crowd([0.5, 0.7], workers=4)
    assert compare_correlations([a], b, truth)[0].reason == "fewer_than_5_workers"
    truth, (a, b) = crowd([0.5, 0.7], workers=8)
    flat = np.ones_like(a)
    assert compare_correlations([flat], b, truth, n_draws=9)[0].reason == "no_correlation"
    with pytest.raises(ValueError, match="do not fit"):
        compare_correlations(a, b, truth)


@pytest.mark.medium
def test_the_interval_of_a_correlation_is_scipys():
    truth, (a,) = crowd([0.7], seed=3, workers=30)
    found = compute_mean_correlation(a, truth, seed=1)
    assert found.value == pytest.approx(np.corrcoef(a[0], truth[0])[0, 1])
    theirs = stats.bootstrap(
        (a[0], truth[0]),
        lambda x, y: np.corrcoef(x, y)[0, 1],
        paired=True,
        vectorized=False,
        method="BCa",
        rng=np.random.default_rng(2),
    ).confidence_interval
    assert (found.low, found.high) == pytest.approx(tuple(theirs), abs=0.01)


def test_p_is_below_5_percent_just_where_the_interval_leaves_0_out():
    for seed in range(12):
        truth, (a, b) = crowd([0.6, 0.8], seed=seed, workers=15)
        (found,) = compare_correlations([a], b, truth, n_draws=1999, seed=seed)
        # Half a draw to either side is rounding.
        if abs(found.p_value - 0.05) > 0.002:
            assert (found.p_value < 0.05) == (found.low > 0 or found.high < 0)


def test_draws_that_lie_evenly_about_the_statistic_give_their_percentiles():
    draws = np.linspace(-1, 1, 2001)
    # No bias and no acceleration: the 2.5th and the 97.5th of the draws.
    assert compute_bca_interval(0.0, draws, np.array([-1.0, 0.0, 1.0])) == pytest.approx(
        (-0.95, 0.95)
    )


def test_a_worker_whom_nobody_knows_changes_no_correlation():
    truth, (a,) = crowd([0.5], workers=12)
    more_truth = np.append(truth, [[np.nan]], axis=1)
    more = np.append(a, [[3.0]], axis=1)
    found, alone = (
        compute_mean_correlation(more, more_truth, seed=1),
        compute_mean_correlation(a, truth, seed=1),
    )
    assert (found.value, found.n) == (pytest.approx(alone.value), 12)


def test_four_workers_have_a_correlation_without_an_interval():
    truth, (a,) = crowd([0.5], workers=4)
    found = compute_mean_correlation(a, truth)
    assert (found.low, found.reason) == (None, "fewer_than_5_workers")
    assert found.value is not None
    assert compute_mean_correlation(np.ones((1, 6)), np.ones((1, 6))).reason == "no_correlation"
