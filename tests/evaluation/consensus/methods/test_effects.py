"""Effects of workers and questions by least squares."""

import numpy as np
import pytest

from evaluation.consensus.methods import scale
from evaluation.consensus.methods.scale import TwoWayEffects, find_components
from evaluation.core.stats.cells import Cells


def cells_of(pairs, n_workers, n_questions):
    worker, question = np.array(pairs).T
    return Cells.from_codes(worker, question, n_workers, n_questions)


def in_cells(cells, values):
    return np.asarray(values, float)[cells.row]


def test_effects_by_hand():
    # s = mu + a_i + b_j exactly, with a = (0, 1), b = (-2, 0, 2), mu = 5; worker 0 answered the
    # easy questions 1 and 2, worker 1 the hard ones 0 and 1: 5, 7 and 4, 6.
    cells = cells_of([(0, 1), (0, 2), (1, 0), (1, 1)], 2, 3)
    found = TwoWayEffects(cells, np.ones(4)).estimate_question_effects(
        in_cells(cells, [5, 7, 4, 6])
    )
    assert found == pytest.approx([-2, 0, 2])


def test_effects_sum_to_zero_in_each_component():
    # {worker 0, questions 0 and 1} and {worker 1, questions 2 and 3}: nothing links them.
    cells = cells_of([(0, 0), (0, 1), (1, 2), (1, 3)], 2, 4)
    found = TwoWayEffects(cells, np.ones(4)).estimate_question_effects(
        in_cells(cells, [1, 3, 10, 20])
    )
    assert found == pytest.approx([-1, 1, -5, 5])


def test_components_are_of_the_used_cells():
    cells = cells_of([(0, 0), (0, 1), (1, 1), (2, 2)], 3, 3)
    count, workers, questions = find_components(cells, np.ones(4, dtype=bool))
    assert (count, workers[0] == workers[1] != workers[2]) == (2, True)
    assert questions[0] == questions[1] == workers[0]
    # Without worker 0's answer to question 1, three; without worker 2's, worker 2 is nowhere.
    used = in_cells(cells, [1, 0, 1, 1]) > 0
    assert find_components(cells, used)[0] == 3
    used = in_cells(cells, [1, 1, 1, 0]) > 0
    assert (find_components(cells, used)[0], find_components(cells, used)[1][2]) == (1, -1)


@pytest.mark.parametrize("n_workers", [4, 12])
def test_effects_agree_with_a_dense_least_squares_fit(n_workers):
    rng = np.random.default_rng(n_workers)
    n_questions = 8
    pairs = [(i, j) for i in range(n_workers) for j in range(n_questions) if rng.random() < 0.6]
    pairs += [(0, j) for j in range(n_questions) if (0, j) not in pairs]
    pairs += [(i, 0) for i in range(1, n_workers) if (i, 0) not in pairs]
    cells = cells_of(pairs, n_workers, n_questions)
    scores = rng.standard_normal(len(pairs))
    times = rng.integers(0, 4, n_questions)[cells.question].astype(float)
    used = times > 0
    design = np.zeros((len(pairs), n_workers + n_questions))
    design[np.arange(len(pairs)), cells.worker] = 1
    design[np.arange(len(pairs)), n_workers + cells.question] = 1
    root = np.sqrt(times)
    expected = np.linalg.lstsq(design * root[:, None], scores * root, rcond=None)[0][n_workers:]
    drawn = np.bincount(cells.question[used], minlength=n_questions) > 0
    share = np.zeros(n_questions)
    share[cells.question[used]] = times[used]
    expected = np.where(drawn, expected - share @ expected / share.sum(), 0.0)
    found = TwoWayEffects(cells, times).estimate_question_effects(scores)
    assert found == pytest.approx(expected, abs=1e-9)


def test_many_unknowns_are_solved_by_iteration_to_the_same_effects(monkeypatch):
    rng = np.random.default_rng(3)
    pairs = [(i, j) for i in range(30) for j in range(20) if rng.random() < 0.2]
    cells = cells_of(
        sorted({*pairs, *[(i, 0) for i in range(30)], *[(0, j) for j in range(20)]}), 30, 20
    )
    scores = rng.standard_normal(len(cells))
    dense = TwoWayEffects(cells, np.ones(len(cells))).estimate_question_effects(scores)
    monkeypatch.setattr(scale, "DENSE", 0)
    again = TwoWayEffects(cells, np.ones(len(cells)))
    assert again.estimate_question_effects(scores) == pytest.approx(dense, abs=1e-9)
    # Called again it starts from its last solution.
    assert again.estimate_question_effects(scores) == pytest.approx(dense, abs=1e-9)
