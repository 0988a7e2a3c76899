import numpy as np
import pytest
from scipy import stats

from evaluation.core.stats.inference.clustered import compute_drawn_intervals, compute_means
from evaluation.core.stats.inference.intervals import compute_percentile_tail, draw_multiplicities

NAN = float("nan")


def test_the_mean_leaves_undefined_items_out_and_says_of_how_many_it_is():
    # (1 + 0 + 1) / 3 and (0.5 + 1) / 2; the third row has no number at all.
    one, two, none = compute_means([[1, 0, 1], [0.5, NAN, 1], [NAN, NAN, NAN]])
    assert (one.value, one.n, one.reason) == (pytest.approx(2 / 3), 3, None)
    assert (two.value, two.n) == (0.75, 2)
    assert (none.value, none.low, none.high, none.n) == (None, None, None, 0)
    assert none.reason == "no_estimate"


def test_an_interval_needs_two_items_and_draws():
    (single,) = compute_means([[1.0]])
    assert (single.value, single.low, single.reason) == (1.0, None, "fewer_than_2_items")
    (without,) = compute_means([[1.0, 0.0]], n_draws=0)
    assert (without.value, without.high, without.reason) == (0.5, None, "no_draws")


def test_the_interval_is_the_widened_percentile_one_of_scipys_kind_of_draws():
    values = np.random.default_rng(5).random(30)
    (found,) = compute_means(values, n_draws=4000, seed=3)
    tail = compute_percentile_tail(30)
    theirs = stats.bootstrap(
        (values,), np.mean, n_resamples=4000, method="percentile", confidence_level=1 - 2 * tail
    ).confidence_interval
    assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high), abs=0.012)
    assert found == compute_means(values, n_draws=4000, seed=3)[0]
    assert found != compute_means(values, n_draws=4000, seed=4)[0]


def test_a_row_with_gaps_is_drawn_over_the_items_it_has():
    # Where every number is the same, no draw can give another mean, whatever it leaves out.
    (found,) = compute_means([0.25, NAN, 0.25, 0.25, NAN], n_draws=50)
    assert (found.low, found.high) == (0.25, 0.25)


def test_any_statistic_is_computed_anew_from_how_often_items_were_drawn():
    values = np.array([0.0, 1.0, 2.0, 5.0])

    def variance(weights):
        mean = weights @ values / weights.sum(axis=1)
        return (weights @ values**2 / weights.sum(axis=1) - mean**2)[None]

    (found,) = compute_drawn_intervals([values.var()], 4, variance, 4, n_draws=300, seed=1)
    rng = np.random.default_rng(1)
    drawn = sorted(values[rng.integers(0, 4, 4)].var() for _ in range(300))
    tail = compute_percentile_tail(4)
    expected = np.quantile(drawn, [tail, 1 - tail])
    assert (found.low, found.high) == pytest.approx(tuple(expected))


def test_draws_come_in_blocks_that_make_one_stream(monkeypatch):
    whole = np.vstack(list(draw_multiplicities(7, 50, 0)))
    monkeypatch.setattr("evaluation.core.stats.inference.intervals.BLOCK_CELLS", 21)
    parts = list(draw_multiplicities(7, 50, 0))
    assert len(parts) == 17
    np.testing.assert_array_equal(np.vstack(parts), whole)
    assert (whole.sum(axis=1) == 7).all()
    assert whole.shape == (50, 7)
