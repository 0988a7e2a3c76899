import numpy as np

from evaluation.evidence.baselines import METHODS, Crowd
from tests.evaluation.evidence.baselines.world import corpus, crowd, random_crowd


def test_the_frequent_answer_is_the_one_that_most_workers_give():
    # Question 1: all differ (the article and the comma are no excuse: only case and punctuation
    # are), so the first one, (1, 0), stands: cosines 1, .8, 0. Question 2: "pointers hold
    # addresses" twice, (1, 0): cosines 1, 1, 0.
    np.testing.assert_allclose(METHODS["frequent"].score(crowd()), [1, 0.9, 0], atol=1e-7)


def test_a_tie_goes_to_the_first_answer_of_the_corpus_however_it_was_dealt():
    of = corpus(["x", "y"], [1, 1], np.array([[1.0, 0], [0.6, 0.8]]))
    drawn = Crowd(of, np.array([1, 0]), np.array([0, 1]))
    np.testing.assert_allclose(METHODS["frequent"].score(drawn), [0.6, 1])


def test_mean_vote_is_the_cosine_to_the_plain_mean():
    # Question 1: mean (.6, 1.6/3), of length .8028; question 2: (2, 1)/3.
    mean = np.array([0.6, 1.6 / 3]) / np.hypot(0.6, 1.6 / 3)
    first = np.array([[1, 0], [0.8, 0.6], [0, 1]]) @ mean
    second = np.array([2, 2, 1]) / np.sqrt(5)
    np.testing.assert_allclose(METHODS["mean_vote"].score(crowd()), (first + second) / 2, rtol=1e-6)


def test_mean_vote_and_the_first_round_of_aqer_are_the_same():
    drawn = random_crowd(4, leave_out=0.2)
    np.testing.assert_allclose(
        METHODS["mean_vote"].score(drawn), METHODS["aqer_one_pass"].score(drawn)
    )


def test_the_reference_answer_takes_the_place_of_the_crowds():
    key = np.array([[0.0, 1.0], [1.0, 0.0]])
    drawn = crowd(of=corpus(references=lambda spec: key))
    # Question 1 by (0, 1): 0, .6, 1. Question 2 by (1, 0): 1, 1, 0.
    np.testing.assert_allclose(METHODS["reference_answer"].score(drawn), [0.5, 0.8, 0.5], rtol=1e-6)
