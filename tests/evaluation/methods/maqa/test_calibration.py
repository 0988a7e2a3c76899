import numpy as np
import pytest
from sklearn.calibration import calibration_curve
from sklearn.metrics import auc, roc_auc_score
from sklearn.metrics import roc_curve as roc_of_sklearn

from evaluation.methods.inference.draws import multiplicities
from evaluation.methods.maqa.calibration import calibration, roc_curve


def test_the_curve_is_straight_between_the_steps_of_equal_sureness():
    # Surest first: right, then a right and a wrong one alike, then wrong.
    found = roc_curve([0.9, 0.5, 0.5, 0.1], [1, 1, 0, 0], range(4), n_draws=0, n_points=5)
    # (0, 1/2), (1/2, 1), (1, 1): at 1/4 half way between 1/2 and 1.
    assert [(one.false_alarms, one.found) for one in found] == [
        (0, 0.5), (0.25, 0.75), (0.5, 1), (0.75, 1), (1, 1),
    ]  # fmt: skip


@pytest.mark.parametrize("seed", range(4))
def test_the_curve_and_its_area_are_those_of_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    sure = rng.integers(0, 9, 200) / 9
    right = rng.random(200) < 0.2 + 0.6 * sure
    found = roc_curve(sure, right, range(200), n_draws=0, n_points=2001)
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
    found = roc_curve(sure, right, items, n_draws=60, seed=2, n_points=3)
    known, place = np.unique(items, return_inverse=True)
    middle = []
    for weights in np.vstack(list(multiplicities(len(known), 60, 2))):
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
    assert roc_curve([0.5] * len(right), right, range(len(right))) == []


def test_the_error_is_the_distance_weighted_by_cases():
    # Bin .0-.1: .05 twice, one right: |.05 - .5| = .45. Last bin: 1 and .9, both right: .05.
    found = calibration([0.05, 0.05, 1.0, 0.9], [1, 0, 1, 1], [0, 1, 2, 3], n_draws=0)
    assert found.error.value == pytest.approx((2 * 0.45 + 2 * 0.05) / 4)
    first, last = found.bins
    assert (first.start, first.end, first.n, first.accuracy) == (0, 0.1, 2, 0.5)
    assert (last.start, last.end, last.n, last.accuracy) == (0.9, 1, 2, 1)
    assert last.confidence == pytest.approx(0.95)


def test_bins_are_those_of_scikit_learn_and_intervals_draw_questions():
    rng = np.random.default_rng(5)
    said, items = rng.random(600), rng.integers(0, 80, 600)
    right = rng.random(600) < said**2
    found = calibration(said, right, items, seed=3)
    share, mean = calibration_curve(right, said, n_bins=10)
    assert [one.accuracy for one in found.bins] == pytest.approx(share)
    assert [one.confidence for one in found.bins] == pytest.approx(mean)
    n = np.array([one.n for one in found.bins])
    assert found.error.value == pytest.approx((n * np.abs(share - mean)).sum() / 600)
    assert found.error.low < found.error.value < found.error.high
    assert all(one.low <= one.accuracy <= one.high for one in found.bins)
    clustered = calibration(np.repeat(said, 5), np.repeat(right, 5), np.repeat(range(600), 5))
    alone = calibration(np.repeat(said, 5), np.repeat(right, 5), range(3000))
    assert clustered.error.high - clustered.error.low > alone.error.high - alone.error.low


def test_without_a_case_nothing_is_defined():
    found = calibration([], [], [])
    assert (found.error.value, found.error.reason, found.bins) == (None, "no_cases", ())
