import numpy as np
import pytest
from sklearn.calibration import calibration_curve
from sklearn.metrics import auc, average_precision_score, roc_auc_score
from sklearn.metrics import roc_curve as roc_of_sklearn

from evaluation.core.stats.inference.intervals import (
    compute_widened_percentile_interval,
    draw_multiplicities,
)
from evaluation.maqa.methods import calibration as module
from evaluation.maqa.methods.calibration import (
    compare_aurocs,
    compute_discrimination,
    compute_roc_curve,
    measure_calibration,
)


def test_by_hand_with_a_tie():
    # Right .9 and .5, wrong .5 and .1: pairs 1, 1, 1/2, 1 of 4.
    # Precision: 1 at .9; at .5 both come at once, 2 of 3: (1 + 2/3) / 2.
    area, average = compute_discrimination([0.9, 0.5, 0.5, 0.1], [1, 1, 0, 0], [0, 1, 2, 3], 0)
    assert (area.value, area.n, area.reason) == (3.5 / 4, 4, "no_draws")
    assert average.value == pytest.approx(5 / 6)


@pytest.mark.parametrize("rows", [1, 2, 3, 7, 12])
def test_sums_by_strips_are_those_of_row_after_row(rows, monkeypatch):
    monkeypatch.setattr(module, "_STRIP", 3)
    rng = np.random.default_rng(rows)
    counts, before = rng.integers(0, 9, (rows, 4)), rng.integers(0, 9, 4)
    assert (
        module._compute_running_sums(counts, before) == before + np.cumsum(counts, axis=0)
    ).all()


@pytest.mark.parametrize("seed", range(5))
def test_values_and_every_draw_are_those_of_scikit_learn(seed, monkeypatch):
    # In parts, as many cases are.
    monkeypatch.setattr(module, "_GROUPS", 5)
    monkeypatch.setattr(module, "_STRIP", 2)
    monkeypatch.setattr(module, "_DRAWS", 7)
    rng = np.random.default_rng(seed)
    n, items = 120, 30
    sure = rng.integers(0, 12, n) / 12.0
    right = rng.random(n) < 0.2 + 0.6 * sure
    of = rng.integers(0, items, n)
    area, average = compute_discrimination(sure, right, of, n_draws=40, seed=seed)
    assert area.value == pytest.approx(roc_auc_score(right, sure))
    assert average.value == pytest.approx(average_precision_score(right, sure))
    known, place = np.unique(of, return_inverse=True)
    drawn = []
    for weights in np.vstack(list(draw_multiplicities(len(known), 40, seed))):
        times = weights[place].astype(int)
        many, good = np.repeat(sure, times), np.repeat(right, times)
        drawn.append((roc_auc_score(good, many), average_precision_score(good, many)))
    expected = compute_widened_percentile_interval(np.array(drawn).T, len(known))
    assert (area.low, area.high) == pytest.approx((expected.low[0], expected.high[0]))
    assert (average.low, average.high) == pytest.approx((expected.low[1], expected.high[1]))


def test_intervals_draw_whole_questions_and_n_counts_cases():
    rng = np.random.default_rng(0)
    sure = np.repeat(rng.random(20), 10)
    right = np.repeat(rng.random(20) < 0.5, 10)
    clustered, _ = compute_discrimination(sure, right, np.repeat(np.arange(20), 10))
    alone, _ = compute_discrimination(sure, right, np.arange(200))
    assert clustered.n == alone.n == 200
    assert clustered.high - clustered.low > 2 * (alone.high - alone.low)


@pytest.mark.parametrize(
    ("right", "reason"), [([1, 1], "all_right"), ([0, 0], "none_right"), ([], "no_cases")]
)
def test_with_one_kind_only_both_are_undefined(right, reason):
    area, average = compute_discrimination([0.5] * len(right), right, list(range(len(right))))
    assert (area.value, area.reason, average.value, average.reason) == (None, reason, None, reason)


def test_one_question_has_no_interval():
    area, _ = compute_discrimination([0.9, 0.1], [True, False], [7, 7])
    assert (area.value, area.low, area.reason) == (1.0, None, "fewer_than_2_items")


def test_the_difference_of_two_systems_draws_their_common_questions_once():
    rng = np.random.default_rng(4)
    items = np.repeat(np.arange(40), 3)
    right = rng.random(120) < 0.5
    good = right + rng.normal(0, 0.5, 120)
    bad = right + rng.normal(0, 3, 120)
    # The second system has questions of its own, which do not count.
    more = (np.append(bad, [9, 9]), np.append(right, [0, 1]), np.append(items, [77, 78]))
    found = compare_aurocs((good, right, items), more, n_draws=60, seed=1)
    value = roc_auc_score(right, good) - roc_auc_score(right, bad)
    assert (found.value, found.n) == (pytest.approx(value), 40)
    drawn = []
    for weights in np.vstack(list(draw_multiplicities(40, 60, 1))):
        times = weights[items].astype(int)
        label = np.repeat(right, times)
        both = (roc_auc_score(label, np.repeat(of, times)) for of in (good, bad))
        drawn.append(next(both) - next(both))
    expected = compute_widened_percentile_interval(np.array([drawn]), 40)
    assert (found.low, found.high) == pytest.approx((expected.low[0], expected.high[0]))
    # Of the same system it is 0, whatever is drawn.
    same = compare_aurocs((good, right, items), (good, right, items), n_draws=20)
    assert (same.value, same.low, same.high) == (0, 0, 0)


def test_a_difference_without_both_kinds_on_both_sides_is_undefined():
    one = ([0.1, 0.9], [0, 1], [0, 1])
    assert compare_aurocs(one, ([0.5, 0.6], [1, 1], [0, 1])).reason == "all_right"
    assert compare_aurocs(([0.5, 0.6], [0, 0], [0, 1]), one).reason == "none_right"
    assert compare_aurocs(one, ([0.5], [1], [7])).reason == "no_cases"


def test_the_curve_is_straight_between_the_steps_of_equal_sureness():
    # Surest first: right, then a right and a wrong one alike, then wrong.
    found = compute_roc_curve([0.9, 0.5, 0.5, 0.1], [1, 1, 0, 0], range(4), n_draws=0, n_points=5)
    # (0, 1/2), (1/2, 1), (1, 1): at 1/4 half way between 1/2 and 1.
    assert [(one.false_alarms, one.found) for one in found] == [
        (0, 0.5), (0.25, 0.75), (0.5, 1), (0.75, 1), (1, 1),
    ]  # fmt: skip


@pytest.mark.parametrize("seed", range(4))
def test_the_curve_and_its_area_are_those_of_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    sure = rng.integers(0, 9, 200) / 9
    right = rng.random(200) < 0.2 + 0.6 * sure
    found = compute_roc_curve(sure, right, range(200), n_draws=0, n_points=2001)
    false, hits, _ = roc_of_sklearn(right, sure, drop_intermediate=False)
    at = np.array([one.false_alarms for one in found])
    # Beside the jumps straight up, where two heights stand over one place.
    inner = ~np.isin(at, false)
    ours = np.array([one.found for one in found])
    assert ours[inner] == pytest.approx(np.interp(at, false, hits)[inner])
    assert auc(at, ours) == pytest.approx(roc_auc_score(right, sure), abs=1e-3)


def test_intervals_are_percentiles_of_curves_over_drawn_questions():
    rng = np.random.default_rng(1)
    sure, items = rng.random(120), rng.integers(0, 25, 120)
    right = rng.random(120) < sure
    found = compute_roc_curve(sure, right, items, n_draws=60, seed=2, n_points=3)
    known, place = np.unique(items, return_inverse=True)
    middle = []
    for weights in np.vstack(list(draw_multiplicities(len(known), 60, 2))):
        times = weights[place].astype(int)
        false, hits, _ = roc_of_sklearn(
            np.repeat(right, times), np.repeat(sure, times), drop_intermediate=False
        )
        middle.append(np.interp(0.5, false, hits))
    assert min(middle) <= found[1].low < found[1].found < found[1].high <= 1
    assert found[1].low == pytest.approx(np.quantile(middle, 0.025), abs=0.05)
    assert (found[2].found, found[2].low, found[2].high) == (1, 1, 1)


@pytest.mark.parametrize("right", [[], [1, 1], [0, 0]])
def test_without_both_kinds_there_is_no_curve(right):
    assert compute_roc_curve([0.5] * len(right), right, range(len(right))) == []


def test_the_error_is_the_distance_weighted_by_cases():
    # Bin .0-.1: .05 twice, one right: |.05 - .5| = .45. Last bin: 1 and .9, both right: .05.
    found = measure_calibration([0.05, 0.05, 1.0, 0.9], [1, 0, 1, 1], [0, 1, 2, 3], n_draws=0)
    assert found.error.value == pytest.approx((2 * 0.45 + 2 * 0.05) / 4)
    first, last = found.bins
    assert (first.start, first.end, first.n, first.accuracy) == (0, 0.1, 2, 0.5)
    assert (last.start, last.end, last.n, last.accuracy) == (0.9, 1, 2, 1)
    assert last.confidence == pytest.approx(0.95)


def test_bins_are_those_of_scikit_learn_and_intervals_draw_questions():
    rng = np.random.default_rng(5)
    said, items = rng.random(600), rng.integers(0, 80, 600)
    right = rng.random(600) < said**2
    found = measure_calibration(said, right, items, seed=3)
    share, mean = calibration_curve(right, said, n_bins=10)
    assert [one.accuracy for one in found.bins] == pytest.approx(share)
    assert [one.confidence for one in found.bins] == pytest.approx(mean)
    n = np.array([one.n for one in found.bins])
    assert found.error.value == pytest.approx((n * np.abs(share - mean)).sum() / 600)
    assert found.error.low < found.error.value < found.error.high
    assert all(one.low <= one.accuracy <= one.high for one in found.bins)
    clustered = measure_calibration(
        np.repeat(said, 5), np.repeat(right, 5), np.repeat(range(600), 5)
    )
    alone = measure_calibration(np.repeat(said, 5), np.repeat(right, 5), range(3000))
    assert clustered.error.high - clustered.error.low > alone.error.high - alone.error.low


def test_without_a_case_nothing_is_defined():
    found = measure_calibration([], [], [])
    assert (found.error.value, found.error.reason, found.bins) == (None, "no_cases", ())
