"""What scores of single answers are worth, on two questions reckoned by hand."""

import numpy as np
import pytest

from evaluation.evidence.baselines import METHODS, Corpus, Method
from evaluation.evidence.baselines.corpus import MeanAnswerScore
from evaluation.evidence.labelled_crowd import LabelledCrowd
from evaluation.evidence.method_comparison import (
    BEST,
    NO_ANSWER_SCORES,
    NO_PAIRS,
    WITHIN,
    measure_answer_scores,
)

QUESTIONS = [1, 1, 1, 1, 2, 2, 2, 2]
WORKERS = ["ann", "bob", "cy", "dan"] * 2
LABELS = np.array(["right", "right", "wrong", "against"] * 2)
VALUES = (LABELS == "right").astype(float)
# Question 1: as it should be. Question 2: the wrong one is on top, two right ones below.
SCORES = np.array([0.9, 0.8, 0.2, 0.1, 0.5, 0.4, 0.6, 0.3])
CONTRASTS = {
    "right over against": (LABELS == "right", LABELS == "against"),
    "wrong over against": (LABELS == "wrong", LABELS == "against"),
    "right over nothing": (LABELS == "right", LABELS == "no such"),
}


def measured(method, values=VALUES):
    of = Corpus(["x"] * 8, QUESTIONS, lambda _: np.eye(8))
    trial = LabelledCrowd(of, WORKERS, values).build_trial()
    return {
        one.measure: one.estimate
        for one in measure_answer_scores("all", trial, values, method, CONTRASTS)
    }


def giving(scores):
    return Method("m", MeanAnswerScore(lambda crowd: np.asarray(scores)[crowd.rows]))


def test_the_correlation_is_that_within_each_question_and_their_mean():
    one = np.corrcoef(SCORES[:4], VALUES[:4])[0, 1]
    two = np.corrcoef(SCORES[4:], VALUES[4:])[0, 1]
    found = measured(giving(SCORES))[WITHIN]
    assert found.value == pytest.approx((one + two) / 2)
    assert found.n_clusters == 2


def test_a_question_whose_answers_are_worth_the_same_is_left_out_of_the_correlation():
    values = VALUES.copy()
    values[4:] = 1.0
    found = measured(giving(SCORES), values)[WITHIN]
    assert found.value == pytest.approx(np.corrcoef(SCORES[:4], VALUES[:4])[0, 1])
    assert found.n_clusters == 1
    assert found.low is None


def test_the_best_answer_of_a_question_is_worth_what_it_is_worth_and_ties_their_mean():
    assert measured(giving(SCORES))[BEST].value == pytest.approx((1 + 0) / 2)
    # Question 2: a right and a wrong one are on top alike.
    tied = np.array([0.9, 0.8, 0.2, 0.1, 0.6, 0.4, 0.6, 0.3])
    assert measured(giving(tied))[BEST].value == pytest.approx((1 + 0.5) / 2)


def test_an_auc_counts_the_pairs_of_all_questions():
    found = measured(giving(SCORES))
    # .9 .8 .5 .4 against .1 and .3: all 8 pairs. .2 and .6 against .1 and .3: 3 of 4.
    assert found["right over against"].value == 1.0
    assert found["wrong over against"].value == 0.75
    assert found["right over nothing"].value is None
    assert found["right over nothing"].reason == NO_PAIRS


def test_answers_without_a_score_are_left_out():
    scores = SCORES.copy()
    scores[2] = np.nan
    # .6 alone against .1 and .3.
    assert measured(giving(scores))["wrong over against"].value == 1.0


def test_a_method_that_scores_only_workers_has_empty_rows_with_the_reason():
    found = measured(METHODS["rasa"])
    assert {one.reason for one in found.values()} == {NO_ANSWER_SCORES}
    assert {one.reason for one in measured(METHODS["judge"]).values()} == {"no_judge"}


@pytest.mark.parametrize("name", ["aqer", "leave_one_out", "tfidf_char+standardised", "mean_vote"])
def test_a_worker_is_scored_by_what_the_method_says_of_its_answers(name):
    rng = np.random.default_rng(3)
    x = rng.normal(size=(24, 5)) + 1
    of = Corpus(["x"] * 24, np.tile(np.arange(4), 6), lambda _: x)
    crowd = LabelledCrowd(of, np.repeat(np.arange(6), 4), np.ones(24)).build_trial().crowd
    method = METHODS[name]
    answers = method.score_answers(crowd)
    assert answers.shape == (24,)
    if "standardised" in name:
        by_question = [answers[crowd.questions == q].mean() for q in range(4)]
        assert by_question == pytest.approx([0] * 4, abs=1e-9)
    else:
        assert crowd.compute_worker_means(answers) == pytest.approx(method.score(crowd), abs=1e-4)
