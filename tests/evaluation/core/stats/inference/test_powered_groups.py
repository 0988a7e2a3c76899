"""Mean grades of workers out of few grades and many scores: by hand, and over seeded crowds."""

import numpy as np
import pytest
from scipy import stats

from evaluation.core.stats.inference.prediction_powered import (
    compute_weighted_mean,
    estimate_powered_group_means,
    estimate_powered_mean,
)

NAN = np.nan
HALVES = np.arange(0, 5.5, 0.5)
WORKERS, ANSWERS = 20, 50


def test_the_use_of_scores_is_learned_from_the_other_groups_by_hand():
    # Group b: grades 1..11 at scores 2, 4 .. 22: slope 1/2, of 10 grades beyond the first.
    b = np.arange(1.0, 12.0)
    # Group a: grades 2, 3, 3, 4, 3 at scores 1..5 (mean 3), none at 6 and 8 (mean 7).
    grades = [2, 3, 3, 4, 3, NAN, NAN, *b]
    scores = [1, 2, 3, 4, 5, 6, 8, *(2 * b)]
    a, _ = estimate_powered_group_means(grades, scores, ["a"] * 7 + ["b"] * 11)
    # lambda = N / (n + N) = 2/7, predictions s/2: 3 + 2/7 (7 - 3) / 2 = 3.5714.
    assert a.powered.mean == pytest.approx(3 + 2 / 7 * 2)
    assert a.powered.weight == pytest.approx(2 / 7)
    expected = estimate_powered_mean(grades[:7], np.array(scores[:7]) / 2, weight=2 / 7)
    assert a.powered == expected
    alone = stats.ttest_1samp(grades[:5], 0).confidence_interval()
    assert (a.graded.mean, a.graded.low, a.graded.high) == (
        3,
        pytest.approx(alone.low),
        pytest.approx(alone.high),
    )
    width = expected.high - expected.low
    assert a.narrower == pytest.approx(1 - width / (alone.high - alone.low))


def test_scores_that_go_against_the_grades_or_are_new_are_not_relied_on():
    b = np.arange(1.0, 12.0)
    for scores_of_b in (-b, np.full(11, 3.0), np.r_[b[:10], NAN]):  # the last: 9 to learn from
        grades, scores = [2, 3, 3, 4, 3, NAN, *b], [1, 2, 3, 4, 5, 6, *scores_of_b]
        a = estimate_powered_group_means(grades, scores, ["a"] * 6 + ["b"] * 11)[0]
        assert (a.powered.weight, a.powered.mean) == (0, 3)
        assert a.narrower == pytest.approx(0)


def test_few_or_equal_grades_have_a_mean_and_a_reason():
    few, equal = estimate_powered_group_means(
        [3, 4, 3, 4, NAN, *[5] * 6], np.arange(11), ["a"] * 5 + ["b"] * 6
    )
    assert (few.graded.mean, few.graded.low, few.graded.reason) == (
        3.5,
        None,
        "fewer_than_5_judged",
    )
    assert (equal.powered.mean, equal.powered.reason) == (5, "no_spread")
    assert equal.narrower is None
    assert estimate_powered_group_means([NAN, NAN], [1, 2], ["a", "a"]) == []  # nobody graded
    with pytest.raises(ValueError, match="groups"):
        estimate_powered_group_means([1, 2], [1, 2], ["a"])


def test_groups_whose_grades_stand_for_different_numbers_have_their_weighted_mean():
    b = np.arange(1.0, 12.0)
    grades, scores = [2, 3, 3, 4, 3, NAN, NAN, *b], [1, 2, 3, 4, 5, 6, 8, *(2 * b)]
    groups = ["a"] * 7 + ["b"] * 11
    plain = estimate_powered_group_means(grades, scores, groups)
    # What stands at things without a grade does not matter, nor what all of a group are times.
    alike = [4] * 5 + [NAN, 0] + [0.5] * 11
    assert estimate_powered_group_means(grades, scores, groups, weights=alike) == plain
    a, other = estimate_powered_group_means(
        grades, scores, groups, weights=[1, 1, 1, 1, 6, 1, 1, *[2] * 11]
    )
    # (2 + 3 + 3 + 4 + 6 x 3) / 10.
    assert a.powered.mean == a.graded.mean == pytest.approx(3)
    expected = compute_weighted_mean(grades[:5], [1, 1, 1, 1, 6])
    assert (a.powered.low, a.powered.high) == (expected.low, expected.high)
    assert (a.powered.weight, a.powered.n_graded, a.powered.n_predicted) == (0, 5, 2)
    assert a.narrower == 0
    assert other == plain[1]
    few = estimate_powered_group_means([2, 3, NAN], [1, 2, 3], ["a"] * 3, weights=[1, 2, 1])[0]
    assert (few.powered.mean, few.powered.reason) == (pytest.approx(8 / 3), "fewer_than_5_judged")
    # Where all are graded they stand for themselves.
    whole = estimate_powered_group_means([2, 3], [1, 2], ["a"] * 2, weights=[1, 2])[0]
    assert whole.powered.mean == 2.5
    with pytest.raises(ValueError, match="weights of"):
        estimate_powered_group_means([2, 3], [1, 2], ["a"] * 2, weights=[1])
    with pytest.raises(ValueError, match="above 0"):
        estimate_powered_group_means([2, NAN], [1, 2], ["a"] * 2, weights=[0, 1])


def crowd(rng, centre, accuracy):
    """Grades in half steps, what they are on average, scores that flatter weak workers, who."""
    ability = centre + 0.6 * rng.normal(size=WORKERS)
    noise = rng.normal(size=(WORKERS, ANSWERS))
    grades = np.clip(np.rint(2 * (ability[:, None] + noise)) / 2, 0, 5)
    below = stats.norm.cdf(HALVES[:-1] + 0.25 - ability[:, None])
    shares = np.diff(np.column_stack([np.zeros(WORKERS), below, np.ones(WORKERS)]))
    # A scale of its own, and weak workers get up to a tenth too much: 1 grade.
    flattered = np.where(ability < centre, 0.1, 0.0)[:, None]
    luck = rng.normal(size=noise.shape)
    scores = 0.6 + flattered + 0.1 * (accuracy * noise + np.sqrt(1 - accuracy**2) * luck)
    return grades, shares @ HALVES, scores, np.repeat(np.arange(WORKERS), ANSWERS)


@pytest.mark.long
@pytest.mark.parametrize(
    ("graded", "accuracy", "centre"),
    [(5, 0.7, 3.0), (5, 0.9, 3.0), (10, 0.0, 3.0), (10, 0.9, 3.0), (10, 0.7, 4.2), (20, 0.7, 3.0)],
)
def test_intervals_cover_the_true_means_though_the_score_is_wrong(graded, accuracy, centre):
    rng = np.random.default_rng(1)
    covered, widths, errors, naive = [], [], [], []
    for _ in range(100):
        grades, truth, scores, who = crowd(rng, centre, accuracy)
        picked = rng.random(grades.shape).argsort(axis=1) < graded
        for one in estimate_powered_group_means(
            np.where(picked, grades, NAN).ravel(), scores.ravel(), who
        ):
            true = truth[int(one.label)]
            if one.powered.low is not None and one.graded.low is not None:
                covered.append(one.powered.low <= true <= one.powered.high)
                width = one.graded.high - one.graded.low
                widths.append((one.powered.high - one.powered.low, width))
            errors.append(one.powered.mean - true)
        slope, level = np.polyfit(scores[picked], grades[picked], 1)
        naive.append(np.mean((level + slope * scores.mean(axis=1) - truth)[truth < centre]))
    # Of 2,000 intervals that cover 95% each, nearly all of the time between 93.5% and 96.5% do.
    assert len(covered) > 1950
    assert 0.93 <= np.mean(covered) <= 0.97
    assert abs(np.mean(errors)) < 0.03
    if accuracy > 0:
        # What scores alone, put on the scale of grades, would say of the weak is too much.
        assert np.mean(naive) > 0.2
        assert np.mean([one / alone for one, alone in widths]) < 0.95
    else:
        assert np.mean([one / alone for one, alone in widths]) < 1.02
