import numpy as np
import pytest
from scipy import stats

from evaluation.core.stats.inference.differences import compute_clustered_standard_errors
from evaluation.core.stats.inference.prediction_powered import (
    compute_power_tuned_weight,
    estimate_powered_mean,
)

NAN = float("nan")
# Graded: Y = 4, 2, 3, 1 with f = 5, 3, 3, 1. Predicted only: f = 4, 2.
GRADES = [4, 2, 3, 1, NAN, NAN]
PREDICTED = [5, 3, 3, 1, 4, 2]


def test_weight_0_is_the_classical_t_interval_of_the_grades():
    found = estimate_powered_mean(GRADES, PREDICTED, weight=0)
    interval = stats.ttest_1samp([4, 2, 3, 1], 0).confidence_interval(0.95)
    assert found.mean == 2.5
    assert (found.low, found.high) == (pytest.approx(interval.low), pytest.approx(interval.high))
    assert (found.n_graded, found.n_predicted, found.weight) == (4, 2, 0)


def test_weight_1_is_prediction_powered_inference_by_hand():
    # Y - f = -1, -1, 0, 0: mean -.5, variance (4 x .25) / 3 = .33333; f of the others: mean 3,
    # variance 2. Estimate 3 - .5 = 2.5; squared error .33333 / 4 + 2 / 2 = 1.083333, of which
    # .083333 has 3 and 1 has 1 degree of freedom: 1.083333^2 / (.083333^2 / 3 + 1^2 / 1) =
    # 1.170901; t(.975, 1.170901) = 9.096. Welch's t test has the same parts.
    found = estimate_powered_mean(GRADES, PREDICTED, weight=1)
    assert found.mean == pytest.approx(2.5)
    welch = stats.ttest_ind([-1, -1, 0, 0], [-4, -2], equal_var=False)
    assert welch.df == pytest.approx(1.170901, abs=1e-6)
    interval = welch.confidence_interval()
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high))
    assert found.high - 2.5 == pytest.approx(1.040833 * stats.t.ppf(0.975, 1.170901), abs=1e-4)


def test_the_tuned_weight_by_hand():
    # cov(Y, f) over the graded: means 2.5 and 3, products 1.5 x 2 + -.5 x 0 + .5 x 0 + -1.5 x -2
    # = 6, / 3 = 2. var(f) over all six: mean 3, squares 4 + 0 + 0 + 4 + 1 + 1 = 10, / 5 = 2.
    # lambda = 2 / ((1 + 4/2) 2) = 1/3.
    assert compute_power_tuned_weight(
        np.array(GRADES), np.array(PREDICTED, dtype=float)
    ) == pytest.approx(1 / 3)
    # mean(Y - f/3) + mean(f)/3 = (2.5 - 1) + 1 = 2.5.
    found = estimate_powered_mean(GRADES, PREDICTED)
    assert (found.weight, found.mean) == (pytest.approx(1 / 3), pytest.approx(2.5))
    # Y - f/3 = 7/3, 1, 2, 2/3: mean 1.5, squares .69444 + .25 + .25 + .69444 = 1.88889, / 3 =
    # .62963; squared error .62963 / 4 + 2 / 9 / 2 = .157407 + .111111 = .268519, root .518188;
    # degrees .268519^2 / (.157407^2 / 3 + .111111^2 / 1) = 3.4993; t(.975, 3.4993) = 2.942.
    half = 0.518188 * stats.t.ppf(0.975, 3.4993)
    assert found.high - found.mean == pytest.approx(half, abs=1e-3)


def test_the_judges_constant_error_is_taken_off():
    rng = np.random.default_rng(1)
    truth = rng.normal(3, 1, 400)
    grades = np.where(np.arange(400) < 40, truth, NAN)
    for bias in (0.0, 1.5):
        found = estimate_powered_mean(grades, truth + bias, weight=1)
        # The judge is off by the same everywhere: what is left is the mean of all, exactly.
        assert found.mean == pytest.approx(truth[40:].mean())


def test_a_judge_of_pure_noise_is_not_relied_on():
    rng = np.random.default_rng(2)
    grades = np.where(np.arange(1000) < 50, rng.normal(3, 1, 1000), NAN)
    noise = rng.normal(0, 1, 1000)
    people, tuned = (
        estimate_powered_mean(grades, noise, weight=0),
        estimate_powered_mean(grades, noise),
    )
    blind = estimate_powered_mean(grades, noise, weight=1)
    assert tuned.weight < 0.3
    assert tuned.high - tuned.low < 1.05 * (people.high - people.low)
    assert blind.high - blind.low > 1.3 * (people.high - people.low)
    assert compute_power_tuned_weight(grades, -np.nan_to_num(grades) - 5) == 0.0


def test_clusters_of_one_change_nothing_and_with_weight_0_they_are_the_clustered_error():
    rng = np.random.default_rng(3)
    clusters = np.repeat(np.arange(12), 5)
    grades = 3 + rng.normal(size=12)[clusters] + rng.normal(size=60)
    grades[rng.permutation(60)[30:]] = NAN
    predicted = rng.normal(size=60)
    single = estimate_powered_mean(grades, predicted, np.arange(60), 0.5)
    assert single == estimate_powered_mean(grades, predicted, None, 0.5)
    found = estimate_powered_mean(grades, predicted, clusters, 0)
    graded = ~np.isnan(grades)
    groups = np.unique(clusters[graded])
    totals = np.array([[grades[graded & (clusters == one)].sum() for one in groups]])
    sizes = np.array([float((graded & (clusters == one)).sum()) for one in groups])
    error = compute_clustered_standard_errors(totals, sizes)[0]
    quantile = stats.t.ppf(0.975, len(groups) - 1)
    assert found.high - found.mean == pytest.approx(quantile * error)


@pytest.mark.parametrize(
    ("graded", "rest", "accuracy", "clusters"),
    [(30, 300, 0.8, None), (50, 500, 0.0, None), (60, 600, 0.7, 60)],
)
@pytest.mark.long
def test_the_intervals_cover_the_truth_in_95_of_100(graded, rest, accuracy, clusters):
    rng = np.random.default_rng(0)
    size, repetitions = graded + rest, 600
    covered, width = {0: 0, 1: 0, None: 0}, {0: 0.0, 1: 0.0, None: 0.0}
    for _ in range(repetitions):
        of = None if clusters is None else rng.integers(0, clusters, size)
        shared = 0.0 if of is None else 0.6 * rng.normal(size=clusters)[of]
        truth = 3 + shared + rng.normal(size=size)
        # A judge on a scale of its own, one point too kind.
        judge = 4 + accuracy * (truth - 3) + np.sqrt(1 - accuracy**2) * rng.normal(size=size)
        grades = np.full(size, NAN)
        picked = rng.permutation(size)[:graded]
        grades[picked] = truth[picked]
        for weight in covered:
            found = estimate_powered_mean(grades, judge, of, weight)
            covered[weight] += found.low <= 3 <= found.high
            width[weight] += found.high - found.low
    # Of 600 intervals that cover 95% each, 95% of the time between 93.2% and 96.7% do.
    for weight, count in covered.items():
        assert 0.93 <= count / repetitions <= 0.972, weight
    assert width[None] <= 1.01 * min(width[0], width[1])


def test_what_cannot_be_estimated_has_its_reason():
    nothing = estimate_powered_mean([NAN, NAN], [1, 2])
    assert (nothing.mean, nothing.reason) == (None, "no_judgements")
    one = estimate_powered_mean([4, NAN, NAN], [3, 2, 5])
    assert (one.mean, one.low, one.reason) == (4.0, None, "fewer_than_2_judged")
    cluster = estimate_powered_mean([4, 5, NAN], [3, 2, 5], [7, 7, 8])
    assert (cluster.low, cluster.reason) == (None, "fewer_than_2_judged")
    equal = estimate_powered_mean([4, 4, NAN], [3, 3, 3])
    assert (equal.mean, equal.low, equal.high, equal.reason) == (4.0, None, None, "no_spread")
    everything = estimate_powered_mean([4, 5, 3], [1, 2, 2])
    assert (everything.mean, everything.weight, everything.n_predicted) == (4.0, 0.0, 0)
    # A thing without a prediction is in neither sample.
    assert estimate_powered_mean([4, 5, 3, 0], [1, 2, 2, NAN]).mean == 4.0
    with pytest.raises(ValueError, match="shape"):
        estimate_powered_mean([1, 2], [1])
    with pytest.raises(ValueError, match="finite"):
        estimate_powered_mean([1, float("inf")], [1, 2])
    with pytest.raises(ValueError, match="level"):
        estimate_powered_mean([1, 2], [1, 2], level=95)
    with pytest.raises(ValueError, match="negative"):
        estimate_powered_mean([1, 2], [1, 2], weight=-1)
