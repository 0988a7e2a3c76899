import numpy as np

from evaluation.evidence.baselines import METHODS
from evaluation.evidence.baselines.weighting import _compute_spaces
from tests.evaluation.evidence.baselines.world import corpus, crowd, random_crowd


def test_errors_are_consistent_and_true_answers_are_weighted_by_their_reciprocals():
    drawn = random_crowd(6, leave_out=0.2)
    found = METHODS["chai2022"].score(drawn)
    # Written plainly, question by question.
    total, count = np.zeros(7), np.zeros(7)
    for question in np.unique(drawn.questions):
        here = np.flatnonzero(drawn.questions == question)
        spaces = [x[drawn.rows[here]] for x in _compute_spaces(drawn.corpus)]
        error = np.ones(len(here))
        for _ in range(100):
            weights = 1 / np.maximum(error, 1e-6)
            truths = [np.average(x, axis=0, weights=weights) for x in spaces]
            apart = [np.linalg.norm(x - t, axis=1) for x, t in zip(spaces, truths, strict=True)]
            error = np.mean(apart, axis=0)
        total[drawn.workers[here]] += error
        count[drawn.workers[here]] += 1
    np.testing.assert_allclose(found, -total / count, atol=1e-5)


def test_two_who_agree_in_words_and_meaning_pull_the_answer_to_themselves():
    of = corpus(["a b", "a b", "c d"], [1, 1, 1], np.array([[1.0, 0], [1, 0], [0, 1]]))
    found = METHODS["chai2022"].score(crowd(of=of, workers=np.arange(3)))
    # The geometric median of two equal points and one other is the two: errors 0, 0 and sqrt(2).
    np.testing.assert_allclose(found, [0, 0, -np.sqrt(2)], atol=1e-4)
