import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score, f1_score, precision_score, recall_score

from evaluation.multiqa.methods import Panel, compute_robustness
from evaluation.umwp.methods.detection import (
    Draws,
    compute_annotator_agreement,
    compute_classifier_agreement,
    compute_pair_agreement,
    find_majority_labels,
)

NO_DRAWS = Draws(0)


def test_a_majority_needs_more_than_any_other_label():
    votes = np.array([[0, 0, 1], [0, 1, -1], [2, 2, -1], [-1, -1, -1], [0, 1, 2], [1, -1, -1]])
    assert find_majority_labels(votes, 3).tolist() == [0, -1, 2, -1, -1, 1]


def test_two_annotators_are_compared_where_both_said_something():
    one, other = np.array([0, 0, 1, 1, -1, 2]), np.array([0, 1, 1, 1, 0, -1])
    found = compute_pair_agreement(one, other, 3, np.arange(6), NO_DRAWS)
    assert (found.n, found.value) == (
        4,
        pytest.approx(cohen_kappa_score([0, 0, 1, 1], [0, 1, 1, 1])),
    )


def test_what_is_undefined_says_why():
    nobody, yes = np.array([-1, -1]), np.array([0, 0])
    problems = np.arange(2)
    assert compute_pair_agreement(nobody, yes, 3, problems, NO_DRAWS).reason == "no_labels"
    assert compute_pair_agreement(yes, yes, 3, problems, NO_DRAWS).reason == "one_label_throughout"
    alone = np.array([[0, -1], [-1, 1]])
    assert (
        compute_annotator_agreement(alone, 3, problems, NO_DRAWS).reason
        == "fewer_than_2_annotators"
    )
    same = compute_annotator_agreement(np.zeros((2, 2), dtype=int), 3, problems, NO_DRAWS)
    assert (same.value, same.reason, same.n) == (None, "one_label_throughout", 2)


def test_fleiss_kappa_of_annotators_pools_ratings_as_multiqa_does():
    # Three annotators of a reply, two of two others: pairs that agree 1/3, 1 and 0, mean
    # 4/9. Of their 7 labels 5 are 0 and 2 are 1. A reply with one label does not count.
    votes = np.array([[0, 0, 1], [0, 0, -1], [0, 1, -1], [1, -1, -1]])
    by_chance = (5 / 7) ** 2 + (2 / 7) ** 2
    expected = (4 / 9 - by_chance) / (1 - by_chance)
    kappa = compute_annotator_agreement(votes, 2, np.arange(4), NO_DRAWS)
    assert kappa.value == pytest.approx(expected)
    panel = Panel.from_arrays(votes, np.zeros(votes.shape, dtype=bool), 2, votes >= 0)
    assert compute_robustness(panel, n_draws=0).estimates["fleiss_kappa"].value == pytest.approx(
        expected
    )


def test_weights_make_the_numbers_those_of_all_replies():
    # Of 20 replies classified yes all were labelled, of 180 classified no a tenth, which had 3
    # missed: as if each of these stood there ten times.
    classifier = np.array([True] * 20 + [False] * 18)
    people = np.array([True] * 15 + [False] * 5 + [True] * 3 + [False] * 15)
    weights = np.where(classifier, 1.0, 10.0)
    found = compute_classifier_agreement(people, classifier, weights, np.arange(38), NO_DRAWS)
    whole = np.repeat(people, weights.astype(int)), np.repeat(classifier, weights.astype(int))
    assert found["classifier_precision"].value == pytest.approx(precision_score(*whole))
    assert found["classifier_recall"].value == pytest.approx(recall_score(*whole)) == 15 / 45
    assert found["classifier_f1"].value == pytest.approx(f1_score(*whole))
    assert found["classifier_weighted_kappa"].value == pytest.approx(cohen_kappa_score(*whole))
    assert found["classifier_kappa"].value == pytest.approx(cohen_kappa_score(people, classifier))
    assert found["classifier_agreement"].value == pytest.approx(30 / 38)
    assert {one.n for one in found.values()} == {38}


def test_replies_to_one_problem_are_drawn_together():
    rng = np.random.default_rng(0)
    people = rng.random(40) < 0.5
    classifier = np.where(rng.random(40) < 0.8, people, ~people)
    arguments = (np.ones(200), Draws(200, 1))

    def width(problems):
        copies = np.repeat(people, 5), np.repeat(classifier, 5)
        found = compute_classifier_agreement(*copies, arguments[0], problems, arguments[1])
        one = found["classifier_agreement"]
        return one.high - one.low

    # Five equal replies to a problem tell no more than one: five times too many problems would
    # make the interval about sqrt(5) times too narrow.
    ratio = width(np.repeat(np.arange(40), 5)) / width(np.arange(200))
    assert ratio == pytest.approx(5**0.5, rel=0.3)
