"""The overview of workers and questions averages the answers that are there."""

import numpy as np
import pytest

from evaluation.grading.methods.projection import compute_mean_by_code, compute_overview


def test_a_small_table_is_shown_cell_by_cell_in_the_order_asked_for():
    scores = np.array([0.1, 0.2, 0.3, np.nan])
    found = compute_overview(
        scores,
        worker=np.array([0, 0, 1, 1]),
        question=np.array([0, 1, 0, 1]),
        workers_in_order=np.array([1, 0]),
        questions_in_order=np.array([1, 0]),
    )
    np.testing.assert_array_equal(found.means, [[np.nan, 0.3], [0.2, 0.1]])
    np.testing.assert_array_equal(found.counts, [[0, 1], [1, 1]])
    assert found.workers_to.tolist() == [1, 2]


def test_neighbours_are_averaged_where_there_are_more_than_fit():
    # 5 workers in 2 groups: 2 and 3; one question.
    found = compute_overview(
        np.array([1.0, 2.0, 3.0, 4.0, 8.0]),
        worker=np.arange(5),
        question=np.zeros(5, dtype=int),
        workers_in_order=np.arange(5),
        questions_in_order=np.array([0]),
        most=2,
    )
    assert found.workers_to.tolist() == [2, 5]
    np.testing.assert_allclose(found.means, [[1.5], [5.0]])  # (3 + 4 + 8) / 3
    assert found.counts.tolist() == [[2], [3]]


def test_every_answer_with_a_score_is_counted_once():
    rng = np.random.default_rng(0)
    worker, question = rng.integers(0, 97, 3000), rng.integers(0, 61, 3000)
    scores = rng.random(3000)
    found = compute_overview(scores, worker, question, rng.permutation(97), rng.permutation(61))
    assert found.counts.sum() == 3000
    assert np.nansum(found.means * found.counts) == pytest.approx(scores.sum())


def test_means_leave_out_what_is_undefined():
    found = compute_mean_by_code(np.array([1.0, np.nan, 3.0, np.nan]), np.array([0, 0, 0, 1]), 3)
    np.testing.assert_array_equal(found, [2.0, np.nan, np.nan])
