"""How far several raters agree, with intervals over clusters."""

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from evaluation.core.stats.inference.raters import compute_mean_kappa, compute_panel_agreement
from evaluation.core.stats.statistics.agreement import (
    count_ratings,
    intraclass_correlation,
    krippendorff_alpha,
)


def three(n=60, seed=0):
    """Three raters in half steps, who err by about half a step."""
    rng = np.random.default_rng(seed)
    truth = rng.uniform(0, 5, (n, 1))
    return np.clip(np.rint(2 * (truth + 0.6 * rng.normal(size=(n, 3)))) / 2, 0, 5)


def test_two_raters_have_the_weighted_kappas_of_scikit_learn():
    ratings = three()[:, :2]
    found = compute_panel_agreement(ratings, np.arange(60) // 4)
    halves = (2 * ratings).astype(int).T
    for weights in ("linear", "quadratic"):
        expected = cohen_kappa_score(*halves, weights=weights, labels=range(11))
        estimate = getattr(found, f"kappa_{weights}")
        assert estimate.value == pytest.approx(expected)
        assert estimate.low < expected < estimate.high
        assert (estimate.n, estimate.n_clusters) == (60, 15)


def test_of_three_raters_kappa_is_the_mean_of_the_three_pairs():
    halves = (2 * three()).astype(int)
    pairs = [(0, 1), (0, 2), (1, 2)]
    expected = np.mean(
        [cohen_kappa_score(halves[:, a], halves[:, b], weights="linear") for a, b in pairs]
    )
    # Scikit-learn weighs by the places of the labels: all eleven come up here.
    assert len(np.unique(halves)) == 11
    assert compute_mean_kappa(halves.astype(float), "linear") == pytest.approx(expected)


def test_each_coefficient_is_of_the_ratings_that_it_can_use():
    ratings = three()
    ratings[:10, 2] = np.nan  # by two
    ratings[10:15, 1:] = np.nan  # by one
    ratings[15] = np.nan  # by nobody
    found = compute_panel_agreement(ratings, np.arange(60))
    assert (found.n_raters, found.n, found.n_by_two, found.n_complete) == (3, 59, 54, 44)
    assert found.n_missing == 10 + 2 * 5
    whole = intraclass_correlation(ratings)
    assert (found.icc_single.value, found.icc_mean.value) == (whole.single, whole.mean)
    assert (found.icc_single.n, found.alpha_interval.n) == (44, 54)
    for level in ("nominal", "ordinal", "interval"):
        expected = krippendorff_alpha(*count_ratings(ratings), level)
        assert getattr(found, f"alpha_{level}").value == pytest.approx(expected)


@pytest.mark.medium
def test_the_same_draws_give_the_same_intervals_and_a_rater_without_ratings_none():
    ratings, of = three(), np.arange(60) // 3
    again = compute_panel_agreement(np.column_stack([ratings, np.full(60, np.nan)]), of)
    assert again == compute_panel_agreement(ratings, of)
    assert [name for name, _ in again.iterate_coefficients()] == [
        *("kappa_linear", "kappa_quadratic", "icc_single", "icc_mean"),
        *("alpha_nominal", "alpha_ordinal", "alpha_interval"),
    ]


def test_one_rater_alone_and_nobody_have_reasons_in_place_of_numbers():
    alone = compute_panel_agreement([[1.0], [2.0]], ["a", "b"])
    assert (alone.n, alone.n_by_two, alone.n_complete) == (2, 0, 0)
    nobody = compute_panel_agreement(np.zeros((0, 2)), [])
    for found in (alone, nobody):
        for _, estimate in found.iterate_coefficients():
            assert (estimate.value, estimate.reason) == (None, "nothing_to_compare")


def test_equal_grades_have_no_coefficient_and_one_question_no_interval():
    equal = compute_panel_agreement([[3, 3], [3, 3], [3, 3]], ["a", "b", "c"])
    assert {estimate.reason for _, estimate in equal.iterate_coefficients()} == {"no_correlation"}
    one = compute_panel_agreement([[1, 2], [3, 3], [5, 4]], ["a", "a", "a"])
    assert one.icc_single.value == pytest.approx(4 / (14 / 3))
    assert (one.icc_single.low, one.icc_single.reason) == (None, "fewer_than_2_questions")


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="in 1 places"):
        compute_panel_agreement([[1, 2], [2, 3]], ["a"])
    with pytest.raises(ValueError, match="finite"):
        compute_panel_agreement([[1, np.inf]], ["a"])
