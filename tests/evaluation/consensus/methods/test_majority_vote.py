"""Majority vote over binary bags of words (appendix G)."""

import numpy as np
import pytest
from scipy import sparse

from evaluation.consensus import AQER

# Words a, b, c, d. Three answers to one question, two to another.
BAGS = np.array([[1, 1, 0, 0], [1, 0, 1, 0], [1, 1, 1, 1], [1, 0, 0, 0], [0, 1, 0, 0]], float)
WORKERS, QUESTIONS = ["x", "y", "z", "x", "y"], [1, 1, 1, 2, 2]


def fit(bags=BAGS, **switches):
    model = AQER(**({"aggregation": "majority", "n_draws": 0, "max_iterations": 1} | switches))
    return model.fit(bags, WORKERS, QUESTIONS)


def test_a_word_is_in_by_more_than_half_of_the_weight():
    # Question 1, equal weights: a 3/3, b 2/3, c 2/3, d 1/3: abc. Cosines 2/sqrt 6, 2/sqrt 6,
    # 3/sqrt 12. Question 2: a and b have exactly half: nothing, so 0 and 0.
    found = fit()
    expected = [2 / np.sqrt(6), 2 / np.sqrt(6), 3 / np.sqrt(12), 0, 0]
    assert found.scores_ == pytest.approx(expected)
    assert found.raw_ == pytest.approx([1 / np.sqrt(6), 1 / np.sqrt(6), 3 / np.sqrt(12)])


def test_exemplary_answers_are_made_with_the_final_weights():
    # Grades 0, 0, 1: z alone votes on question 1; on question 2 nobody has weight: equal, nothing.
    expected = [[1, 1, 1, 1], [0, 0, 0, 0]]
    assert fit().compute_exemplars().toarray().tolist() == expected
    assert fit(sparse.csr_array(BAGS)).compute_exemplars().toarray().tolist() == expected


def test_left_out_by_hand():
    # Final weights 0, 0, 1: without x: z votes alone: abcd, cosine of ab 2/sqrt 8; of ac the same;
    # without z: x and y equal: a in by 1, b and c by half: a: 1/sqrt 4. Question 2: b, a: 0, 0.
    expected = [2 / np.sqrt(8), 2 / np.sqrt(8), 0.5, 0, 0]
    assert fit().leave_one_out_scores_ == pytest.approx(expected)


def test_euclidean_distances_between_bags():
    # abc against ab, ac, abcd: one word apart each; nothing against a, b: one.
    assert fit(similarity="euclidean").scores_.tolist() == [-1, -1, -1, -1, -1]


def test_models_are_compared_with_all_their_words():
    # abcd for question 1 (final weights): cosine of "a" 1/sqrt 4.
    found = fit().score_models(np.array([[1.0, 0, 0, 0]]), ["m"], [1])
    assert found.scores.tolist() == [0.5]


def test_counts_of_words_are_refused():
    with pytest.raises(ValueError, match="binary"):
        fit(BAGS * 2)
    with pytest.raises(ValueError, match="binary"):
        fit().score_models(np.array([[2.0, 0, 0, 0]]), ["m"], [1])
