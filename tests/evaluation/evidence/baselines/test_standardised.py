import numpy as np

from evaluation.consensus import AQER
from evaluation.evidence.baselines import Crowd
from evaluation.evidence.baselines.weighting import StandardisedScores
from tests.evaluation.evidence.baselines.world import corpus, random_crowd


def test_scores_are_z_scores_weighted_by_their_correlation_with_the_rest():
    drawn = random_crowd(14)
    found = StandardisedScores()(drawn)
    plain = AQER(n_draws=0, leave_one_out=True, discrimination=True)
    plain.fit(drawn.corpus.vectors("any")[drawn.rows], drawn.workers, drawn.questions)
    table = np.empty((7, 6))
    table[drawn.workers, drawn.questions] = plain.leave_one_out_scores_
    z = (table - table.mean(axis=0)) / table.std(axis=0)
    rest = (z.sum(axis=1, keepdims=True) - z) / 5
    q = [max(0, np.corrcoef(z[:, j], rest[:, j])[0, 1]) for j in range(6)]
    np.testing.assert_allclose(found, z @ q / np.sum(q), rtol=1e-6)


def test_a_question_without_spread_counts_for_nothing():
    # On the second question all write the same.
    vectors = np.array([[1, 0], [1, 0.2], [0.1, 1], [1, 1], [1, 1], [1, 1.0]])
    of = corpus(["x"] * 6, [1, 1, 1, 2, 2, 2], vectors)
    both = Crowd(of, np.arange(6), np.array([0, 1, 2, 0, 1, 2]))
    one = both.select_answers(np.arange(6) < 3)
    np.testing.assert_allclose(StandardisedScores()(both), StandardisedScores()(one))
    assert np.argmin(StandardisedScores()(both)) == 2
