"""Answers on which one view stands high and another low."""

import numpy as np
import pytest

from evaluation.model_overview.methods import compute_disagreement

NONE = np.nan


def test_numbers_are_told_by_their_places_and_equal_ones_share_theirs():
    found = compute_disagreement([[[10, 30, 20, NONE]], [[1, 0, 1, 1]]])
    # Three numbers: (rank - 1/2) / 3; the lone 0 is at 1/8, three ones at (3 - 1/2) / 4.
    assert found.places[0, 0, :3] == pytest.approx([1 / 6, 5 / 6, 1 / 2])
    assert found.places[1, 0] == pytest.approx([5 / 8, 1 / 8, 5 / 8, 5 / 8])
    assert found.strength[0, :3] == pytest.approx([5 / 8 - 1 / 6, 5 / 6 - 1 / 8, 5 / 8 - 1 / 2])
    assert np.isnan(found.strength[0, 3])
    assert found.highest.tolist() == [[1, 0, 1, -1]]
    assert found.lowest.tolist() == [[0, 1, 0, -1]]
    assert found.order_answers().tolist() == [[0, 1], [0, 0], [0, 2]]


def test_a_number_is_placed_among_those_of_all_models():
    found = compute_disagreement([[[1, 2], [3, 4]], [[4, 3], [2, 1]]])
    assert found.places[0] == pytest.approx(np.array([[1, 3], [5, 7]]) / 8)
    # Equal strengths stay in the order of models and questions.
    assert found.strength == pytest.approx(np.array([[6, 2], [2, 6]]) / 8)
    assert found.order_answers().tolist() == [[0, 0], [1, 1], [0, 1], [1, 0]]


def test_a_view_without_numbers_disagrees_with_nobody():
    found = compute_disagreement([[[1, 2]], [[NONE, NONE]]])
    assert np.isnan(found.strength).all()
    assert len(found.order_answers()) == 0
