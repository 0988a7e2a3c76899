"""Judges' scores of a set become one; sums over sets are ranked where that means something."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.methods.eloquent.judged import ranks_by_sum, set_scores


def test_repeats_are_averaged_first_and_judges_then():
    # Set 0: judge 0 says 1, 2 and 3 (mean 2, deviation 1), judge 1 says 5: (2 + 5)/2 = 3.5 and
    # not (1 + 2 + 3 + 5)/4 = 2.75. Set 1: one score. Set 2: none.
    found = set_scores([0, 0, 0, 0, 1, 1], [0, 0, 0, 1, 0, 1], [1, 2, 3, 5, 4, np.nan], 3)
    assert found.score.tolist()[:2] == [3.5, 4.0]
    assert np.isnan(found.score[2])
    assert found.n_judges.tolist() == [2, 1, 0]
    assert found.n_scores.tolist() == [4, 1, 0]


def test_the_spread_is_of_those_who_judged_twice():
    # Judge 0: 1 and 4, deviation 3/sqrt(2); judge 1: 2 and 2, deviation 0; judge 2 once.
    found = set_scores([0] * 5, [0, 0, 1, 1, 2], [1, 4, 2, 2, 5], 1)
    assert found.spread[0] == pytest.approx(np.mean([np.std([1, 4], ddof=1), 0.0]))
    assert np.isnan(set_scores([0, 0], [0, 1], [1, 4], 1).spread[0])


def test_without_any_judgement_every_set_is_without_a_score():
    found = set_scores([], [], [], 2)
    assert np.isnan(found.score).all()
    assert found.n_scores.tolist() == [0, 0]


@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.integers(0, 2), st.floats(0, 5)), min_size=1, max_size=40
    )
)
def test_set_scores_are_what_dictionaries_of_lists_give(rows):
    found = set_scores(*map(list, zip(*rows, strict=True)), 4)
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
    ranks = ranks_by_sum([{"a": 1.0, "b": 3.0}, {"a": 2.0, "b": 2.0}, {"a": 0.5, "b": 0.0}])
    assert [one.rank for one in ranks] == [1, 1, 3]

    # .1 + .2 + .3 and .3 + .2 + .1 differ in their last digit, and are a tie.
    tied = ranks_by_sum([{"a": 0.1, "b": 0.2, "c": 0.3}, {"a": 0.3, "b": 0.2, "c": 0.1}])
    assert [one.rank for one in tied] == [1, 1]


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
    assert [(one.rank, one.reason) for one in ranks_by_sum(scored)] == [(None, reason)] * len(
        scored
    )
