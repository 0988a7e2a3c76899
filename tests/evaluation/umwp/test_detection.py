import numpy as np
import pytest
from scipy.stats import binomtest, fisher_exact
from sklearn.metrics import f1_score, precision_score, recall_score

from evaluation.umwp.methods.detection import (
    Detections,
    choose_similarity_threshold,
    compute_detection_rates,
    compute_wilson_interval,
    measure_pattern_separation,
    order_candidates_greedily,
)


def taken(unanswerable, positive, refused=None, right=None):
    n = len(unanswerable)
    columns = (unanswerable, positive, refused or [0] * n, right or [0] * n)
    return Detections(*(np.array(column, dtype=bool) for column in columns))


def test_by_hand():
    # Unanswerable: noticed, noticed, missed, refused; the others: taken for it, right, wrong,
    # refused.
    found = taken(
        [1, 1, 1, 1, 0, 0, 0, 0],
        [1, 1, 0, 0, 1, 0, 0, 0],
        [0, 0, 0, 1, 0, 0, 0, 1],
        [0, 0, 0, 0, 0, 1, 0, 0],
    )
    assert found.count_cases() == {
        "true_positives": 2,
        "false_positives": 1,
        "false_negatives": 1,
        "refusals": 2,
    }
    values = {
        name: (one.value, one.n) for name, one in compute_detection_rates(found, n_draws=0).items()
    }
    assert values == {
        "precision": (pytest.approx(2 / 3), 3),
        "recall": (pytest.approx(2 / 3), 3),
        "f1": (pytest.approx(4 / 6), 6),
        "answer_accuracy": (1 / 4, 4),
    }


def test_without_refusals_they_are_those_of_scikit_learn():
    rng = np.random.default_rng(2)
    label, positive = rng.random(200) < 0.5, rng.random(200) < 0.4
    found = compute_detection_rates(taken(label, positive), n_draws=50)
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
    found = compute_detection_rates(taken(unanswerable, positive))[name]
    assert (found.value, found.low, found.reason) == (None, None, reason)


def test_who_notices_nothing_has_an_f1_of_0():
    assert compute_detection_rates(taken([1, 0], [0, 0]), n_draws=0)["f1"].value == 0


def test_the_threshold_is_the_greatest_that_is_nearly_as_good_as_the_best():
    similarity = np.array([0.2, 0.3, 0.7, 0.9])
    label = np.array([False, False, True, True])
    # Between .3 and .7 all are right; above .7 one of two is lost: 2/3.
    assert choose_similarity_threshold(similarity, np.zeros(4, bool), label) == pytest.approx(0.5)
    # Of a hundred above .7 the lowest may be lost: F1 2 * 99 / 199 = .995.
    similarity = np.concatenate([[0.2], np.linspace(0.7, 0.9, 100)])
    many = choose_similarity_threshold(similarity, np.zeros(101, bool), similarity > 0.5)
    # .95 is reached by k of 100 where 2k / (k + 100) >= .95: k = 91, nine are below.
    assert many == pytest.approx((similarity[9] + similarity[10]) / 2)
    # What an expression tells needs no similarity.
    assert (
        choose_similarity_threshold(
            np.array([0.1, 0.6]), np.array([True, False]), np.array([1, 0], bool)
        )
        > 0.6
    )


def test_a_pattern_in_positive_replies_only_separates_as_fisher_s_test_says():
    # Of 5 positive and 5 negative replies the first stands in 4 and 0, the second in 2 and 2.
    found = measure_pattern_separation(np.array([4, 2]), np.array([0, 2]), 5, 5)
    assert found.precision.tolist() == [1.0, 0.5]
    assert found.recall.tolist() == [0.8, 0.4]
    # All four of ten are positive: C(5,4) / C(10,4) = 5 / 210.
    assert found.p_value[0] == pytest.approx(5 / 210)
    second = fisher_exact([[2, 2], [3, 3]], alternative="greater").pvalue
    assert found.p_value[1] == pytest.approx(second)
    # Benjamini and Hochberg: the smaller of two is doubled.
    assert found.adjusted.tolist() == pytest.approx([10 / 210, second])


def test_a_pattern_that_stands_nowhere_has_no_precision():
    found = measure_pattern_separation(np.array([0]), np.array([0]), 3, 3)
    assert np.isnan(found.precision[0])
    assert found.p_value[0] == 1


def test_more_replies_than_there_are_are_refused():
    with pytest.raises(ValueError, match="fewer replies"):
        measure_pattern_separation(np.array([4]), np.array([0]), 3, 3)


def test_the_interval_is_that_of_scipy_and_none_of_nothing():
    interval = binomtest(7, 9).proportion_ci(0.95, method="wilson")
    assert compute_wilson_interval(7, 9) == (interval.low, interval.high)
    assert compute_wilson_interval(0, 0) is None


def test_each_choice_adds_most_to_those_before_it():
    covers = np.array([[1, 1, 0, 0, 0], [1, 1, 1, 0, 0], [0, 0, 0, 1, 1], [0, 0, 0, 0, 1]], bool)
    covered = np.array([1, 0, 0, 0, 0], bool)
    # 1 adds two (its first is there already), 2 as many but with two wrong ones, then nothing new.
    order = order_candidates_greedily(covers, covered, np.array([0, 1, 2, 0]))
    assert order == [(1, 2), (2, 2), (0, 0), (3, 0)]
    assert order_candidates_greedily(covers, covered, np.array([0, 3, 2, 0]))[0] == (2, 2)
    assert order_candidates_greedily(np.zeros((0, 5), bool), covered, np.zeros(0)) == []
