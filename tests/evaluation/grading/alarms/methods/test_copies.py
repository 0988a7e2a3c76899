"""Those who copy are named, and those who are alike because they are right are not."""

import itertools

import numpy as np
import pytest
from scipy import stats

from evaluation.core.stats.simulation import (
    WorkerGroup,
    build_correlated_weak_groups,
    build_honest_groups,
    simulate_crowd,
)
from evaluation.grading.alarms.methods import find_copiers
from tests.evaluation.grading.alarms.methods.crowds import pairs_by_hand, pairs_of, pasted


def kinship_of(crowd, vectors=None):
    vectors = crowd.vectors if vectors is None else vectors
    return find_copiers(pairs_of(vectors, crowd.workers, crowd.questions))


def members(found):
    return [group.members.tolist() for group in found.groups]


def test_the_share_of_the_gap_that_two_of_four_close_by_hand():
    # Three workers agree by .5 with each other on all of ten questions; the fourth is the third's
    # copy. Left out of the expectation, the pair leaves all others at .5: nothing above the mean,
    # the gap to identity is .5, and all of it is closed.
    corner = np.linalg.cholesky(np.full((3, 3), 0.5) + 0.5 * np.eye(3))
    vectors = np.tile(corner[[0, 1, 2, 2]], (10, 1))
    found = find_copiers(pairs_of(vectors, np.tile(np.arange(4), 10), np.repeat(np.arange(10), 4)))
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
        crowd = simulate_crowd(build_honest_groups(20), 15, 100, seed)
        who = [source, 5, 9, 12]
        found = kinship_of(crowd, pasted(crowd, who))
        assert members(found) == [sorted(who)]
        assert found.statistic == pytest.approx(1.0)


def test_two_groups_are_two_groups():
    crowd = simulate_crowd(build_honest_groups(24), 15, 100, 3)
    crowd.vectors[:] = pasted(crowd, [1, 8, 20])
    found = kinship_of(crowd, pasted(crowd, [4, 9]))
    assert members(found) == [[1, 8, 20], [4, 9]]


def test_excellent_workers_are_not_named_for_being_alike():
    for seed in range(5):
        crowd = simulate_crowd([WorkerGroup(5, 0.2), WorkerGroup(15, 2.0)], 20, 200, seed)
        assert members(kinship_of(crowd)) == []


def test_a_camp_of_weak_workers_is_named_as_a_group():
    found = kinship_of(simulate_crowd(build_correlated_weak_groups(0.8), 12, 300, 1))
    assert members(found)[0] == list(range(10))


def test_fewer_than_ten_shared_questions_say_nothing():
    crowd = simulate_crowd(build_honest_groups(8), 9, 50, 1)
    found = kinship_of(crowd, pasted(crowd, [0, 1]))
    assert members(found) == []
    assert np.isnan(found.kappa).all()
    assert (found.statistic, found.reason) == (None, "no_pair_shares_10_questions")


def test_some_copied_answers_are_a_notice_about_these_two_only():
    crowd = simulate_crowd(build_honest_groups(20), 40, 100, 2)
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
    crowd = simulate_crowd(build_honest_groups(20), 40, 100, 2)
    vectors = crowd.vectors.copy()
    vectors[crowd.questions < 14] = 1.0
    found = kinship_of(crowd, vectors)
    assert (members(found), found.partly) == ([], ())


def usual_crowd(n_workers=12):
    """Cosines of .3, and of 1 for every two workers on 4 of the 40 questions, others for each."""
    cosine = np.full((n_workers, n_workers, 40), 0.3)
    for at, (left, right) in enumerate(itertools.combinations(range(n_workers), 2)):
        cosine[left, right, (4 * at + np.arange(4)) % 40] = 1.0
    return cosine


@pytest.mark.parametrize(("alike", "named"), [(15, False), (18, True)])
def test_the_bound_for_chance_is_shared_among_all_pairs_that_are_looked_at(alike, named):
    # 66 pairs of 12 workers; the others are alike on about a tenth of the questions. 15 of 40 by
    # chance: 3e-6 for one pair, 2e-4 for one of 66, above the .01 / 200 of an honest crowd.
    # 18 of 40: 1e-8 and 8e-7.
    chance = stats.binom.sf(alike - 1, 40, 0.1)
    assert chance < 0.01 / 200
    assert (66 * chance < 0.01 / 200) == named
    cosine = usual_crowd()
    cosine[2, 7] = 0.3
    cosine[2, 7, :alike] = 1.0
    found = find_copiers(pairs_by_hand(cosine))
    assert members(found) == []
    assert [group.members.tolist() for group in found.partly] == ([[2, 7]] if named else [])
    if named:  # the 65 others: 65 x 4 of 65 x 40
        assert found.partly[0].statistic == pytest.approx(18 / 40 - 0.1)


def test_pairs_that_share_too_little_have_no_part_in_the_bound_for_chance():
    # Four workers share 40 questions and eight others 9 of their own: of the 6 + 28 pairs only the
    # 6 are looked at. The same 15 of 40 that are too few among 34 pairs are enough among 6.
    chance = stats.binom.sf(15 - 1, 40, 0.1)
    assert 6 * chance < 0.01 / 200 < 34 * chance
    cosine = np.full((12, 12, 49), np.nan)
    cosine[:4, :4, :40] = usual_crowd(4)
    cosine[4:, 4:, 40:] = 0.3
    cosine[1, 3, :40] = 0.3
    cosine[1, 3, :15] = 1.0
    found = find_copiers(pairs_by_hand(cosine))
    assert [group.members.tolist() for group in found.partly] == [[1, 3]]
    assert found.partly[0].statistic == pytest.approx(15 / 40 - 0.1)


def test_who_is_in_a_group_is_not_told_again_for_a_part_of_the_answers():
    # 3 and 6 give the same answers; 1 shares half of them with 3, 9 with 6, and 0 with 11.
    cosine = usual_crowd()
    cosine[3, 6] = 1.0
    for left, right in ((1, 3), (6, 9), (0, 11)):
        cosine[left, right] = 0.3
        cosine[left, right, :19] = 1.0
    found = find_copiers(pairs_by_hand(cosine))
    assert members(found) == [[3, 6]]
    assert [group.members.tolist() for group in found.partly] == [[0, 11]]


def test_the_same_answers_on_fewer_than_ten_questions_are_told_of_nobody():
    cosine = usual_crowd()
    cosine[2, 7] = np.nan
    cosine[2, 7, :9] = 1.0
    found = find_copiers(pairs_by_hand(cosine))
    assert (members(found), found.partly) == ([], ())
    cosine[2, 7, 9] = 1.0
    assert members(find_copiers(pairs_by_hand(cosine))) == [[2, 7]]
