"""Means of models, and what they have more than the others on the same questions."""

import numpy as np
import pytest

from evaluation.model_overview.methods import compute_model_results

NONE = np.nan


def test_a_model_is_compared_with_the_others_on_the_questions_they_share():
    found = compute_model_results([[1, 2, 3, NONE], [0, 1, NONE, 9], [2, 0, NONE, 7]], n_draws=0)
    assert [one.mean.value for one in found] == [2, pytest.approx(10 / 3), 3]
    # First: 1 - (0 + 2)/2, 2 - (1 + 0)/2, nobody else on the third: mean of 0 and 1.5.
    assert found[0].difference.value == pytest.approx(0.75)
    assert (found[0].mean.n, found[0].difference.n) == (3, 2)
    # Second: 0 - 1.5, 1 - 1, 9 - 7.
    assert found[1].difference.value == pytest.approx((-1.5 + 0 + 2) / 3)
    assert [one.rank for one in found] == [3, 1, 2]


def test_where_less_is_better_the_least_mean_is_first():
    found = compute_model_results([[1, 1], [2, 2], [2, 2]], higher_is_better=False, n_draws=0)
    assert [(one.rank, one.n_models) for one in found] == [(1, 3), (2, 3), (2, 3)]


def test_the_only_model_has_a_mean_and_no_gain():
    (found,) = compute_model_results([[1.0, 2.0, 4.0]], n_draws=50)
    assert found.mean.value == pytest.approx(7 / 3)
    assert found.mean.low < 7 / 3 < found.mean.high
    assert (found.difference.value, found.difference.n, found.difference.reason) == (
        None,
        0,
        "no_estimate",
    )


def test_a_model_without_a_number_has_no_place():
    found = compute_model_results([[1.0, 2.0], [NONE, NONE]], n_draws=0)
    assert (found[1].rank, found[1].mean.value, found[0].n_models) == (None, None, 1)
    assert found[0].difference.value is None
