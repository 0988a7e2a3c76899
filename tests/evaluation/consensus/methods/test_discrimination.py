"""Question weights: item-rest correlations."""

import numpy as np
import pytest

from evaluation.consensus import AQER
from evaluation.consensus.methods.fixed_point import compute_item_rest_weights
from evaluation.core.stats.cells import Cells


def weights_of(table, times=None):
    """Weights from a table of scores (workers x questions, NaN for no answer), by question."""
    table = np.asarray(table, float)
    worker, question = np.nonzero(~np.isnan(table))
    cells = Cells.from_codes(worker, question, *table.shape)
    scores = table[cells.worker, cells.question][:, None]
    drawn = np.ones(table.shape[1]) if times is None else np.asarray(times, float)
    found = compute_item_rest_weights(scores, drawn[cells.question][:, None], cells)
    return cells.to_questions(found[:, 0])


def test_weights_by_hand():
    # Questions 0 and 1 agree up to a factor: rest of 0 is (s1 + s2)/2. Question 2 is reversed.
    s0, s1, s2 = np.arange(5.0), 3 * np.arange(5.0), -np.arange(5.0)
    # rest of 0 = (3 - 1)/2 x = x: 1; of 1 = (1 - 1)/2 x = 0: no spread: 0; of 2 = 2x: -1, so 0
    assert weights_of(np.column_stack([s0, s1, s2])) == pytest.approx([1, 0, 0])


def test_weights_agree_with_numpys_correlation():
    table = np.random.default_rng(0).standard_normal((8, 4)) + np.arange(8)[:, None] / 3
    rest = (table.sum(axis=1, keepdims=True) - table) / 3
    expected = [max(0.0, np.corrcoef(table[:, j], rest[:, j])[0, 1]) for j in range(4)]
    assert weights_of(table) == pytest.approx(expected)


def test_fewer_than_five_answerers_get_the_median():
    rng = np.random.default_rng(1)
    table = rng.standard_normal((8, 4)) / 2 + np.arange(8)[:, None] / 3
    table[4:, 3] = np.nan
    found = weights_of(table)
    assert found[3] == pytest.approx(np.median(found[:3]))
    table[4, 3] = 1.0  # the fifth
    assert weights_of(table)[3] != pytest.approx(np.median(weights_of(table)[:3]))


def test_without_a_question_of_five_answerers_all_are_equal():
    assert weights_of(np.random.default_rng(2).standard_normal((4, 3))).tolist() == [1, 1, 1]


def test_all_zero_becomes_equal():
    x = np.arange(6.0)
    assert weights_of(np.column_stack([x, -x])).tolist() == [1, 1]
    assert weights_of(np.ones((6, 3)) * 0.3).tolist() == [1, 1, 1]


def test_a_worker_without_another_question_takes_no_part():
    table = np.random.default_rng(3).standard_normal((7, 3)) + np.arange(7)[:, None]
    lonely = np.vstack([table, [50.0, np.nan, np.nan]])
    assert weights_of(lonely) == pytest.approx(weights_of(table))


def test_copies_of_a_question_in_a_draw_are_not_other_questions():
    # Drawn 2, 1, 0 times: the rest of question 0 is question 1 alone, and the reverse.
    table = np.random.default_rng(4).standard_normal((7, 3)) + np.arange(7)[:, None] / 2
    r = np.corrcoef(table[:, 0], table[:, 1])[0, 1]
    assert weights_of(table, [2, 1, 0])[:2] == pytest.approx([r, r])


def test_a_worker_who_answered_only_worthless_questions_has_no_raw_score():
    # Question 3 sets the last worker alone apart from nothing: all answer it alike, q = 0.
    rng = np.random.default_rng(5)
    truth = rng.standard_normal((3, 6))
    x, workers, questions = [], [], []
    for i in range(7):
        for j in range(3):
            x.append(truth[j] + (0.3 + i / 2) * rng.standard_normal(6))
            workers.append(i)
            questions.append(j)
    for i in range(8):
        x.append(np.ones(6))
        workers.append(i)
        questions.append(3)
    found = AQER(discrimination=True, n_draws=0).fit(np.array(x), workers, questions)
    assert np.isnan(found.raw_[7])
    assert found.weights_[7] == 0
