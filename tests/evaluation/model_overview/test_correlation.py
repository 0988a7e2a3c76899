"""Correlations of views: within models, over drawn questions, ranks made anew in every draw."""

import numpy as np
import pytest
from scipy import stats

from evaluation.core.stats.inference.clustered import compute_clustered_interval
from evaluation.core.stats.inference.intervals import draw_multiplicities
from evaluation.core.stats.statistics.descriptive import spearman
from evaluation.model_overview.methods import (
    compute_detectable_correlation,
    compute_drawn_ranks,
    compute_measure_correlations,
)

NONE = np.nan


def two(one, other, **more):
    return compute_measure_correlations(np.array([one, other], dtype=float), [(0, 1)], **more)[0]


def test_it_is_the_mean_over_models_and_not_that_of_all_answers():
    # Each model: the surer, the farther. All together: the better model is surer, and nearer.
    near = [[1, 2, 3, 4], [11, 12, 13, 14]]
    sure = [[4, 3, 2, 1], [14, 13, 12, 11]]
    found = two(near, sure, n_draws=0)
    assert found.estimate.value == -1
    assert (found.by_model, found.n_models, found.n_cells) == ((-1.0, -1.0), 2, 8)
    assert spearman(np.ravel(near), np.ravel(sure)) == pytest.approx(0.5238095, abs=1e-6)


def test_models_with_fewer_than_three_questions_or_one_number_only_do_not_count():
    near = [[1, 2, 3, 4], [1, 2, NONE, NONE], [5, 5, 5, 5]]
    sure = [[1, 2, 4, 3], [1, 2, 3, 4], [1, 2, 3, 4]]
    found = two(near, sure, n_draws=0)
    # Ranks of the first model differ by 0, 0, 1, 1: 1 - 6 * 2 / (4 * 15) = .8
    assert found.estimate.value == pytest.approx(0.8)
    assert found.by_model == (pytest.approx(0.8), None, None)
    assert (found.n_models, found.n_cells, found.estimate.n) == (1, 4, 4)
    nothing = two(near[1:], sure[1:])
    assert nothing.estimate.value is None
    assert (nothing.estimate.reason, nothing.estimate.n) == ("no_model_with_both", 0)


def test_the_interval_of_one_model_is_that_of_drawing_its_questions_and_ranking_anew():
    rng = np.random.default_rng(3)
    x = rng.normal(size=40)
    y = np.round(x + rng.normal(size=40))  # with ties
    found = two([x], [y], n_draws=300, seed=5).estimate
    plain = compute_clustered_interval(
        lambda rows: spearman(x[rows], y[rows]), np.arange(40), n_draws=300, seed=5
    )
    assert found.value == pytest.approx(plain.value)
    assert (found.low, found.high) == (pytest.approx(plain.low), pytest.approx(plain.high))


def test_ranks_of_drawn_numbers_are_those_of_the_numbers_repeated():
    values = np.array([3.0, 1.0, 3.0, 2.0, 5.0])
    for times in next(draw_multiplicities(5, 50, seed=1)):
        ranks = compute_drawn_ranks(values, times[None])[0]
        repeated = np.repeat(np.arange(5), times.astype(int))
        expected = stats.rankdata(values[repeated])
        assert ranks[repeated] == pytest.approx(expected)


def test_questions_that_one_view_lacks_are_left_out_of_that_pair_only():
    rng = np.random.default_rng(0)
    views = rng.normal(size=(3, 2, 30))
    views[2, :, :10] = NONE
    whole, part = compute_measure_correlations(views, [(0, 1), (0, 2)], n_draws=100)
    assert (whole.estimate.n, part.estimate.n) == (30, 20)
    assert (whole.n_cells, part.n_cells) == (60, 40)
    expected = np.mean([stats.spearmanr(a[10:], b[10:]).statistic for a, b in views[[0, 2]].swapaxes(0, 1)])  # fmt: skip  # noqa: E501
    assert part.estimate.value == pytest.approx(expected)
    assert part.estimate.low < part.estimate.value < part.estimate.high


def test_intervals_hold_the_truth_about_as_often_as_they_say():
    # Normal numbers with Pearson's r = .5 have Spearman's 6/pi asin(r/2) = .4826.
    truth, rng, held = 6 / np.pi * np.arcsin(0.25), np.random.default_rng(7), 0
    for _ in range(150):
        x = rng.normal(size=(3, 40))
        y = 0.5 * x + np.sqrt(0.75) * rng.normal(size=(3, 40))
        found = two(x, y, n_draws=200).estimate
        held += found.low <= truth <= found.high
    assert 0.89 <= held / 150 <= 0.995


def test_what_so_many_questions_would_show():
    # tanh(2.8 / sqrt(9)) = tanh(.9333) = .7321
    assert compute_detectable_correlation(12) == pytest.approx(0.7321, abs=1e-4)
    assert compute_detectable_correlation(3) is None


def test_the_same_seed_gives_the_same_interval():
    rng = np.random.default_rng(0)
    views = rng.normal(size=(2, 2, 30))
    one, other, third = (
        compute_measure_correlations(views, [(0, 1)], seed=seed)[0].estimate for seed in (0, 0, 1)
    )
    assert one == other
    assert one != third


def test_one_odd_question_proves_nothing():
    # The odd one is in a draw of twelve with probability 1 - (11/12)^12 = .648; else r counts as 0.
    near, steady = np.arange(12.0, 0, -1), np.array([1.0] * 11 + [0.0])
    found = two([near], [steady], n_draws=2000).estimate
    assert found.value > 0.4
    assert found.low == 0
    many = two([near], [[1.0] * 6 + [0.0] * 6], n_draws=200).estimate
    assert many.low > 0.5


def test_three_questions_are_enough_to_rank_in_a_draw():
    found = two([[1, 2, 3]], [[1, 2, 3]], n_draws=200).estimate
    assert (found.value, found.high) == (1, 1)
