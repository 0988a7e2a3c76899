"""The numbers under AQER: Gram form against vectors, precision, extremes of scale."""

import numpy as np
import pytest
from scipy import sparse

from evaluation.consensus.methods.exemplary_answers import MeanVote
from evaluation.core.stats.cells import Cells, encode_labels
from evaluation.core.stats.grams import (
    GramBlock,
    NonFiniteError,
    SparseGramBlock,
    compute_gram_blocks,
)
from tests.evaluation.core.stats.worlds import crowd


def cells_of(workers, questions):
    worker, names = encode_labels(workers)
    question, asked = encode_labels(questions)
    return Cells.from_codes(worker, question, len(names), len(asked))


def compute_similarities(vectors, workers, questions, weights, kind="cosine", leave_one_out=False):
    """Similarities in the order of the rows."""
    cells = cells_of(workers, questions)
    vote = MeanVote.from_vectors(vectors, cells, kind)
    found = vote.compute_similarities(
        np.asarray(weights, float)[:, None], leave_one_out=leave_one_out
    )
    return cells.to_rows(found[:, 0])


def one_question(vectors, weights, **how):
    vectors = np.asarray(vectors, float)
    return compute_similarities(
        vectors, np.arange(len(vectors)), np.zeros(len(vectors)), weights, **how
    )


# --- cosine -----------------------------------------------------------------------------------


def test_cosines_by_hand():
    # SEA = (3, 0) / 2 + (0, 4) / 2 = (1.5, 2), length 2.5: cosines 1.5/2.5 = .6 and 2/2.5 = .8
    assert one_question([[3, 0], [0, 4]], [0.5, 0.5]) == pytest.approx([0.6, 0.8], abs=1e-15)


def test_a_zero_vector_and_a_zero_exemplary_answer_score_zero():
    # SEA of (1, 0), (-1, 0) is zero; in the second crowd it is (1/3, 0).
    assert one_question([[1, 0], [-1, 0]], [0.5, 0.5]).tolist() == [0, 0]
    assert one_question([[1, 0], [0, 0], [0, 0]], [1, 1, 1]).tolist() == [1, 0, 0]


def test_weights_that_sum_to_zero_become_equal():
    assert one_question([[3, 0], [0, 4]], [0, 0]) == pytest.approx([0.6, 0.8], abs=1e-15)


def test_left_out_scores_by_hand():
    # without 0: (0, 2)/3 + (1, 0)/3 -> direction (1, 2)/sqrt 5; cosine of (1, 0) is 1/sqrt 5
    # without 1: (2, 0) -> 0; without 2: (1, 2) -> 1/sqrt 5
    found = one_question([[1, 0], [0, 2], [1, 0]], [1, 1, 1], leave_one_out=True)
    assert found == pytest.approx([1 / np.sqrt(5), 0, 1 / np.sqrt(5)], abs=1e-15)


def test_the_only_answer_has_no_left_out_score_and_scores_1():
    assert one_question([[3, 4]], [1.0]).tolist() == [1.0]
    assert np.isnan(one_question([[3, 4]], [1.0], leave_one_out=True)).all()


def test_others_without_weight_count_equally_when_one_is_left_out():
    # All weight on 0. Without it, 1 and 2 count equally: (1, 1)/2, cosine with (1, 0) = 1/sqrt 2.
    found = one_question([[1, 0], [1, 0], [0, 1]], [1, 0, 0], leave_one_out=True)
    assert found == pytest.approx([1 / np.sqrt(2), 1, 0], abs=1e-15)


@pytest.mark.parametrize("dominance", [10, 100, 500, 1e5, 1e9, 1e14])
@pytest.mark.parametrize("kind", ["cosine", "euclidean"])
def test_leaving_out_a_dominant_answer_keeps_all_digits(dominance, kind):
    rng = np.random.default_rng(1)
    x = rng.standard_normal((4, 6))
    weights = np.array([dominance, 1.0, 2.0, 0.5])
    others = weights[1:] @ x[1:] / weights[1:].sum()
    if kind == "cosine":
        expected = x[0] @ others / np.linalg.norm(x[0]) / np.linalg.norm(others)
    else:
        expected = -np.linalg.norm(x[0] - others)
    found = one_question(x, weights, kind=kind, leave_one_out=True)
    assert found[0] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("dominance", [1, 30, 500, 1e6])
def test_others_that_cancel_leave_no_direction_behind(dominance):
    # Without the first, (.6, .8)/7 and its opposite sum to zero: no direction, score 0.
    x = np.array([[0.3, 0.4], [0.6, 0.8], [-0.6, -0.8]]) / 7
    found = one_question(x, [dominance, 1, 1], leave_one_out=True)
    assert found[0] == 0


# --- Euclidean --------------------------------------------------------------------------------


def test_distances_by_hand():
    # SEA (1.5, 2): |(3, 0) - SEA| = |(1.5, -2)| = 2.5, |(0, 4) - SEA| = 2.5; without 0 it is (0, 4)
    x = [[3, 0], [0, 4]]
    assert one_question(x, [1, 1], kind="euclidean") == pytest.approx([-2.5, -2.5])
    found = one_question(x, [1, 1], kind="euclidean", leave_one_out=True)
    assert found == pytest.approx([-5, -5])


def test_a_large_offset_does_not_change_distances():
    x, workers, questions = crowd(3)
    x = np.round(x * 2**20) / 2**20  # so that adding 2^30 is exact
    weights = np.linspace(0.1, 1, 7)
    for leave_one_out in (False, True):
        how = {"kind": "euclidean", "leave_one_out": leave_one_out}
        near = compute_similarities(x, workers, questions, weights, **how)
        far = compute_similarities(x + 2.0**30, workers, questions, weights, **how)
        assert far == pytest.approx(near, abs=1e-6, nan_ok=True)
        packed = compute_similarities(
            sparse.csr_array(x + 2.0**30), workers, questions, weights, **how
        )
        assert packed == pytest.approx(near, abs=1e-6, nan_ok=True)


def test_equal_answers_are_at_distance_zero_from_their_own_mean():
    # The last has no weight: the exemplary answer is the common one, also when one is left out.
    x = np.array([[0.1, 0.2, 0.7]] * 3 + [[5.0, -3.0, 2.0]])
    for leave_one_out in (False, True):
        found = one_question(x, [1, 1, 1, 0], kind="euclidean", leave_one_out=leave_one_out)
        assert found[:3].tolist() == [0, 0, 0]
        assert not np.signbit(found[:3]).any()


# --- precision and scale ----------------------------------------------------------------------


def test_float32_vectors_are_accumulated_in_float64():
    rng = np.random.default_rng(2)
    x = rng.standard_normal((12, 300)).astype(np.float32)
    workers, questions = np.tile(np.arange(4), 3), np.repeat(np.arange(3), 4)
    weights = np.array([0.1, 0.2, 0.3, 0.4])
    for kind in ("cosine", "euclidean"):
        single = compute_similarities(x, workers, questions, weights, kind)
        double = compute_similarities(x.astype(np.float64), workers, questions, weights, kind)
        assert single.tolist() == double.tolist()


@pytest.mark.parametrize("factor", [1e-300, 1e-150, 1e-30, 1e30, 1e150, 1e300])
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("dimension", [2, 9])
def test_a_common_factor_changes_no_cosine(factor, packed, dimension):
    x, workers, questions = crowd(4, dimension=dimension)
    weights = np.linspace(0.0, 1, 7)
    as_given = sparse.csr_array if packed else np.asarray
    for leave_one_out in (False, True):
        plain = compute_similarities(x, workers, questions, weights, leave_one_out=leave_one_out)
        scaled = compute_similarities(
            as_given(x * factor), workers, questions, weights, leave_one_out=leave_one_out
        )
        assert scaled == pytest.approx(plain, abs=1e-11, nan_ok=True)


@pytest.mark.parametrize("factor", [1e-150, 1e150])
def test_distances_scale_with_the_vectors(factor):
    x, workers, questions = crowd(4)
    plain = compute_similarities(x, workers, questions, np.ones(7), "euclidean")
    scaled = compute_similarities(x * factor, workers, questions, np.ones(7), "euclidean")
    assert scaled / factor == pytest.approx(plain, rel=1e-9, abs=1e-9)


def test_one_zero_vector_leaves_the_others_as_they_are():
    # Unscaled and scaled vectors must not be mixed: with more answers than dimensions, sparse.
    x = np.array([[1.0, 0], [0, 1], [1, 1], [0, 0]])
    expected = one_question(x, [1, 1, 1, 1])
    assert expected == pytest.approx([1 / np.sqrt(2), 1 / np.sqrt(2), 1, 0])
    packed = compute_similarities(sparse.csr_array(x), np.arange(4), np.zeros(4), np.ones(4))
    assert packed == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize("packed", [False, True])
def test_the_first_vector_that_is_not_finite_is_named(packed):
    x, workers, questions = crowd(5, answered=0.6)
    x[[4, 9], 1] = np.nan, np.inf
    with pytest.raises(NonFiniteError, match="row 4 ") as error:
        compute_gram_blocks(
            sparse.csr_array(x) if packed else x, cells_of(workers, questions), centred=False
        )
    assert error.value.row == 4


def test_cutting_products_along_the_dimension_changes_nothing(monkeypatch):
    x, workers, questions = crowd(6, dimension=40)
    whole = compute_similarities(x, workers, questions, np.ones(7))
    monkeypatch.setattr("evaluation.core.stats.grams.SERIAL", 200)
    monkeypatch.setattr("evaluation.core.stats.grams.CHUNK", 300)
    monkeypatch.setattr("evaluation.core.stats.grams.BLOCK", 60)
    assert compute_similarities(x, workers, questions, np.ones(7)) == pytest.approx(
        whole, abs=1e-14
    )


# --- dispersion and exemplary answers -----------------------------------------------------------


@pytest.mark.parametrize("kind", ["cosine", "euclidean"])
@pytest.mark.parametrize("shift", [0.0, 1000.0])
def test_dispersion_by_hand(kind, shift):
    # Unit vectors (1, 0), (0, 1), weights 1 and 3: mean (1, 3)/4, length sqrt(10)/4.
    # The second question agrees (0); the third holds a zero vector, which has no direction:
    # mean (1, 0)/4, so 1 - 1/4.
    x = np.array([[5.0, 0], [0, 2], [3, 4], [6, 8], [2 + shift, 0], [0, 0]])
    cells = cells_of([0, 1] * 3, [0, 0, 1, 1, 2, 2])
    vote = MeanVote.from_vectors(x, cells, kind)
    expected = [1 - np.sqrt(10) / 4, 0, 0.75]
    assert vote.compute_dispersions(np.array([1.0, 3.0])) == pytest.approx(expected, abs=1e-12)


def test_exemplary_answers_are_weighted_means_dense_and_sparse():
    x = np.array([[4.0, 0], [0, 8], [1, 1]])
    cells = cells_of([0, 1, 0], [7, 7, 8])
    vote = MeanVote.from_vectors(x, cells, "cosine")
    # question 7: (4, 0)/4 + 3 (0, 8)/4 = (1, 6); question 8 has one answer
    weights = np.array([1.0, 3.0])
    assert vote.compute_exemplars(x, weights).tolist() == [[1, 6], [1, 1]]
    assert vote.compute_exemplars(sparse.csr_array(x), weights).toarray().tolist() == [
        [1, 6],
        [1, 1],
    ]


def test_sparse_questions_packed_together_are_as_dense_ones():
    rng = np.random.default_rng(2)
    vectors = rng.random((12, 30)) * (rng.random((12, 30)) < 0.2)
    cells = cells_of(np.tile(np.arange(4), 3), np.repeat(np.arange(3), 4))
    (packed,) = compute_gram_blocks(sparse.csr_array(vectors), cells, centred=False)
    (dense,) = compute_gram_blocks(vectors, cells, centred=False)
    np.testing.assert_allclose(packed.inner, dense.inner, atol=1e-15)


def bags(n_workers, n_questions, words=400, seed=5):
    """Bags of words, of which some are empty, one is repeated and one has a zero that is stored."""
    rng = np.random.default_rng(seed)
    n = n_workers * n_questions
    x = rng.random((n, words)) * (rng.random((n, words)) < 0.02)
    x[3] = 0
    x[7] = x[8]
    packed = sparse.csr_array(x)
    packed.data[0] = 0
    return (
        packed,
        np.tile(np.arange(n_workers), n_questions),
        np.repeat(np.arange(n_questions), n_workers),
    )


@pytest.mark.parametrize("leave_one_out", [False, True])
def test_many_bags_of_words_stay_sparse_and_score_as_dense_ones(leave_one_out):
    packed, workers, questions = bags(90, 3)
    cells = cells_of(workers, questions)
    sparse_vote = MeanVote.from_vectors(packed, cells, "cosine")
    dense_vote = MeanVote.from_vectors(packed.toarray(), cells, "cosine")
    assert [type(block) for block in sparse_vote.blocks] == [SparseGramBlock]
    assert [type(block) for block in dense_vote.blocks] == [GramBlock]
    weights = np.random.default_rng(1).random((90, 3))
    weights[:, 1] = 0  # nobody has a weight
    weights[5, 2] = 1e9  # one outweighs the others
    how = {"leave_one_out": leave_one_out}
    found, expected = (v.compute_similarities(weights, **how) for v in (sparse_vote, dense_vote))
    np.testing.assert_allclose(found, expected, atol=1e-12)
    one, other = (v.compute_dispersions(weights[:, 0]) for v in (sparse_vote, dense_vote))
    np.testing.assert_allclose(one, other, atol=1e-12)


def test_inner_products_of_sparse_rows_are_those_of_dense_ones():
    packed, workers, questions = bags(70, 4)
    cells = cells_of(workers, questions)
    (block,) = compute_gram_blocks(packed, cells, centred=False)
    (dense,) = compute_gram_blocks(packed.toarray(), cells, centred=False)
    some = np.array([3, 7, 8, 69])
    for part, chosen in ((slice(None), None), (slice(1, 3), None), (slice(0, 2), some)):
        found, expected = block.compute_gram(part, chosen), dense.compute_gram(part, chosen)
        np.testing.assert_allclose(found, expected, atol=1e-14)
    which, v = np.array([2, 0, 2]), np.random.default_rng(0).random((3, 70))
    np.testing.assert_allclose(
        block.multiply_chosen(which, v), dense.multiply_chosen(which, v), atol=1e-12
    )
    # Some ten words of an answer instead of 70 inner products.
    assert block.rows.nnz < dense.inner.size / 4


def test_words_that_are_said_twice_in_a_row_of_the_matrix_both_count():
    packed, workers, questions = bags(70, 1)
    twice = packed.copy()
    twice.data = twice.data / 2
    twice = sparse.csr_array(
        (np.repeat(twice.data, 2), np.repeat(twice.indices, 2), 2 * twice.indptr),
        shape=packed.shape,
    )
    cells = cells_of(workers, questions)
    (one,), (other,) = (compute_gram_blocks(x, cells, centred=False) for x in (packed, twice))
    np.testing.assert_allclose(
        one.compute_gram(slice(None)), other.compute_gram(slice(None)), atol=1e-14
    )


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_numbers_whose_squares_are_none_are_scaled_first(scale):
    packed, workers, questions = bags(70, 1)
    cells = cells_of(workers, questions)
    (far,) = compute_gram_blocks(packed * scale, cells, centred=False)
    (near,) = compute_gram_blocks(packed, cells, centred=False)
    np.testing.assert_allclose(
        far.compute_gram(slice(None)), near.compute_gram(slice(None)), atol=1e-12
    )


def test_a_bag_that_is_not_finite_is_named_by_its_row():
    packed, workers, questions = bags(70, 2)
    packed.data[packed.indptr[100]] = np.nan
    with pytest.raises(NonFiniteError, match="row 100 "):
        compute_gram_blocks(packed, cells_of(workers, questions), centred=False)
