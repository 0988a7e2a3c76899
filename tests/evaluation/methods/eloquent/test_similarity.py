"""The mean cosine of all pairs of replies, in one pass and pair by pair."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.spatial.distance import pdist

from evaluation.methods.eloquent.similarity import set_similarity, similarity_across


def test_three_replies_are_compared_two_by_two():
    # Cosines: e1 with e1 1, e1 with e2 0, twice: (1 + 0 + 0)/3.
    found = set_similarity([[1.0, 0], [2.0, 0], [0, 3.0]], [0, 0, 0], [True] * 3, 1)
    assert found.all[0] == pytest.approx(1 / 3)
    assert found.answered[0] == pytest.approx(1 / 3)


def test_not_answering_is_no_agreement():
    # Two equal answers and one that is none: of three pairs one has cosine 1, the others count 0.
    found = set_similarity([[1.0, 1.0], [1.0, 1.0]], [0, 0, 0], [True, False, True], 1)
    assert found.all[0] == pytest.approx(1 / 3)
    assert found.answered[0] == pytest.approx(1.0)
    assert (found.n[0], found.n_answered[0]) == (3, 2)


def test_two_refusals_have_the_similarity_0_and_none_among_answers():
    found = set_similarity(np.empty((0, 4)), [0, 0], [False, False], 1)
    assert found.all[0] == 0.0
    assert np.isnan(found.answered[0])


def test_one_reply_is_compared_with_nothing():
    found = set_similarity([[1.0, 0.0]], [0], [True], 2)
    assert np.isnan(found.all).all()


def test_it_agrees_with_scipy_pair_by_pair():
    rng = np.random.default_rng(4)
    vectors = rng.normal(size=(30, 7))
    sets = rng.integers(0, 4, size=30)
    found = set_similarity(vectors, sets, np.ones(30), 4)
    for place in range(4):
        assert found.all[place] == pytest.approx(1 - pdist(vectors[sets == place], "cosine").mean())
    dense = set_similarity(sparse.csr_matrix(vectors), sets, np.ones(30), 4)
    np.testing.assert_allclose(found.all, dense.all, atol=1e-12)


def test_a_vector_of_zeros_has_cosine_0():
    # Pairs: (0, e1) 0, (0, e1) 0, (e1, e1) 1.
    found = set_similarity([[0.0, 0], [1, 0], [1, 0]], [0, 0, 0], [True] * 3, 1)
    assert found.all[0] == pytest.approx(1 / 3)


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 2)), min_size=1, max_size=12))
def test_across_languages_only_pairs_of_two_languages_count(rows):
    vectors = np.random.default_rng(len(rows)).normal(size=(len(rows), 3))
    units = vectors / np.linalg.norm(vectors, axis=1)[:, None]
    items, languages = map(list, zip(*rows, strict=True))
    found, pairs = similarity_across(vectors, items, languages, 2)
    for item in (0, 1):
        cosines = [
            units[a] @ units[b]
            for a, b in combinations(range(len(rows)), 2)
            if items[a] == items[b] == item and languages[a] != languages[b]
        ]
        assert pairs[item] == len(cosines)
        if cosines:
            assert found[item] == pytest.approx(np.mean(cosines), abs=1e-9)
        else:
            assert np.isnan(found[item])
