"""Judges' scores of a set become one; sums over sets are ranked where that means something.

Two judges on the sets that both scored.

The mean cosine of all pairs of replies, in one pass and pair by pair.
"""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.spatial.distance import pdist
from sklearn.metrics import cohen_kappa_score

from evaluation.eloquent.methods import (
    compare_judges,
    compute_set_scores,
    compute_set_similarity,
    compute_similarity_across_languages,
    rank_systems_by_sum,
)


def test_repeats_are_averaged_first_and_judges_then():
    # Set 0: judge 0 says 1, 2 and 3 (mean 2, deviation 1), judge 1 says 5: (2 + 5)/2 = 3.5 and
    # not (1 + 2 + 3 + 5)/4 = 2.75. Set 1: one score. Set 2: none.
    found = compute_set_scores([0, 0, 0, 0, 1, 1], [0, 0, 0, 1, 0, 1], [1, 2, 3, 5, 4, np.nan], 3)
    assert found.score.tolist()[:2] == [3.5, 4.0]
    assert np.isnan(found.score[2])
    assert found.n_judges.tolist() == [2, 1, 0]
    assert found.n_scores.tolist() == [4, 1, 0]


def test_the_spread_is_of_those_who_judged_twice():
    # Judge 0: 1 and 4, deviation 3/sqrt(2); judge 1: 2 and 2, deviation 0; judge 2 once.
    found = compute_set_scores([0] * 5, [0, 0, 1, 1, 2], [1, 4, 2, 2, 5], 1)
    assert found.spread[0] == pytest.approx(np.mean([np.std([1, 4], ddof=1), 0.0]))
    assert np.isnan(compute_set_scores([0, 0], [0, 1], [1, 4], 1).spread[0])


def test_without_any_judgement_every_set_is_without_a_score():
    found = compute_set_scores([], [], [], 2)
    assert np.isnan(found.score).all()
    assert found.n_scores.tolist() == [0, 0]


@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.integers(0, 2), st.floats(0, 5)), min_size=1, max_size=40
    )
)
def test_set_scores_are_what_dictionaries_of_lists_give(rows):
    found = compute_set_scores(*map(list, zip(*rows, strict=True)), 4)
    for place in range(4):
        judged = {}
        for of_set, judge, score in rows:
            if of_set == place:
                judged.setdefault(judge, []).append(score)
        if not judged:
            assert np.isnan(found.score[place])
            continue
        assert found.score[place] == pytest.approx(np.mean([np.mean(v) for v in judged.values()]))
        spreads = [np.std(v, ddof=1) for v in judged.values() if len(v) > 1]
        if spreads:
            assert found.spread[place] == pytest.approx(np.mean(spreads), abs=1e-9)
        else:
            assert np.isnan(found.spread[place])


def test_equal_sums_share_a_rank_and_the_next_one_is_left_out():
    ranks = rank_systems_by_sum([{"a": 1.0, "b": 3.0}, {"a": 2.0, "b": 2.0}, {"a": 0.5, "b": 0.0}])
    assert ranks == [(1, None), (1, None), (3, None)]

    # .1 + .2 + .3 and .3 + .2 + .1 differ in their last digit, and are a tie.
    tied = rank_systems_by_sum([{"a": 0.1, "b": 0.2, "c": 0.3}, {"a": 0.3, "b": 0.2, "c": 0.1}])
    assert tied == [(1, None), (1, None)]


@pytest.mark.parametrize(
    ("scored", "reason"),
    [
        ([{"a": 1.0}], "one_system"),
        ([{"a": 1.0}, {}], "no_score"),
        ([{"a": 1.0, "b": 1.0}, {"a": 5.0}], "different_counts"),
        ([{"a": 1.0}, {"b": 5.0}], "different_sets"),
    ],
)
def test_sums_over_different_sets_are_not_ranked(scored, reason):
    assert rank_systems_by_sum(scored) == [(None, reason)] * len(scored)


def test_two_judges_are_compared_on_what_both_scored():
    # Common: a 4 and 3, b 2 and 2, c 5 and 3: differences 1, 0, 2.
    one, other = {"a": 4.0, "b": 2.0, "c": 5.0, "d": 1.0}, {"c": 3.0, "b": 2.0, "a": 3.0, "e": 0.0}
    (found,) = compare_judges({"small": one, "human": other})
    assert (found.judge, found.other, found.n) == ("small", "human", 3)
    assert found.difference == pytest.approx(1.0)
    assert found.absolute_difference == pytest.approx(1.0)
    assert found.kappa == pytest.approx(
        cohen_kappa_score([8, 4, 10], [6, 4, 6], weights="quadratic", labels=range(11))
    )
    # Ranks 2, 1, 3 and 2.5, 1, 2.5: r = 1.5 / sqrt(2 x 1.5).
    assert found.spearman == pytest.approx(1.5 / 3**0.5)


def test_the_sign_tells_who_is_milder():
    (found,) = compare_judges({"a": {1: 1.0, 2: 1.0}, "b": {1: 4.0, 2: 2.0}})
    assert found.difference == -2.0
    assert found.absolute_difference == 2.0
    assert (found.pearson, found.spearman) == (None, None)  # a gives all the same score


def test_judges_without_a_common_set_are_not_compared():
    (found,) = compare_judges({"a": {1: 1.0}, "b": {2: 4.0}})
    assert (found.n, found.difference, found.reason) == (0, None, "no_common_sets")


def test_every_two_of_three_judges_are_compared():
    same = {"x": 1.0}
    found = compare_judges({"a": same, "b": same, "c": same})
    assert [(one.judge, one.other) for one in found] == [("a", "b"), ("a", "c"), ("b", "c")]


def test_three_replies_are_compared_two_by_two():
    # Cosines: e1 with e1 1, e1 with e2 0, twice: (1 + 0 + 0)/3.
    found = compute_set_similarity([[1.0, 0], [2.0, 0], [0, 3.0]], [0, 0, 0], [True] * 3, 1)
    assert found.all[0] == pytest.approx(1 / 3)
    assert found.answered[0] == pytest.approx(1 / 3)


def test_not_answering_is_no_agreement():
    # Two equal answers and one that is none: of three pairs one has cosine 1, the others count 0.
    found = compute_set_similarity([[1.0, 1.0], [1.0, 1.0]], [0, 0, 0], [True, False, True], 1)
    assert found.all[0] == pytest.approx(1 / 3)
    assert found.answered[0] == pytest.approx(1.0)
    assert (found.n[0], found.n_answered[0]) == (3, 2)


def test_two_refusals_have_the_similarity_0_and_none_among_answers():
    found = compute_set_similarity(np.empty((0, 4)), [0, 0], [False, False], 1)
    assert found.all[0] == 0.0
    assert np.isnan(found.answered[0])


def test_one_reply_is_compared_with_nothing():
    found = compute_set_similarity([[1.0, 0.0]], [0], [True], 2)
    assert np.isnan(found.all).all()


def test_it_agrees_with_scipy_pair_by_pair():
    rng = np.random.default_rng(4)
    vectors = rng.normal(size=(30, 7))
    sets = rng.integers(0, 4, size=30)
    found = compute_set_similarity(vectors, sets, np.ones(30), 4)
    for place in range(4):
        assert found.all[place] == pytest.approx(1 - pdist(vectors[sets == place], "cosine").mean())
    dense = compute_set_similarity(sparse.csr_matrix(vectors), sets, np.ones(30), 4)
    np.testing.assert_allclose(found.all, dense.all, atol=1e-12)


def test_a_vector_of_zeros_has_cosine_0():
    # Pairs: (0, e1) 0, (0, e1) 0, (e1, e1) 1.
    found = compute_set_similarity([[0.0, 0], [1, 0], [1, 0]], [0, 0, 0], [True] * 3, 1)
    assert found.all[0] == pytest.approx(1 / 3)


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 2)), min_size=1, max_size=12))
def test_across_languages_only_pairs_of_two_languages_count(rows):
    vectors = np.random.default_rng(len(rows)).normal(size=(len(rows), 3))
    units = vectors / np.linalg.norm(vectors, axis=1)[:, None]
    items, languages = map(list, zip(*rows, strict=True))
    found, pairs = compute_similarity_across_languages(vectors, items, languages, 2)
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
