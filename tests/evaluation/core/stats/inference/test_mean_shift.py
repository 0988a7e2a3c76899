from itertools import combinations, product

import numpy as np
import pytest
from scipy import sparse, stats

from evaluation.core.stats.inference import significance
from evaluation.core.stats.inference.significance import compute_mean_shifts


def distance(one, other):
    """1 - cosine of two means, as it is defined."""
    a, b = np.mean(one, axis=0), np.mean(other, axis=0)
    return 1 - a @ b / np.linalg.norm(a) / np.linalg.norm(b)


def one_question(before, after, same_people=0):
    """The test of one question; the first so many people of each wave are the same."""
    n, m = len(before), len(after)
    people = [*range(n), *(at if at < same_people else n + at for at in range(m))]
    later = [False] * n + [True] * m
    return compute_mean_shifts(np.vstack([before, after]), np.zeros(n + m), later, people)


def near(found, exact):
    """Whether a p-value of random deals is within four standard errors of the exact one."""
    error = np.sqrt(exact * (1 - exact) / found.n_draws[0])
    return abs(found.p_values[0] - exact) <= 4 * error + 1 / found.n_draws[0]


def test_two_against_two_at_a_right_angle_lie_so_far_apart_in_two_of_six_deals():
    # Of the six ways to deal e1, e1, e2, e2 two put likes together: distance 1, else 0.
    found = one_question([[1, 0], [2, 0]], [[0, 1], [0, 1]])
    assert found.distance[0] == pytest.approx(1)
    assert near(found, 2 / 6)


def test_p_is_that_of_scipy_for_two_samples_and_for_pairs():
    rng = np.random.default_rng(4)
    before, after = rng.normal(1, 1, (6, 3)), rng.normal([1, 0.2, 1], 1, (5, 3))

    # scipy deals numbers, so rows of vectors go by theirs.
    every = np.vstack([before, after])
    ways = [set(way) for way in combinations(range(11), 6)]
    real = distance(before, after)
    reached = [
        distance(every[sorted(way)], every[sorted(set(range(11)) - way)]) >= real - 1e-9
        for way in ways
    ]
    told = stats.permutation_test(
        (np.arange(6), np.arange(6, 11)),
        lambda a, b: distance(every[a.astype(int)], every[b.astype(int)]),
        permutation_type="independent", alternative="greater", n_resamples=np.inf,
    )  # fmt: skip
    assert told.pvalue == pytest.approx(np.mean(reached))
    assert near(one_question(before, after), told.pvalue)
    paired = np.vstack([before[:5], after])
    told = stats.permutation_test(
        (np.arange(5), np.arange(5, 10)),
        lambda a, b: distance(paired[a.astype(int)], paired[b.astype(int)]),
        permutation_type="samples", alternative="greater", n_resamples=np.inf,
    )  # fmt: skip
    found = one_question(before[:5], after, same_people=5)
    assert found.n_both[0] == 5
    assert near(found, told.pvalue)
    assert abs(told.pvalue - np.mean(reached)) > 0.05  # pairs are another question


def test_who_answered_in_both_waves_keeps_an_answer_in_each():
    # Two of both and two others in each wave: 2 x 2 swaps times 6 ways to deal the four others.
    rng = np.random.default_rng(1)
    rows = rng.normal(0.5, 1, (8, 3))
    before, after = rows[:4], rows[4:]
    real = distance(before, after)
    reached = []
    for swap, kept in product(product((0, 1), repeat=2), combinations((2, 3, 6, 7), 2)):
        one = [4 * flip + at for at, flip in enumerate(swap)] + list(kept)
        other = sorted(set(range(8)) - set(one))
        reached.append(distance(rows[one], rows[other]) >= real - 1e-9)
    assert near(one_question(before, after, same_people=2), np.mean(reached))


def crowd(rng, moved, n=12, n_same=0, dimension=8):
    """Answers of two waves to as many questions as `moved` has; people have a manner of their own.

    The mean of a question that moved is another one in the later wave.
    """
    count = len(moved)
    manner = rng.normal(0, 0.7, (2 * n, dimension))
    people = np.concatenate([np.arange(n), np.arange(n) + n])
    people[n : n + n_same] = np.arange(n_same)
    later = np.repeat([False, True], n)
    mean = rng.normal(size=(count, dimension))
    change = rng.normal(size=(count, dimension)) * np.asarray(moved)[:, None]
    vectors = mean[:, None] + manner[people] + rng.normal(size=(count, 2 * n, dimension))
    vectors += change[:, None] * later[None, :, None]
    return (
        vectors.reshape(-1, dimension), np.repeat(np.arange(count), 2 * n),
        np.tile(later, count), np.tile(people, count),
    )  # fmt: skip


@pytest.mark.parametrize("n_same", [0, 8])
def test_where_nothing_changed_a_question_is_said_to_have_moved_in_5_of_100_crowds(n_same):
    rng = np.random.default_rng(0)
    p_values, rings, crowds = [], 0, 150
    for _ in range(crowds):
        found = compute_mean_shifts(*crowd(rng, [0] * 8, n_same=n_same))
        rings += bool((found.adjusted <= 0.05).any())
        p_values += list(found.p_values)
    # Of 150 crowds where 5% ring, 14 or fewer do in 99 of 100 cases (binomial).
    assert rings <= 14
    # Of 1,200 tests 5% is 60; those of one crowd hang together, so that the bounds are wide.
    assert 0.02 <= np.mean(np.array(p_values) <= 0.05) <= 0.085


@pytest.mark.parametrize("n_same", [0, 8])
def test_what_moved_is_found_and_of_what_is_found_5_of_100_did_not_move(n_same):
    rng = np.random.default_rng(0)
    false, hits, moved = [], 0, np.array([1.5] * 5 + [0] * 15)
    for _ in range(40):
        found = compute_mean_shifts(*crowd(rng, moved, n_same=n_same)).adjusted <= 0.05
        hits += int(found[:5].sum())
        false.append(found[5:].sum() / max(1, found.sum()))
    assert hits >= 0.8 * 5 * 40
    assert np.mean(false) <= 0.07


def test_one_moved_question_of_a_thousand_has_a_p_value_small_enough():
    rng = np.random.default_rng(2)
    vectors, questions, later, people = crowd(rng, [4.0] + [0] * 400, n=12)
    found = compute_mean_shifts(vectors, questions, later, people)
    # 400 tests at .05 ask p <= .000125 of the only one that moved: 999 deals could not say it.
    assert found.n_draws[0] > 8_000
    assert found.p_values[0] == 1 / (found.n_draws[0] + 1)  # never 0
    assert found.adjusted[0] <= 0.05
    assert np.median(found.n_draws) == significance.FIRST_DRAWS


def test_sparse_and_many_answers_are_the_same_as_dense_and_few(monkeypatch):
    vectors, questions, later, people = crowd(np.random.default_rng(5), [1.0, 0.0], n=6)
    # 12 answers of 8 dimensions go by the vectors; as sparse rows by their inner products.
    direct = compute_mean_shifts(vectors, questions, later, people)
    inner = compute_mean_shifts(sparse.csr_array(vectors), questions, later, people)
    monkeypatch.setattr(significance, "DRAWN_AT_ONCE", 50)
    parts = compute_mean_shifts(vectors, questions, later, people)
    for other in (inner, parts):
        assert other.distance == pytest.approx(direct.distance)
    assert list(inner.p_values) == list(direct.p_values)
    assert list(compute_mean_shifts(vectors, questions, later, people, seed=1).p_values) != list(
        direct.p_values
    )


def test_equal_answers_did_not_move_and_a_wave_without_answers_has_no_test():
    same = one_question([[1, 0]] * 4, [[1, 0]] * 4)
    assert (same.distance[0], same.p_values[0]) == (pytest.approx(0), 1.0)
    found = compute_mean_shifts(np.eye(3), [0, 0, 2], [False, True, True], [1, 2, 3], 4)
    assert list(found.n_draws > 0) == [True, False, False, False]
    assert np.isnan(found.adjusted[1:]).all()
    assert len(compute_mean_shifts(np.empty((0, 3)), [], [], []).distance) == 0
    # A mean of nothing points nowhere: as far as a right angle.
    assert one_question([[1, 0], [-1, 0]], [[0, 1]]).distance[0] == 1


def test_what_cannot_be_tested_is_refused():
    with pytest.raises(ValueError, match="two answers"):
        compute_mean_shifts(np.eye(3), [0, 0, 0], [False, False, True], [1, 1, 2])
    with pytest.raises(ValueError, match="3 vectors for"):
        compute_mean_shifts(np.eye(3), [0, 0], [False, True], [1, 2])


@pytest.mark.parametrize("alpha", [-0.1, 0.0, 1.0, 1.5, np.nan])
def test_a_share_of_false_alarms_that_is_none_is_refused(alpha):
    # Below alpha after Benjamini and Hochberg needs some 4 x tests / alpha deals: without end at 0.
    with pytest.raises(ValueError, match=r"^alpha "):
        compute_mean_shifts(np.eye(2), [0, 0], [False, True], [1, 2], alpha=alpha)
