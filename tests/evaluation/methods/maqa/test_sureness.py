import numpy as np
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score

from evaluation.methods.inference.draws import multiplicities
from evaluation.methods.inference.intervals import widened_percentile_interval
from evaluation.methods.maqa import sureness
from evaluation.methods.maqa.sureness import area_difference, telling_apart


def test_by_hand_with_a_tie():
    # Right .9 and .5, wrong .5 and .1: pairs 1, 1, 1/2, 1 of 4.
    # Precision: 1 at .9; at .5 both come at once, 2 of 3: (1 + 2/3) / 2.
    area, average = telling_apart([0.9, 0.5, 0.5, 0.1], [1, 1, 0, 0], [0, 1, 2, 3], 0)
    assert (area.value, area.n, area.reason) == (3.5 / 4, 4, "no_draws")
    assert average.value == pytest.approx(5 / 6)


@pytest.mark.parametrize("rows", [1, 2, 3, 7, 12])
def test_sums_by_strips_are_those_of_row_after_row(rows, monkeypatch):
    monkeypatch.setattr(sureness, "_STRIP", 3)
    rng = np.random.default_rng(rows)
    counts, before = rng.integers(0, 9, (rows, 4)), rng.integers(0, 9, 4)
    assert (sureness._running(counts, before) == before + np.cumsum(counts, axis=0)).all()


@pytest.mark.parametrize("seed", range(5))
def test_values_and_every_draw_are_those_of_scikit_learn(seed, monkeypatch):
    # In parts, as many cases are.
    monkeypatch.setattr(sureness, "_GROUPS", 5)
    monkeypatch.setattr(sureness, "_STRIP", 2)
    monkeypatch.setattr(sureness, "_DRAWS", 7)
    rng = np.random.default_rng(seed)
    n, items = 120, 30
    sure = rng.integers(0, 12, n) / 12.0
    right = rng.random(n) < 0.2 + 0.6 * sure
    of = rng.integers(0, items, n)
    area, average = telling_apart(sure, right, of, n_draws=40, seed=seed)
    assert area.value == pytest.approx(roc_auc_score(right, sure))
    assert average.value == pytest.approx(average_precision_score(right, sure))
    known, place = np.unique(of, return_inverse=True)
    drawn = []
    for weights in np.vstack(list(multiplicities(len(known), 40, seed))):
        times = weights[place].astype(int)
        many, good = np.repeat(sure, times), np.repeat(right, times)
        drawn.append((roc_auc_score(good, many), average_precision_score(good, many)))
    expected = widened_percentile_interval(np.array(drawn).T, len(known))
    assert (area.low, area.high) == pytest.approx((expected.low[0], expected.high[0]))
    assert (average.low, average.high) == pytest.approx((expected.low[1], expected.high[1]))


def test_intervals_draw_whole_questions_and_n_counts_cases():
    rng = np.random.default_rng(0)
    sure = np.repeat(rng.random(20), 10)
    right = np.repeat(rng.random(20) < 0.5, 10)
    clustered, _ = telling_apart(sure, right, np.repeat(np.arange(20), 10))
    alone, _ = telling_apart(sure, right, np.arange(200))
    assert clustered.n == alone.n == 200
    assert clustered.high - clustered.low > 2 * (alone.high - alone.low)


@pytest.mark.parametrize(
    ("right", "reason"), [([1, 1], "all_right"), ([0, 0], "none_right"), ([], "no_cases")]
)
def test_with_one_kind_only_both_are_undefined(right, reason):
    area, average = telling_apart([0.5] * len(right), right, list(range(len(right))))
    assert (area.value, area.reason, average.value, average.reason) == (None, reason, None, reason)


def test_one_question_has_no_interval():
    area, _ = telling_apart([0.9, 0.1], [True, False], [7, 7])
    assert (area.value, area.low, area.reason) == (1.0, None, "fewer_than_2_items")


def test_the_difference_of_two_systems_draws_their_common_questions_once():
    rng = np.random.default_rng(4)
    items = np.repeat(np.arange(40), 3)
    right = rng.random(120) < 0.5
    good = right + rng.normal(0, 0.5, 120)
    bad = right + rng.normal(0, 3, 120)
    # The second system has questions of its own, which do not count.
    more = (np.append(bad, [9, 9]), np.append(right, [0, 1]), np.append(items, [77, 78]))
    found = area_difference((good, right, items), more, n_draws=60, seed=1)
    value = roc_auc_score(right, good) - roc_auc_score(right, bad)
    assert (found.value, found.n) == (pytest.approx(value), 40)
    drawn = []
    for weights in np.vstack(list(multiplicities(40, 60, 1))):
        times = weights[items].astype(int)
        label = np.repeat(right, times)
        both = (roc_auc_score(label, np.repeat(of, times)) for of in (good, bad))
        drawn.append(next(both) - next(both))
    expected = widened_percentile_interval(np.array([drawn]), 40)
    assert (found.low, found.high) == pytest.approx((expected.low[0], expected.high[0]))
    # Of the same system it is 0, whatever is drawn.
    same = area_difference((good, right, items), (good, right, items), n_draws=20)
    assert (same.value, same.low, same.high) == (0, 0, 0)


def test_a_difference_without_both_kinds_on_both_sides_is_undefined():
    one = ([0.1, 0.9], [0, 1], [0, 1])
    assert area_difference(one, ([0.5, 0.6], [1, 1], [0, 1])).reason == "all_right"
    assert area_difference(([0.5, 0.6], [0, 0], [0, 1]), one).reason == "none_right"
    assert area_difference(one, ([0.5], [1], [7])).reason == "no_cases"
