"""Maps of answers: axes agree with scikit-learn, exemplary answers stand at weighted means."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.decomposition import PCA

from evaluation.consensus import AQER
from evaluation.consensus.methods.fixed_point import MAX_ROWS, IterationHistory
from evaluation.core.stats.cells import Cells, encode_labels
from evaluation.grading.methods import projection
from evaluation.grading.methods.projection import (
    compute_exemplar_paths,
    compute_principal_axes,
    compute_question_maps,
    is_unit_length,
)


def made(n, d, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)) * np.geomspace(3, 0.1, d) + rng.standard_normal(d)


def same_up_to_sign(found, wanted, tolerance=1e-8):
    for axis in range(2):
        sign = np.sign(found[:, axis] @ wanted[:, axis])
        np.testing.assert_allclose(found[:, axis], sign * wanted[:, axis], atol=tolerance)


@pytest.mark.parametrize(("n", "d"), [(200, 8), (7, 40), (60, 60)])
@pytest.mark.parametrize("kind", ["dense", "float32", "sparse"])
def test_places_are_those_of_scikit_learns_pca_up_to_the_sign(n, d, kind):
    x = made(n, d)
    if kind == "sparse":
        x[np.abs(x) < 0.4] = 0
    given = {"dense": x, "float32": x.astype(np.float32), "sparse": sparse.csr_array(x)}[kind]
    pca = PCA(n_components=2, svd_solver="full").fit(x)
    found = compute_principal_axes(given)
    loose = 1e-4 if kind == "float32" else 1e-8
    same_up_to_sign(found(given), pca.transform(x), loose)
    np.testing.assert_allclose(found.shares, pca.explained_variance_ratio_, rtol=loose)


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_wide_vectors_are_projected_by_iteration_with_the_same_result(monkeypatch, kind):
    x = made(90, 50, seed=3)
    given = sparse.csr_array(x) if kind == "sparse" else x
    exact = compute_principal_axes(given)
    monkeypatch.setattr(projection, "EXACT", 10)
    found = compute_principal_axes(given)
    np.testing.assert_allclose(found(given), exact(given), atol=1e-8)
    np.testing.assert_array_equal(compute_principal_axes(given).axes, found.axes)


def test_the_greatest_entry_of_an_axis_is_positive():
    axes = compute_principal_axes(made(50, 6)).axes
    assert (axes[np.abs(axes).argmax(axis=0), [0, 1]] > 0).all()


def test_an_offset_a_thousand_times_the_spread_changes_nothing():
    x = made(80, 5)
    np.testing.assert_allclose(
        np.abs(compute_principal_axes(x + 1e4)(x + 1e4)),
        np.abs(compute_principal_axes(x)(x)),
        atol=1e-6,
    )


@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_very_small_and_very_large_vectors_have_their_axes(size):
    x = made(30, 4)
    np.testing.assert_allclose(
        compute_principal_axes(x * size).shares, compute_principal_axes(x).shares
    )


def test_equal_vectors_stand_on_one_place_and_show_no_share():
    found = compute_principal_axes(np.full((5, 3), 0.1))
    assert np.isnan(found.shares).all()
    np.testing.assert_allclose(found(np.full((5, 3), 0.1)), 0, atol=1e-12)


def test_vectors_of_one_dimension_stand_on_a_line():
    found = compute_principal_axes(np.array([[0.0], [1.0], [5.0]]))
    np.testing.assert_allclose(found.shares, [1, 0])
    np.testing.assert_allclose(found(np.array([[0.0], [5.0]]))[:, 1], 0)


def test_axes_are_learned_from_evenly_spaced_rows():
    x = made(100, 4)
    found = compute_principal_axes(x, most=50)
    assert found.n_learned == 50
    np.testing.assert_allclose(
        found.axes, compute_principal_axes(x[np.linspace(0, 99, 50).astype(int)]).axes
    )


def test_unit_length_is_told():
    x = made(20, 4)
    unit = x / np.linalg.norm(x, axis=1)[:, None]
    unit[3] = 0
    assert is_unit_length(unit)
    assert is_unit_length(sparse.csr_matrix(unit))
    assert not is_unit_length(x)


def answers(n_workers=6, n_questions=4, d=5, seed=1):
    rng = np.random.default_rng(seed)
    truth = rng.standard_normal((n_questions, d))
    noise = np.linspace(0.1, 2, n_workers)
    worker, question = np.divmod(np.arange(n_workers * n_questions), n_questions)
    x = truth[question] + noise[worker][:, None] * rng.standard_normal((len(worker), d))
    return x, worker, question


def cells_of(worker, question):
    return Cells.from_codes(worker, question, worker.max() + 1, question.max() + 1)


@pytest.mark.parametrize("similarity", ["cosine", "euclidean"])
def test_the_path_of_an_exemplary_answer_ends_where_its_vector_is_projected(similarity):
    x, worker, question = answers()
    aqer = AQER(similarity=similarity, n_draws=0).fit(x, worker, question)
    axes = compute_principal_axes(x)
    path = compute_exemplar_paths(axes(x), cells_of(worker, question), aqer.history_.weights)
    np.testing.assert_allclose(path[:, -1], axes(aqer.compute_exemplars()), atol=1e-6)
    # At the start all count equally.
    np.testing.assert_allclose(path[2, 0], axes(x)[question == 2].mean(axis=0), atol=1e-6)


def test_answers_without_any_weight_count_equally_on_the_path():
    places = np.array([[0.0, 0.0], [2.0, 4.0], [7.0, 7.0]])
    cells = cells_of(np.array([0, 1, 2]), np.array([0, 0, 1]))
    path = compute_exemplar_paths(places, cells, np.array([[0.0, 0.0, 1.0], [0.25, 0.75, 0.0]]))
    np.testing.assert_allclose(path, [[[1, 2], [1.5, 3]], [[7, 7], [7, 7]]])


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_a_questions_own_axes_are_those_of_its_answers_alone(kind):
    x, worker, question = answers()
    models = x[:3] + 0.5
    given = (sparse.csr_array(x), sparse.csr_array(models)) if kind == "sparse" else (x, models)
    axes = compute_principal_axes(x)
    found = compute_question_maps(
        given[0], cells_of(worker, question), axes(x), given[1], np.array([0, 3, -1])
    )
    for code in range(4):
        mine = x[question == code]
        pca = PCA(n_components=2).fit(mine)
        same_up_to_sign(found.places[question == code], pca.transform(mine))
        assert found.shares[code] == pytest.approx(pca.explained_variance_ratio_.sum())
        shown = axes(x)[question == code].var(axis=0).sum() / mine.var(axis=0).sum()
        assert found.shares_of_run[code] == pytest.approx(shown)
        assert found.shares_of_run[code] <= found.shares[code] + 1e-12
    mine = x[question == 0]
    wanted = PCA(n_components=2).fit(mine).transform(models[:1])
    np.testing.assert_allclose(np.abs(found.of_targets[0]), np.abs(wanted[0]), atol=1e-8)
    assert np.isnan(found.of_targets[2]).all()


def test_a_question_with_one_answer_has_a_place_and_no_share():
    x = np.array([[1.0, 2.0, 3.0], [0.0, 1.0, 0.0], [4.0, 1.0, 0.0]])
    cells = cells_of(np.array([0, 1, 2]), np.array([0, 1, 1]))
    found = compute_question_maps(x, cells, compute_principal_axes(x)(x))
    np.testing.assert_allclose(found.places[0], 0)
    assert np.isnan(found.shares[0])
    assert found.shares[1] == pytest.approx(1)


def test_the_history_ends_with_the_voting_weights_and_begins_with_equal_ones():
    x, worker, question = answers()
    aqer = AQER(n_draws=0).fit(x, worker, question)
    history = aqer.history_
    assert history.iterations == list(range(aqer.n_iter_ + 1))
    np.testing.assert_allclose(history.weights[0], 1 / 6)
    np.testing.assert_allclose(history.weights[-1], aqer.weights_, rtol=1e-6)
    np.testing.assert_allclose(history.grades[-1], aqer.grades_, rtol=1e-6)
    assert np.isnan(history.grades[0]).all()
    rmse = np.sqrt(((history.weights[2] - history.weights[1]) ** 2).mean())
    assert rmse == pytest.approx(aqer.trace_[1], rel=1e-4)


def test_of_a_long_history_the_first_iterations_and_the_last_are_kept():
    history = IterationHistory(np.array([0.5, 0.5]))
    for step in range(1, 301):
        history.add_iteration(
            np.array([[step / 1000], [1 - step / 1000]]), np.array([[0.0], [1.0]])
        )
    assert history.iterations == [*range(MAX_ROWS - 1), 300]
    assert len(history.weights) == MAX_ROWS
    assert history.weights[-1, 0] == np.float32(0.3)


def test_two_workers_have_a_history_of_the_start_alone():
    aqer = AQER(n_draws=0).fit([[1.0, 0.0], [0.0, 1.0]], ["a", "b"], [1, 1])
    assert aqer.history_.iterations == [0]
    np.testing.assert_allclose(aqer.history_.weights, [[0.5, 0.5]])


def test_codes_of_columns_are_those_of_the_estimator():
    # The map's step numbers workers and questions anew and relies on it.
    x, worker, question = answers()
    names = np.array(list("fcadbe"))[worker]
    aqer = AQER(n_draws=0).fit(x, names, question)
    assert encode_labels(names)[1].tolist() == aqer.workers_.tolist()
