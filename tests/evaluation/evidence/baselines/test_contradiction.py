"""An entailment model as a method: whom each answer is held against, and what that is worth."""

import numpy as np
import pytest

from evaluation.evidence.baselines import CONTRADICTION, METHODS, Corpus, Crowd, UnavailableError

# Answers to one question on a line of angles; the middle one is nearest to the mean.
ANGLES = np.array([0.0, 0.2, 0.25, 0.5, 1.4])
X = np.column_stack([np.cos(ANGLES), np.sin(ANGLES)])


def crowd(contradicts, voting=None):
    corpus = Corpus(list("abcde"), ["q"] * 5, lambda _: X, contradicts=contradicts)
    return Crowd(corpus, np.arange(5), np.arange(5), voting)


def test_each_answer_is_held_against_the_exemplary_one_and_that_against_the_next():
    asked = []

    def contradicts(pairs):
        asked.append(pairs.tolist())
        return np.array([0.1 * one + 0.01 * other for one, other in pairs.tolist()])

    here = crowd(contradicts)
    near = np.argsort(-METHODS["aqer"].score_answers(here))
    best, next_best = near[:2].tolist()
    scores = CONTRADICTION.score_answers(here)
    assert asked == [[[best if at != best else next_best, at] for at in range(5)]]
    wanted = [-(0.1 * (best if at != best else next_best) + 0.01 * at) for at in range(5)]
    np.testing.assert_allclose(scores, wanted)
    # One answer of each worker, so their scores are the answers'.
    np.testing.assert_allclose(CONTRADICTION.score(here), wanted)


def test_who_does_not_vote_is_held_against_a_voter():
    asked = []

    def contradicts(pairs):
        asked.extend(pairs[:, 0].tolist())
        return np.zeros(len(pairs))

    CONTRADICTION.score_answers(crowd(contradicts, np.array([True, False, False, True, False])))
    assert set(asked) == {0, 3}


def test_without_a_model_there_is_a_reason_and_no_number():
    with pytest.raises(UnavailableError, match="no_nli_model"):
        CONTRADICTION.score(crowd(None))


def test_an_only_answer_contradicts_nobody():
    corpus = Corpus(["a"], ["q"], lambda _: X[:1], contradicts=lambda pairs: np.zeros(len(pairs)))
    assert np.isnan(CONTRADICTION.score_answers(Crowd(corpus, np.array([0]), np.array([0])))).all()
