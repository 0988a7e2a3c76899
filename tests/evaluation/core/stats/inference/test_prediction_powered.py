import numpy as np
import pytest
from scipy import stats

from evaluation.core.stats.inference.differences import compute_clustered_standard_errors
from evaluation.core.stats.inference.prediction_powered import (
    compute_cross_fitted_weights,
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


def test_each_grade_has_the_weight_of_the_others_by_hand():
    # var(f) over all six: mean 3, squares 4 + 0 + 0 + 4 + 1 + 1 = 10, / 5 = 2; (1 + 4/2) 2 = 6.
    # Without (4, 5): Y = 2, 3, 1 and f = 3, 3, 1, means 2 and 7/3, products 0 x 2/3 + 1 x 2/3
    # + 1 x 4/3 = 2, / 2 = 1: lambda 1/6. Without (2, 3): Y = 4, 3, 1, f = 5, 3, 1: 4/3 x 2
    # + 5/3 x 2 = 6, / 2 = 3: 1/2. Without (3, 3): Y = 4, 2, 1, f = 5, 3, 1: 5/3 x 2 + 4/3 x 2:
    # 1/2. Without (1, 1): Y = 4, 2, 3, f = 5, 3, 3: 1 x 4/3 + 1 x 2/3 = 2, / 2 = 1: 1/6.
    weights = compute_cross_fitted_weights(
        np.array(GRADES), np.array(PREDICTED, float), np.arange(6)
    )
    assert weights == pytest.approx([1 / 6, 1 / 2, 1 / 2, 1 / 6])
    # f - 3 = 2, 0, 0, -2 and 1, -1: Y - lambda f = 11/3, 2, 3, 4/3, mean 2.5; the rest adds 0.
    found = estimate_powered_mean(GRADES, PREDICTED)
    assert (found.weight, found.mean) == (pytest.approx(1 / 3), pytest.approx(2.5))
    # Squares 1.3611 x 2 + .25 x 2 = 3.2222, / 3 = 1.074074; of the rest f/3 = 1/3, -1/3: 2/9.
    # Squared error 1.074074 / 4 + .222222 / 2 = .268519 + .111111 = .379630, root .616141;
    # degrees .379630^2 / (.268519^2 / 3 + .111111^2 / 1) = 3.9587.
    half = 0.616141 * stats.t.ppf(0.975, 3.9587)
    assert found.high - found.mean == pytest.approx(half, abs=1e-3)


def test_a_grade_has_no_part_in_its_own_weight_nor_has_its_cluster():
    rng = np.random.default_rng(4)
    predicted, clusters = rng.normal(size=30), np.arange(30) // 3
    grades = np.where(np.arange(30) < 18, predicted + rng.normal(size=30), NAN)
    before = compute_cross_fitted_weights(grades, predicted, clusters)
    changed = grades.copy()
    changed[3:6] += [5, -5, 9]  # all of cluster 1
    after = compute_cross_fitted_weights(changed, predicted, clusters)
    assert after[3:6] == pytest.approx(before[3:6])
    assert np.abs(after - before)[[0, 6, 17]].min() > 0.01
    # As it is computed from the rows that are left.
    others = np.r_[0:3, 6:18]
    spread = (1 + 18 / 12) * np.var(predicted, ddof=1)
    shared = np.cov(grades[others], predicted[others])[0, 1]
    assert before[3] == pytest.approx(np.clip(shared / spread, 0, 1))


def test_a_shift_of_all_predictions_changes_nothing():
    rng = np.random.default_rng(6)
    predicted = rng.normal(size=40)
    grades = np.where(np.arange(40) < 12, predicted + rng.normal(size=40), NAN)
    found, shifted = (estimate_powered_mean(grades, predicted + by) for by in (0, 100))
    assert (found.mean, found.low) == (pytest.approx(shifted.mean), pytest.approx(shifted.low))


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
    against = compute_cross_fitted_weights(grades, -np.nan_to_num(grades) - 5, np.arange(1000))
    assert not against.any()


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


@pytest.mark.long
@pytest.mark.parametrize(("graded", "accuracy"), [(5, 0.9), (8, 0.6), (10, 0.9)])
def test_of_few_grades_the_intervals_cover_as_those_of_the_grades_alone(graded, accuracy):
    rng, times, rest = np.random.default_rng(5), 4000, 10 * graded
    covered = dict.fromkeys(("grades alone", "in sample", "cross-fitted"), 0)
    for _ in range(times):
        truth = rng.normal(size=graded + rest)
        noise = rng.normal(size=graded + rest)
        judge = accuracy * truth + np.sqrt(1 - accuracy**2) * noise
        grades = np.where(np.arange(graded + rest) < graded, truth, NAN)
        # As it was before: one weight, from the grades that it is used on.
        slope = np.cov(truth[:graded], judge[:graded])[0, 1] / np.var(judge, ddof=1)
        fitted = min(1, max(0, slope / 1.1))
        for name, weight in zip(covered, (0, fitted, None), strict=True):
            found = estimate_powered_mean(grades, judge, weight=weight)
            covered[name] += found.low <= 0 <= found.high
    shares = {name: count / times for name, count in covered.items()}
    error = np.sqrt(0.05 * 0.95 / times)  # .0034
    print(f"{graded} grades, accuracy {accuracy}: {shares}, error {error:.4f}")
    assert shares["cross-fitted"] >= 0.95 - 5 * error
    assert shares["in sample"] < shares["cross-fitted"] - 2 * error


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
