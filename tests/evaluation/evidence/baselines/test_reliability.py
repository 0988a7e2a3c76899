import numpy as np
import pytest
from scipy import stats

from evaluation.evidence.baselines import METHODS, Crowd
from evaluation.evidence.baselines.overlap import compute_sentence_gleu, split_words
from tests.evaluation.evidence.baselines.world import corpus, crowd, random_crowd


def test_the_first_rounds_of_rasa_by_hand():
    # One question, (1, 0), (0, 1), (0, 1), one answer each: the quantile c is the same for all.
    of = corpus(["a", "b", "c"], [1, 1, 1], np.array([[1.0, 0], [0, 1], [0, 1]]))
    found = METHODS["rasa"].score(crowd(of=of, workers=np.arange(3)))
    c = stats.chi2.isf(0.025, 1)
    skill = np.ones(3)
    for _ in range(100):
        second = (skill[1] + skill[2]) / skill.sum()  # the mean is (1 - second, second)
        first_apart, other_apart = 2 * second**2, 2 * (1 - second) ** 2
        skill = c / np.maximum([first_apart, other_apart, other_apart], 1e-5)
    np.testing.assert_allclose(found, skill, rtol=1e-3)
    assert found[0] < found[1] == found[2]


def frame(drawn):
    import pandas as pd

    x = drawn.corpus.vectors("any")[drawn.rows]
    return pd.DataFrame(
        {
            "task": drawn.questions,
            "worker": drawn.workers,
            "output": [drawn.corpus.texts[row] for row in drawn.rows],
            "embedding": list(x),
        }
    )


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("leave_out", [0.0, 0.3])
def test_rasa_is_crowd_kits(leave_out):
    aggregation = pytest.importorskip("crowdkit.aggregation")
    drawn = random_crowd(1, leave_out=leave_out)
    theirs = aggregation.RASA().fit(frame(drawn)).skills_.loc[range(7)]
    np.testing.assert_allclose(METHODS["rasa"].score(drawn), theirs, rtol=1e-12)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("leave_out", [0.0, 0.3])
def test_hrrasa_is_crowd_kits_with_gleu_between_words(leave_out):
    aggregation = pytest.importorskip("crowdkit.aggregation")
    drawn = random_crowd(2, leave_out=leave_out)

    def gleu(answer, other):
        return compute_sentence_gleu(split_words(answer), split_words(other))

    theirs = aggregation.HRRASA(output_similarity=gleu).fit(frame(drawn)).skills_.loc[range(7)]
    np.testing.assert_allclose(METHODS["hrrasa"].score(drawn), theirs, rtol=1e-12)


def test_hrrasa_leaves_out_a_question_with_a_single_answer():
    of = corpus(["a b", "a c", "d", "e"], [1, 1, 1, 2], np.eye(4))
    with_single = crowd(of=of, workers=np.array([0, 1, 2, 0]))
    without = Crowd(of, np.arange(3), np.arange(3))
    np.testing.assert_allclose(
        METHODS["hrrasa"].score(with_single), METHODS["hrrasa"].score(without)
    )


def test_a_worker_without_answers_has_no_reliability():
    of = corpus(["a b", "a c", "d"], [1, 1, 1], np.eye(3))
    everyone = np.ones(4, dtype=bool)
    found = METHODS["rasa"].score(crowd(of=of, workers=np.arange(3), voting=everyone))
    assert np.isnan(found).tolist() == [False, False, False, True]
