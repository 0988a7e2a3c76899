"""Two camps on single questions, whose holders change from question to question."""

import numpy as np
import pytest

from evaluation.core.stats.simulation import build_honest_groups, simulate_crowd
from evaluation.grading.alarms.methods import find_question_camps
from evaluation.grading.alarms.methods.questions import (
    FactoredSimilarityMatrices,
    FullSimilarityMatrices,
)
from tests.evaluation.grading.alarms.methods.crowds import fitted


def look(vectors, workers, questions, **switches):
    return find_question_camps(fitted(vectors, workers, questions, **switches).mean_vote_)


def with_misconceptions(crowd, n_questions, seed=0):
    """The vectors of a crowd in which 8 changing workers hold another truth on some questions."""
    rng = np.random.default_rng(seed)
    vectors, held = crowd.vectors.copy(), {}
    for question in rng.choice(crowd.n_questions, n_questions, replace=False).tolist():
        at = rng.choice(np.flatnonzero(crowd.questions == question), 8, replace=False)
        other = rng.standard_normal(vectors.shape[1])
        vectors[at] += other - crowd.truth[question]
        held[question] = set(crowd.workers[at].tolist())
    return vectors, held


@pytest.mark.parametrize("similarity", ["cosine", "euclidean"])
def test_the_separation_of_two_camps_by_hand(similarity):
    # Four answers at (1, 0, .) and three at (0, 1, .): .8 within (a common .8 share), 0 across.
    # separation = (.8 - 0) / (1 - 0).
    def camp(axis, size):
        own = np.zeros((size, 9))
        own[:, axis] = np.sqrt(0.8)
        own[np.arange(size), 2 + np.arange(size) + (4 if axis else 0)] = np.sqrt(0.2)
        return own

    vectors = np.vstack([camp(0, 4), camp(1, 3)])
    found = look(vectors, list("abcdefg"), [1] * 7, similarity=similarity)
    assert found.separation == pytest.approx([0.8], abs=1e-9)
    assert [camp.tolist() for camp in found.camps[0]] == [[0, 1, 2, 3], [4, 5, 6]]
    assert found.nearest == ((0, 4),)  # all of a camp are as near: the first
    assert (found.statistic, found.n_tested, found.is_raised) == (
        1.0,
        1,
        False,
    )  # one question only


def test_the_answer_in_the_middle_of_each_camp_is_its_nearest():
    # Sums of the cosines to the others of the camp, with angles of -20, 0, 25 and 80, 90, 110, 100:
    # 0: cos 20 + cos 25 = 1.846 against 1.647 and 1.613;
    # 90: cos 10 + cos 20 + cos 10 = 2.909 against 2.791 (80), 2.790 (110) and 2.909 (100),
    # and of two that are as near the first.
    angles = np.radians([80, -20, 110, 0, 90, 25, 100])
    vectors = np.column_stack([np.cos(angles), np.sin(angles)])
    found = look(vectors, list("abcdefg"), [1] * 7)
    assert [camp.tolist() for camp in found.camps[0]] == [[0, 2, 4, 6], [1, 3, 5]]
    assert found.nearest == ((4, 3),)


def test_misconceptions_ring_and_are_told_with_those_who_hold_them():
    crowd = simulate_crowd(build_honest_groups(20, (0.5, 1.0)), 20, 200, 3)
    vectors, held = with_misconceptions(crowd, 6)
    aqer = fitted(vectors, crowd.workers, crowd.questions)
    found = find_question_camps(aqer.mean_vote_)
    assert found.is_raised
    assert set(aqer.questions_[found.listed].tolist()) == set(held)
    assert found.statistic == pytest.approx(6 / 20)
    for question, (_, smaller) in zip(found.listed, found.camps, strict=True):
        assert set(aqer.workers_[smaller].tolist()) == held[aqer.questions_[question]]
    assert np.sort(found.separation[found.listed])[::-1].tolist() == (
        found.separation[found.listed].tolist()
    )


def test_good_and_bad_answers_are_no_camps():
    for seed in range(3):
        crowd = simulate_crowd(build_honest_groups(24), 12, 100, seed)
        assert len(look(crowd.vectors, crowd.workers, crowd.questions).listed) == 0


def test_the_same_is_found_with_more_answers_than_dimensions():
    rng = np.random.default_rng(0)
    vectors = np.vstack([rng.normal([3, 0], 0.2, (5, 2)), rng.normal([0, 3], 0.2, (4, 2))])
    found = look(vectors, np.arange(9), np.zeros(9, int))
    assert [len(camp) for camp in found.camps[0]] == [5, 4]


def test_few_or_equal_answers_have_no_camps():
    few = look(np.eye(5), np.arange(5), np.zeros(5, int))
    assert (few.statistic, few.reason) == (None, "no_question_with_6_answers")
    assert np.isnan(few.separation).all()
    equal = look(np.ones((8, 3)), np.arange(8), np.zeros(8, int))
    assert equal.separation.tolist() == [0.0]
    nothing = look(np.zeros((8, 3)), np.arange(8), np.zeros(8, int))
    assert not nothing.is_raised


def test_a_question_with_very_many_answers_is_judged_by_a_sample(monkeypatch):
    from evaluation.grading.alarms.methods import questions

    monkeypatch.setattr(questions, "MOST_ANSWERS", 40)
    rng = np.random.default_rng(0)
    vectors = np.vstack([rng.normal(0, 0.2, (70, 8)) + axis for axis in np.eye(8)[:2]])
    found = look(vectors, np.arange(140), np.zeros(140, int))
    ((large, small),) = found.camps
    assert len(large) + len(small) == 40
    assert {int(large.max() < 70), int(small.max() < 70)} == {0, 1}


@pytest.mark.parametrize("seed", [0, 7])
def test_the_seed_says_which_answers_are_in_the_sample(monkeypatch, seed):
    from evaluation.grading.alarms.methods import questions

    monkeypatch.setattr(questions, "MOST_ANSWERS", 40)
    rng = np.random.default_rng(0)
    vectors = np.vstack([rng.normal(0, 0.2, (70, 8)) + axis for axis in np.eye(8)[:2]])
    vote = fitted(vectors, np.arange(140), np.zeros(140, int)).mean_vote_
    drawn = np.sort(np.random.default_rng(seed).choice(140, 40, replace=False))
    ((large, small),) = find_question_camps(vote, seed).camps
    assert np.union1d(large, small).tolist() == drawn.tolist()


def test_questions_looked_at_in_parts_have_the_camps_they_have_at_once(monkeypatch):
    from evaluation.grading.alarms.methods import questions

    crowd = simulate_crowd(build_honest_groups(12, (0.5, 1.0)), 10, 200, 3)
    vectors, _ = with_misconceptions(crowd, 4)
    whole = look(vectors, crowd.workers, crowd.questions)
    monkeypatch.setattr(questions, "AT_ONCE", 3 * 12**2)  # three questions of twelve answers
    parts = look(vectors, crowd.workers, crowd.questions)
    assert parts.separation == pytest.approx(whole.separation, abs=1e-12)
    assert parts.listed.tolist() == whole.listed.tolist() != []
    assert str(parts.camps) == str(whole.camps)


def test_what_camps_have_in_common_is_no_separation():
    # Within .9 each, across .5: (.9 - .5) / (1 - .5) = .8.
    def camp(axis, size, first):
        own = np.zeros((size, 12))
        own[:, 0], own[:, axis] = np.sqrt(0.5), np.sqrt(0.4)
        own[np.arange(size), first + np.arange(size)] = np.sqrt(0.1)
        return own

    vectors = np.vstack([camp(1, 4, 3), camp(2, 3, 7)])
    found = look(vectors, list("abcdefg"), [1] * 7)
    assert found.separation == pytest.approx([0.8], abs=1e-9)
    assert [camp.tolist() for camp in found.camps[0]] == [[0, 1, 2, 3], [4, 5, 6]]


def test_rows_multiply_as_the_whole_matrix_does():
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(2, 9, 4))
    rows /= np.linalg.norm(rows, axis=2, keepdims=True)
    whole = rows @ rows.transpose(0, 2, 1) - np.eye(9)
    one, other = FullSimilarityMatrices(whole), FactoredSimilarityMatrices(rows)
    v = rng.normal(size=(2, 9))
    np.testing.assert_allclose(other.multiply_vectors(v), one.multiply_vectors(v), atol=1e-12)
    np.testing.assert_allclose(other.cosine_sums, whole.sum(axis=2), atol=1e-12)
    np.testing.assert_allclose(
        other.iterate_power_method(v, 64), one.iterate_power_method(v, 64), atol=1e-9
    )
    inside = np.arange(9) % 2 == 0
    np.testing.assert_allclose(
        other.sum_similarities(1, inside), one.sum_similarities(1, inside), atol=1e-12
    )
