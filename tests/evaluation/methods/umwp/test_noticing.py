import numpy as np
import pytest
from sklearn.metrics import f1_score, precision_score, recall_score

from evaluation.methods.umwp.noticing import Taken, best_threshold, rates


def taken(unanswerable, positive, refused=None, right=None):
    n = len(unanswerable)
    columns = (unanswerable, positive, refused or [0] * n, right or [0] * n)
    return Taken(*(np.array(column, dtype=bool) for column in columns))


def test_by_hand():
    # Unanswerable: noticed, noticed, missed, refused; the others: taken for it, right, wrong,
    # refused.
    found = taken(
        [1, 1, 1, 1, 0, 0, 0, 0],
        [1, 1, 0, 0, 1, 0, 0, 0],
        [0, 0, 0, 1, 0, 0, 0, 1],
        [0, 0, 0, 0, 0, 1, 0, 0],
    )
    assert found.counts() == {
        "true_positives": 2,
        "false_positives": 1,
        "false_negatives": 1,
        "refusals": 2,
    }
    values = {name: (one.value, one.n) for name, one in rates(found, n_draws=0).items()}
    assert values == {
        "precision": (pytest.approx(2 / 3), 3),
        "recall": (pytest.approx(2 / 3), 3),
        "f1": (pytest.approx(4 / 6), 6),
        "answer_accuracy": (1 / 4, 4),
    }


def test_without_refusals_they_are_those_of_scikit_learn():
    rng = np.random.default_rng(2)
    label, positive = rng.random(200) < 0.5, rng.random(200) < 0.4
    found = rates(taken(label, positive), n_draws=50)
    assert found["precision"].value == pytest.approx(precision_score(label, positive))
    assert found["recall"].value == pytest.approx(recall_score(label, positive))
    assert found["f1"].value == pytest.approx(f1_score(label, positive))
    assert found["f1"].low < found["f1"].value < found["f1"].high


@pytest.mark.parametrize(
    ("unanswerable", "positive", "name", "reason"),
    [
        ([1, 0], [0, 0], "precision", "nothing_taken_for_unanswerable"),
        ([0, 0], [1, 0], "recall", "no_unanswerable_problem"),
        ([0, 0], [0, 0], "f1", "no_unanswerable_problem_and_none_taken_for_one"),
        ([1, 1], [0, 1], "answer_accuracy", "no_answerable_problem"),
    ],
)
def test_what_is_undefined_is_none_with_its_reason(unanswerable, positive, name, reason):
    found = rates(taken(unanswerable, positive))[name]
    assert (found.value, found.low, found.reason) == (None, None, reason)


def test_who_notices_nothing_has_an_f1_of_0():
    assert rates(taken([1, 0], [0, 0]), n_draws=0)["f1"].value == 0


def test_the_threshold_is_the_greatest_that_is_nearly_as_good_as_the_best():
    similarity = np.array([0.2, 0.3, 0.7, 0.9])
    label = np.array([False, False, True, True])
    # Between .3 and .7 all are right; above .7 one of two is lost: 2/3.
    assert best_threshold(similarity, np.zeros(4, bool), label) == pytest.approx(0.5)
    # Of a hundred above .7 the lowest may be lost: F1 2 * 99 / 199 = .995.
    similarity = np.concatenate([[0.2], np.linspace(0.7, 0.9, 100)])
    many = best_threshold(similarity, np.zeros(101, bool), similarity > 0.5)
    # .95 is reached by k of 100 where 2k / (k + 100) >= .95: k = 91, nine are below.
    assert many == pytest.approx((similarity[9] + similarity[10]) / 2)
    # What an expression tells needs no similarity.
    assert (
        best_threshold(np.array([0.1, 0.6]), np.array([True, False]), np.array([1, 0], bool)) > 0.6
    )
