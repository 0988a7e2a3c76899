"""Two camps are found where a part of the crowd errs together, and nowhere else."""

import numpy as np
import pytest
from scipy import stats
from scipy.sparse.linalg import eigsh

from evaluation.core.stats.simulation import (
    build_correlated_weak_groups,
    build_honest_groups,
    simulate_crowd,
)
from evaluation.grading.alarms.methods import Pairs, find_camps
from tests.evaluation.grading.alarms.methods.crowds import fitted, pairs_of, pasted


def camps_of(crowd, **how):
    return find_camps(pairs_of(crowd.vectors, crowd.workers, crowd.questions), **how)


@pytest.mark.parametrize("share", [0.5, 0.7])
@pytest.mark.parametrize("rho", [0.7, 0.8, 0.9])
def test_weak_workers_who_err_together_are_a_camp_of_exactly_themselves(rho, share):
    for seed in range(5):
        found = camps_of(simulate_crowd(build_correlated_weak_groups(rho, share), 10, 300, seed))
        assert found.is_raised
        weak = set(range(round(share * 20)))
        assert {frozenset(camp.tolist()) for camp in found.members} == {
            frozenset(weak),
            frozenset(set(range(20)) - weak),
        }
        assert min(found.surplus) > 0


@pytest.mark.parametrize("n_workers", [12, 30, 60])
def test_good_and_bad_workers_are_no_camps(n_workers):
    for seed in range(5):
        assert not camps_of(simulate_crowd(build_honest_groups(n_workers), 20, 100, seed)).is_raised


def test_a_sparse_crowd_shows_its_camps_too():
    crowd = simulate_crowd(
        build_correlated_weak_groups(0.8, n_workers=40), 60, 100, seed=1, answers_per_question=8
    )
    aqer = fitted(crowd.vectors, crowd.workers, crowd.questions)
    found = find_camps(Pairs.from_vote(aqer.mean_vote_))
    assert found.is_raised
    assert {frozenset(aqer.workers_[camp].tolist()) for camp in found.members} == {
        frozenset(range(20)),
        frozenset(range(20, 40)),
    }


def test_the_larger_camp_comes_first():
    found = camps_of(simulate_crowd(build_correlated_weak_groups(0.9, 0.7), 10, 100, 0))
    assert [len(camp) for camp in found.members] == [14, 6]


def test_the_same_seed_gives_the_same_statistic_and_it_is_the_normal_quantile_of_t():
    crowd = simulate_crowd(build_correlated_weak_groups(0.3, 0.5, weak=1.0), 12, 60, 4)
    pairs = pairs_of(crowd.vectors, crowd.workers, crowd.questions)
    assert find_camps(pairs, seed=3).statistic == find_camps(pairs, seed=3).statistic
    from evaluation.grading.alarms.methods.camps import _convert_t_to_z

    assert _convert_t_to_z(2.0, 9) == pytest.approx(stats.norm.isf(stats.t.sf(2.0, 9)))
    assert _convert_t_to_z(-2.0, 9) == -_convert_t_to_z(2.0, 9)
    assert _convert_t_to_z(1e9, 300) == 37.0


def test_four_who_paste_one_good_answer_have_no_camp_of_honest_ones_against_them():
    crowd = simulate_crowd(build_honest_groups(20), 20, 100, 8)
    vectors = pasted(crowd, [0, 1, 2, 3])
    found = find_camps(pairs_of(vectors, crowd.workers, crowd.questions))
    assert found.statistic == 0.0


@pytest.mark.parametrize(
    ("workers", "questions", "reason"),
    [(5, 10, "fewer_than_6_workers"), (10, 4, "fewer_than_5_questions")],
)
def test_too_small_a_crowd_has_no_statistic_but_a_reason(workers, questions, reason):
    found = camps_of(simulate_crowd(build_honest_groups(workers), questions, 20, 0))
    assert (found.statistic, found.reason, found.is_raised) == (None, reason, False)


def test_answers_that_are_all_the_same_have_no_second_camp():
    vectors = np.ones((60, 4))
    found = find_camps(pairs_of(vectors, np.repeat(np.arange(10), 6), np.tile(np.arange(6), 10)))
    assert not found.is_raised


def test_a_run_restarted_from_equal_weights_is_the_run():
    crowd = simulate_crowd(build_honest_groups(9), 6, 20, 0)
    aqer = fitted(crowd.vectors, crowd.workers, crowd.questions, leave_one_out=True)
    equal = np.full((9, 1), 1 / 9)
    assert aqer.compute_restarted_raw(equal)[:, 0] == pytest.approx(aqer.raw_, abs=1e-15)


def test_started_from_each_camp_a_run_ends_in_that_camp():
    crowd = simulate_crowd(build_correlated_weak_groups(0.7), 10, 300, 0)
    aqer = fitted(crowd.vectors, crowd.workers, crowd.questions)
    weak = (np.arange(20) < 10).astype(float)
    raw = aqer.compute_restarted_raw(np.stack([weak, 1 - weak], axis=1) / 10)
    assert raw[:10, 0].min() > raw[10:, 0].max()
    assert raw[:10, 1].max() < raw[10:, 1].min()


def test_of_a_large_crowd_too_the_halves_are_the_signs_of_the_leading_eigenvector():
    # More workers than are solved at once: three camps of unequal strength, and noise.
    from evaluation.grading.alarms.methods.camps import _compute_leading_vector
    from evaluation.grading.alarms.methods.pairs import DENSE

    n = DENSE + 20
    rng = np.random.default_rng(1)
    left, right = np.triu_indices(n, 1)
    camp = np.arange(n) % 3
    values = np.where(camp[left] == camp[right], 0.6 - 0.2 * camp[left], -0.3)
    values += 0.05 * rng.standard_normal(len(left))
    pairs = Pairs(left, right, np.zeros(0, int), np.zeros(0, int), np.zeros(0), n, 1)
    wanted = eigsh(pairs.build_symmetric_matrix(values).toarray(), k=1, which="LA")[1][:, 0]
    found = _compute_leading_vector(pairs, values)
    assert np.linalg.norm(found) == pytest.approx(1.0, abs=1e-9)
    assert found * np.sign(found @ wanted) == pytest.approx(wanted, abs=1e-6)


def test_a_large_crowd_without_any_likeness_ends_at_the_first_step():
    from evaluation.grading.alarms.methods.camps import _compute_leading_vector

    left, right = np.triu_indices(310, 1)
    pairs = Pairs(left, right, np.zeros(0, int), np.zeros(0, int), np.zeros(0), 310, 1)
    assert np.linalg.norm(_compute_leading_vector(pairs, np.zeros(len(left)))) == pytest.approx(1.0)
