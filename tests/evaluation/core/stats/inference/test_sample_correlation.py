"""Correlations of a sample: by hand, by scipy, and how often the interval holds what is true."""

import math

import numpy as np
import pytest
from scipy import stats

from evaluation.core.stats.inference.correlations import (
    compute_weighted_pearson,
    estimate_correlation,
    forecast_interval,
)
from evaluation.core.stats.inference.intervals import draw_multiplicities


def sample(n, seed=0, rho=0.7):
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=n)
    return scores, rho * scores + math.sqrt(1 - rho**2) * rng.normal(size=n)


def test_weights_count_by_hand():
    # Means 9/4 and 5/4. Products: 1.25 x .25 - .25 x .75 - 2 x .75 x .25 = -.25; squares:
    # 1.5625 + .0625 + 2 x .5625 = 2.75 and .0625 + .5625 + 2 x .0625 = .75.
    found = compute_weighted_pearson([1, 2, 3], [1, 2, 1], [1, 1, 2])
    assert found == pytest.approx(-0.25 / math.sqrt(2.75 * 0.75))


def test_a_weight_of_three_is_three_rows_and_one_scale_of_weights_is_as_good_as_another():
    scores, grades = sample(40)
    weights = np.random.default_rng(1).integers(1, 5, 40)
    expected = stats.pearsonr(np.repeat(scores, weights), np.repeat(grades, weights))[0]
    assert compute_weighted_pearson(scores, grades, weights) == pytest.approx(expected)
    assert compute_weighted_pearson(scores, grades, weights / 7) == pytest.approx(expected)
    equal = compute_weighted_pearson(scores, grades, np.full(40, 2.5))
    assert equal == pytest.approx(stats.pearsonr(scores, grades)[0])


def test_nearly_equal_scores_lose_no_digits():
    scores, grades = sample(40)
    near = 1e6 + 1e-3 * scores
    assert compute_weighted_pearson(near, grades, np.ones(40)) == pytest.approx(
        stats.pearsonr(scores, grades)[0], abs=1e-6
    )


def test_the_interval_is_that_of_whole_questions_drawn_with_replacement():
    scores, grades = sample(30)
    questions = np.arange(30) % 12
    weights = 1.0 + np.arange(30) % 3
    found = estimate_correlation(scores, grades, questions, weights, n_draws=50, seed=3)
    (blocks,) = draw_multiplicities(12, 50, 3)
    drawn = []
    for times in blocks.astype(int):
        rows = np.concatenate([np.flatnonzero(questions == q) for q in np.repeat(range(12), times)])
        drawn.append(
            np.arctanh(compute_weighted_pearson(scores[rows], grades[rows], weights[rows]))
        )
    error = np.std(drawn, ddof=1) * math.sqrt(12 / 11)
    half = stats.t.ppf(0.975, 11) * error
    value = compute_weighted_pearson(scores, grades, weights)
    assert found.value == pytest.approx(value)
    assert found.low == pytest.approx(math.tanh(math.atanh(value) - half))
    assert found.high == pytest.approx(math.tanh(math.atanh(value) + half))
    assert (found.n, found.n_clusters, found.reason) == (30, 12, None)


def test_with_many_independent_answers_it_is_that_of_scipy():
    scores, grades = sample(400)
    found = estimate_correlation(scores, grades, np.arange(400))
    fisher = stats.pearsonr(scores, grades).confidence_interval()
    assert found.low == pytest.approx(fisher.low, abs=0.02)
    assert found.high == pytest.approx(fisher.high, abs=0.02)


def test_what_is_undefined_is_none_and_says_why():
    assert estimate_correlation([], [], []).reason == "nothing_to_compare"
    flat = estimate_correlation([1, 2, 3], [4, 4, 4], ["a", "b", "c"])
    assert (flat.value, flat.n, flat.reason) == (None, 3, "no_correlation")
    one = estimate_correlation([1, 2, 3], [1, 3, 2], ["a", "a", "a"])
    assert one.value == pytest.approx(0.5)
    assert (one.low, one.high, one.reason) == (None, None, "fewer_than_2_questions")
    assert compute_weighted_pearson([], [], []) is None
    assert compute_weighted_pearson([1, 2], [1, 2], [0, 1]) is None
    assert compute_weighted_pearson([1, 2, 3], [3, 2, 1], [1, 1, 1]) == -1


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        (([1, 2], [1, 2, 3], [1, 1]), "shapes"),
        (([1, 2], [1, 2], [1, -1]), "negative"),
    ],
)
def test_columns_that_do_not_fit_are_refused(columns, said):
    with pytest.raises(ValueError, match=said):
        compute_weighted_pearson(*columns)
    with pytest.raises(ValueError, match="n_draws"):
        estimate_correlation([1, 2], [1, 2], [1, 2], n_draws=1)
    with pytest.raises(ValueError, match="clusters"):
        estimate_correlation([1, 2], [1, 2], [1])


def test_what_twenty_answers_will_tell_is_fishers_with_students_t():
    # arctanh .7 = .8673; t of 19 degrees of freedom 2.0930, over sqrt 17: .5076.
    found = forecast_interval(20, 20)
    assert found.low == pytest.approx(math.tanh(0.8673 - 0.5076), abs=1e-3)
    assert found.high == pytest.approx(math.tanh(0.8673 + 0.5076), abs=1e-3)
    assert (found.high - found.low) / 2 == pytest.approx(0.27, abs=0.005)
    # The same answers to fewer questions tell less.
    assert forecast_interval(20, 5).low < found.low
    assert forecast_interval(3, 3).reason == "too_few"
    assert forecast_interval(20, 1).reason == "too_few"


def world(rng, n_questions=40, of_question=15):
    """Scores and grades of a crowd, question by question, and in which of three parts each is.

    Most are in the middle part.
    """
    both = rng.multivariate_normal([0, 0], [[1, 0.6], [0.6, 1]], (n_questions, of_question))
    shared = rng.multivariate_normal([0, 0], [[1, 0.6], [0.6, 1]], (n_questions, 1))
    scores, grades = np.moveaxis(math.sqrt(0.7) * both + math.sqrt(0.3) * shared, -1, 0)
    scores, grades = scores.ravel(), np.clip(np.rint(2.5 + 1.3 * grades.ravel()), 0, 5)
    return (
        scores,
        grades,
        np.digitize(scores, [-1.28, 1.28]),
        np.repeat(range(n_questions), of_question),
    )


@pytest.mark.long
def test_a_sample_of_parts_weighted_back_holds_the_truth_of_all_19_times_of_20():
    rng = np.random.default_rng(5)
    held, plain, found = 0, [], []
    for at in range(300):
        scores, grades, parts, questions = world(rng)
        true = stats.pearsonr(scores, grades)[0]
        rows = np.concatenate(
            [rng.choice(np.flatnonzero(parts == part), 14, replace=False) for part in range(3)]
        )
        sizes = np.bincount(parts)
        weights = sizes[parts[rows]] / 14
        estimate = estimate_correlation(
            scores[rows], grades[rows], questions[rows], weights, n_draws=200, seed=at
        )
        held += estimate.low <= true <= estimate.high
        found.append(estimate.value - true)
        plain.append(stats.pearsonr(scores[rows], grades[rows])[0] - true)
    assert 0.92 <= held / 300 <= 0.99
    # Without weights equally many of each part would show more spread than there is.
    assert abs(np.mean(found)) < 0.02 < np.mean(plain)
