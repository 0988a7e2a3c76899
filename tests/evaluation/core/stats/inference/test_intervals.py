import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from evaluation.core.stats.inference.intervals import (
    compute_bootstrap_t_interval,
    compute_t_interval,
    compute_widened_percentile_interval,
)

NAN = float("nan")


def test_identity_scale_by_hand():
    # t(.975, 4) = 2.776445: .5 +- 2.776445 x .1
    interval = compute_t_interval(0.5, 0.1, 5)[0]
    assert (interval.low, interval.high) == pytest.approx((0.2223555, 0.7776445))
    assert interval.reason is None


def test_arctanh_scale_by_hand():
    # arctanh(.8) = 1.098612, t(.975, 9) = 2.262157, error .2: 1.098612 -+ .452431
    # tanh(.646181) = 2.64137 / 4.64137 = .569093, tanh(1.551044) = 21.2443 / 23.2443 = .913958
    interval = compute_t_interval(0.8, 0.2, 10, scale="arctanh")[0]
    assert (interval.low, interval.high) == pytest.approx((0.569093, 0.913958), abs=2e-6)


def test_rows_with_an_undefined_interval_are_null_with_their_reason():
    result = compute_t_interval(
        [0.5, NAN, 0.5, 1.0, 1.0], [0.1, 0.1, NAN, 0.1, 0], [1, 5, 5, 5, 5], scale="arctanh"
    )
    assert result.reasons == (
        "fewer_than_2_questions",
        "no_estimate",
        "no_standard_error",
        "estimate_at_bound",
        None,
    )
    assert np.isnan(result.low).tolist() == [True, True, True, True, False]
    assert result[0].low is None
    assert result[0].high is None
    assert (result[4].low, result[4].high) == (1, 1)
    assert (len(result), result.level, result.method) == (5, 0.95, "t-arctanh")


def test_bootstrap_error_carries_the_factor_for_few_questions():
    # Draws 1, 2, 3 (NaN ignored): sd 1; n = 4: 1 x sqrt(4/3) = 1.154701 x t(.975, 3) 3.182446
    interval = compute_bootstrap_t_interval(2.0, [1, 2, NAN, 3], 4)[0]
    assert (interval.low, interval.high) == pytest.approx((2 - 3.674774, 2 + 3.674774), abs=1e-5)


def test_cosine_draws_are_transformed_before_their_sd_is_taken():
    draws = np.tanh([0.9, 1.0, 1.1])  # sd .1 on the arctanh scale; x sqrt(4/3) x 3.182446 = .367477
    interval = compute_bootstrap_t_interval(np.tanh(1.0), draws, 4, scale="arctanh")[0]
    expected = np.tanh([1 - 0.367477, 1 + 0.367477])
    assert (interval.low, interval.high) == pytest.approx(tuple(expected), abs=1e-6)


def test_a_perfect_score_without_spread_is_certain():
    # 1 + 2e-16 is a cosine of 1 after rounding.
    for one in (1.0, 1 + 2e-16, 1 - 1e-15):
        interval = compute_bootstrap_t_interval(one, [1.0, one, 1.0], 10, scale="arctanh")[0]
        assert (interval.low, interval.high) == pytest.approx((1, 1), abs=1e-14)


def test_a_draw_of_one_takes_the_first_order_error_instead_of_an_infinite_one():
    # sd of .8, .9, 1 is .1; / (1 - .81) = .526316; n = 10: x sqrt(10/9) = .554784
    # arctanh(.9) = 1.472219 -+ 2.262157 x .554784 = 1.255008: tanh(.217211), tanh(2.727227)
    interval = compute_bootstrap_t_interval(0.9, [0.8, 0.9, 1.0], 10, scale="arctanh")[0]
    assert (interval.low, interval.high) == pytest.approx((0.213859, 0.991481), abs=1e-5)


def test_a_perfect_score_with_spread_gets_an_interval_that_ends_at_one():
    # sd of .9, 1, 1 is .057735; x sqrt(10/9) x 2.262157 = .137669
    interval = compute_bootstrap_t_interval(1.0, [0.9, 1.0, 1.0], 10, scale="arctanh")[0]
    assert (interval.low, interval.high) == pytest.approx((1 - 0.137669, 1), abs=1e-5)


def test_rows_are_independent_of_each_other():
    rng = np.random.default_rng(0)
    draws = np.tanh(rng.normal(1, 0.2, size=(6, 50)))
    draws[1, :3] = 1.0
    draws[2] = 1.0
    draws[3, 5:] = NAN
    draws[4] = NAN
    estimates, n = np.array([0.7, 0.8, 1.0, 0.6, 0.5, 0.5]), np.array([10, 5, 7, 3, 9, 1])
    together = compute_bootstrap_t_interval(estimates, draws, n, scale="arctanh")
    percentiles = compute_widened_percentile_interval(draws, n)
    for row in range(6):
        alone = compute_bootstrap_t_interval(estimates[row], draws[row], n[row], scale="arctanh")
        assert together[row] == alone[0]
        assert percentiles[row] == compute_widened_percentile_interval(draws[row], n[row])[0]
    assert together.reasons[4:] == ("fewer_than_2_draws", "fewer_than_2_questions")
    assert percentiles.reasons[4:] == ("fewer_than_2_draws", "fewer_than_2_questions")


def test_widened_percentiles_agree_with_numpys_quantile():
    # n = 10: sqrt(10/9) x t(.025, 9) = 1.054093 x -2.262157 = -2.384524, normal cdf .008551
    draws = np.random.default_rng(1).normal(size=400)
    tail = stats.norm.cdf(np.sqrt(10 / 9) * stats.t.ppf(0.025, 9))
    assert tail == pytest.approx(0.008551, abs=1e-6)
    interval = compute_widened_percentile_interval(np.append(draws, NAN), 10)[0]
    assert (interval.low, interval.high) == pytest.approx(np.quantile(draws, [tail, 1 - tail]))


def test_no_draws_leave_the_cells_empty():
    for result in (
        compute_bootstrap_t_interval([0.5, 0.6], np.empty((2, 0)), 10),
        compute_bootstrap_t_interval([0.5, 0.6], np.empty((2, 0)), 10, scale="arctanh"),
        compute_widened_percentile_interval(np.empty((2, 0)), 10),
    ):
        assert result.reasons == ("fewer_than_2_draws",) * 2
    assert len(compute_bootstrap_t_interval([], np.empty((0, 400)), [], scale="arctanh")) == 0


@given(st.floats(-0.99, 0.99), st.floats(0.001, 3), st.integers(2, 200))
def test_the_arctanh_interval_holds_its_estimate_and_stays_within_bounds(value, error, n):
    interval = compute_t_interval(value, error, n, scale="arctanh")[0]
    assert -1 <= interval.low <= value <= interval.high <= 1
    mirrored = compute_t_interval(-value, error, n, scale="arctanh")[0]
    assert (mirrored.low, mirrored.high) == pytest.approx((-interval.high, -interval.low))


@pytest.mark.parametrize("n", [10, 30])
def test_intervals_of_a_mean_cover_it_about_as_often_as_they_say(n):
    # 400 samples of skewed cosines, mean 5/7; standard error of a .95 share: .011.
    rng = np.random.default_rng(n)
    samples = rng.beta(5, 2, size=(400, n))
    means = samples.mean(axis=1)
    draws = np.stack([s[rng.integers(0, n, size=(400, n))].mean(axis=1) for s in samples])
    closed = compute_t_interval(means, samples.std(axis=1, ddof=1) / np.sqrt(n), n)
    for intervals in (
        closed,
        compute_bootstrap_t_interval(means, draws, n),
        compute_bootstrap_t_interval(means, draws, n, scale="arctanh"),
        compute_widened_percentile_interval(draws, n),
    ):
        covered = (intervals.low <= 5 / 7) & (intervals.high >= 5 / 7)
        assert 0.90 <= covered.mean() <= 0.98


def test_intervals_cover_where_many_scores_are_exactly_one():
    rng = np.random.default_rng(2)
    samples = np.where(rng.random((400, 10)) < 0.5, 1.0, rng.beta(5, 2, size=(400, 10)))
    draws = np.stack([s[rng.integers(0, 10, size=(400, 10))].mean(axis=1) for s in samples])
    intervals = compute_bootstrap_t_interval(samples.mean(axis=1), draws, 10, scale="arctanh")
    truth = 0.5 + 0.5 * 5 / 7
    covered = (intervals.low <= truth) & (truth <= intervals.high)
    assert 0.90 <= covered.mean() <= 0.98
    assert np.mean(intervals.high - intervals.low) < 0.4


@pytest.mark.parametrize(
    "call",
    [
        lambda: compute_t_interval(0.5, -0.1, 5),
        lambda: compute_t_interval(0.5, np.inf, 5),
        lambda: compute_t_interval(np.inf, 0.1, 5),
        lambda: compute_t_interval(1.5, 0.1, 5, scale="arctanh"),
        lambda: compute_t_interval(0.5, 0.1, 2.5),
        lambda: compute_t_interval(0.5, 0.1, -1),
        lambda: compute_t_interval(0.5, 0.1, 5, level=0),
        lambda: compute_t_interval(0.5, 0.1, 5, scale="log"),
        lambda: compute_t_interval([[0.5]], 0.1, 5),
        lambda: compute_bootstrap_t_interval([0.5], [[0.1, 0.2], [0.3, 0.4]], 5),
        lambda: compute_bootstrap_t_interval(0.5, [0.5, np.inf], 5),
        lambda: compute_bootstrap_t_interval(0.5, [0.5, 1.5], 5, scale="arctanh"),
        lambda: compute_widened_percentile_interval([0.5, 0.6], 5, level=1.5),
    ],
)
def test_wrong_inputs_are_refused(call):
    with pytest.raises(ValueError, match="must"):
        call()
