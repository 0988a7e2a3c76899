"""Those who copy are named, and those who are alike because they are right are not."""

import numpy as np
import pytest

from evaluation.methods.alarms import kinship
from evaluation.methods.simulation import WorkerGroup, correlated_weak, honest, simulate
from tests.evaluation.methods.alarms.crowds import pairs_of, pasted


def kinship_of(crowd, vectors=None):
    vectors = crowd.vectors if vectors is None else vectors
    return kinship(pairs_of(vectors, crowd.workers, crowd.questions))


def members(found):
    return [group.members.tolist() for group in found.groups]


def test_the_share_of_the_gap_that_two_of_four_close_by_hand():
    # Three workers agree by .5 with each other on all of ten questions; the fourth is the third's
    # copy. Left out of the expectation, the pair leaves all others at .5: nothing above the mean,
    # the gap to identity is .5, and all of it is closed.
    corner = np.linalg.cholesky(np.full((3, 3), 0.5) + 0.5 * np.eye(3))
    vectors = np.tile(corner[[0, 1, 2, 2]], (10, 1))
    found = kinship(pairs_of(vectors, np.tile(np.arange(4), 10), np.repeat(np.arange(10), 4)))
    assert members(found) == [[2, 3]]
    assert found.groups[0].statistic == pytest.approx(1.0)
    assert found.groups[0].mean_cosine == pytest.approx(1.0)
    assert found.groups[0].n_shared == 10
    others = [
        k
        for k, a, b in zip(found.kappa, found.pairs.left, found.pairs.right, strict=True)
        if (a, b) != (2, 3)
    ]
    assert others == pytest.approx([0.0] * 5, abs=1e-6)


@pytest.mark.parametrize("source", [0, 19], ids=["a good answer", "a bad one"])
def test_four_who_paste_are_named_and_nobody_else(source):
    for seed in range(5):
        crowd = simulate(honest(20), 15, 100, seed)
        who = [source, 5, 9, 12]
        found = kinship_of(crowd, pasted(crowd, who))
        assert members(found) == [sorted(who)]
        assert found.statistic == pytest.approx(1.0)


def test_two_groups_are_two_groups():
    crowd = simulate(honest(24), 15, 100, 3)
    crowd.vectors[:] = pasted(crowd, [1, 8, 20])
    found = kinship_of(crowd, pasted(crowd, [4, 9]))
    assert members(found) == [[1, 8, 20], [4, 9]]


def test_excellent_workers_are_not_named_for_being_alike():
    for seed in range(5):
        crowd = simulate([WorkerGroup(5, 0.2), WorkerGroup(15, 2.0)], 20, 200, seed)
        assert members(kinship_of(crowd)) == []


def test_a_camp_of_weak_workers_is_named_as_a_group():
    found = kinship_of(simulate(correlated_weak(0.8), 12, 300, 1))
    assert members(found)[0] == list(range(10))


def test_fewer_than_ten_shared_questions_say_nothing():
    crowd = simulate(honest(8), 9, 50, 1)
    found = kinship_of(crowd, pasted(crowd, [0, 1]))
    assert members(found) == []
    assert np.isnan(found.kappa).all()
    assert (found.statistic, found.reason) == (None, "no_pair_shares_10_questions")


def test_some_copied_answers_are_a_notice_about_these_two_only():
    crowd = simulate(honest(20), 40, 100, 2)
    vectors = crowd.vectors.copy()
    for question in range(14):  # 35% of the answers
        at = np.flatnonzero(crowd.questions == question)
        vectors[at[crowd.workers[at] == 15]] = vectors[at[crowd.workers[at] == 11]]
    found = kinship_of(crowd, vectors)
    assert members(found) == []
    (notice,) = found.partly
    assert notice.members.tolist() == [11, 15]
    # 14 of 40 questions, less the rate at which other pairs are that much alike: none.
    assert notice.statistic == pytest.approx(14 / 40)
    assert sorted(notice.alike[:14, 2].tolist()) == list(range(14))


def test_answers_that_everybody_gives_are_no_notice():
    crowd = simulate(honest(20), 40, 100, 2)
    vectors = crowd.vectors.copy()
    vectors[crowd.questions < 14] = 1.0
    found = kinship_of(crowd, vectors)
    assert (members(found), found.partly) == ([], ())
