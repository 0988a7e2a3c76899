"""How far two raters agree, with intervals over clusters."""

import numpy as np
import pytest

from evaluation.core.stats.inference.raters import compute_rater_agreement

sklearn = pytest.importorskip("sklearn.metrics")
stats = pytest.importorskip("scipy.stats")


def test_grades_agree_as_scikit_learn_and_scipy_say():
    rng = np.random.default_rng(3)
    one = rng.integers(0, 11, 40) / 2
    other = np.clip(one + rng.integers(-2, 3, 40) / 2, 0, 5)
    found = compute_rater_agreement(one, other, [str(at // 4) for at in range(40)], graded=True)
    halves = (one * 2).astype(int), (other * 2).astype(int)
    assert found.kappa.value == pytest.approx(
        sklearn.cohen_kappa_score(*halves, weights="quadratic", labels=range(11))
    )
    assert found.rank_correlation.value == pytest.approx(stats.spearmanr(one, other).statistic)
    assert found.distance == pytest.approx(np.abs(one - other).mean())
    assert found.difference == pytest.approx((one - other).mean())
    assert found.kappa.low < found.kappa.value < found.kappa.high
    assert (found.kappa.n, found.kappa.n_clusters) == (40, 10)


def test_labels_agree_as_scikit_learn_says():
    rng = np.random.default_rng(4)
    one = rng.choice(["answerable", "unanswerable", "cannot tell"], 50)
    other = np.where(rng.random(50) < 0.3, rng.permutation(one), one)
    found = compute_rater_agreement(
        list(one), list(other), [str(at) for at in range(50)], graded=False
    )
    assert found.kappa.value == pytest.approx(sklearn.cohen_kappa_score(one, other))
    assert found.alike == (one == other).mean()
    assert (found.difference, found.distance, found.rank_correlation) == (None, None, None)


def test_without_anything_in_common_nothing_is_said():
    found = compute_rater_agreement([], [], [], graded=True)
    assert (found.n, found.alike, found.kappa.value, found.kappa.reason) == (
        0,
        None,
        None,
        "nothing_to_compare",
    )
    assert compute_rater_agreement([], [], [], graded=False).alike is None


def test_intervals_draw_clusters_not_single_things():
    """Ten things, each four times over: 40 ratings say no more than ten where they belong together.

    The draws of ten clusters are the same, and kappa does not change when all counts are four times
    as high. Drawn one by one the 40 would look like so many: an interval about half as wide.
    """
    one = [1, 2, 3, 4, 5, 0, 2, 4, 1, 3]
    other = [1, 3, 3, 4, 4, 1, 2, 5, 0, 1]
    places = [str(at) for at in range(10)]
    alone = compute_rater_agreement(one, other, places, graded=True)
    repeated = np.repeat(one, 4), np.repeat(other, 4)
    found = compute_rater_agreement(*repeated, list(np.repeat(places, 4)), graded=True)
    single = compute_rater_agreement(*repeated, [str(at) for at in range(40)], graded=True)
    assert (found.kappa.n, found.kappa.n_clusters, single.kappa.n_clusters) == (40, 10, 40)
    for name in ("kappa", "rank_correlation"):
        ten, clustered, forty = (getattr(each, name) for each in (alone, found, single))
        assert (clustered.value, clustered.low, clustered.high) == (
            pytest.approx(ten.value), pytest.approx(ten.low), pytest.approx(ten.high),
        )  # fmt: skip
        assert forty.value == pytest.approx(ten.value)
        assert clustered.high - clustered.low > 1.5 * (forty.high - forty.low)


def test_of_one_cluster_there_is_no_interval_however_many_things_are_in_it():
    found = compute_rater_agreement([1, 2, 3, 4], [1, 2, 3, 5], ["a"] * 4, graded=True)
    assert found.kappa.low is None
    assert found.kappa.reason == "fewer_than_2_questions"


def test_columns_of_different_lengths_are_refused():
    with pytest.raises(ValueError, match="2, 1 ratings in 2 places"):
        compute_rater_agreement([1, 2], [1], ["a", "b"], graded=True)
