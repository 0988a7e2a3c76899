"""Intervals of ranks and the agreement of draws, on cases small enough to count."""

import numpy as np
import pytest
from scipy import stats

from evaluation.consensus import AQER
from evaluation.consensus.methods.fitted import compute_draw_agreement, compute_rank_intervals
from tests.evaluation.core.stats.worlds import crowd

EVERYBODY = np.ones(3, dtype=bool)


def test_the_rank_of_a_worker_lies_between_its_best_and_worst_draw():
    # Ann is first in three draws and second in one, Bob the other way round, Cy always last.
    drawn = np.array([[0.9, 0.8, 0.9, 0.5], [0.7, 0.7, 0.8, 0.6], [0.1, 0.2, 0.3, 0.4]])
    low, high = compute_rank_intervals(drawn, EVERYBODY, np.array([10, 10, 10]))
    assert low.tolist() == [1, 1, 3]
    assert high.tolist() == [2, 2, 3]


def test_tied_draws_share_the_better_rank_and_a_draw_without_the_worker_is_left_out():
    drawn = np.array([[0.9, 0.9], [0.9, np.nan], [0.1, 0.1]])
    low, high = compute_rank_intervals(drawn, EVERYBODY, np.array([10, 10, 10]))
    # Bob is in one draw only. Cy is third behind two who are tied for the first place, then second.
    assert low.tolist()[::2] == [1, 2]
    assert high.tolist()[::2] == [1, 3]
    assert np.isnan(low[1])
    assert np.isnan(high[1])


def test_who_has_no_rank_has_no_interval_and_takes_nobodys_place():
    drawn = np.array([[0.9, 0.9], [0.5, 0.5], [0.1, 0.1]])
    low, high = compute_rank_intervals(drawn, np.array([False, True, True]), np.array([10, 10, 1]))
    assert np.isnan(low[[0, 2]]).all()  # not ranked; one question only
    assert (low[1], high[1]) == (1, 1)


def test_with_many_draws_the_ends_are_those_of_the_widened_percentile_interval():
    rng = np.random.default_rng(3)
    drawn = rng.normal(size=(6, 1000)) + np.arange(6)[:, None] * 0.4
    low, high = compute_rank_intervals(drawn, np.ones(6, dtype=bool), np.full(6, 20))
    ranks = np.sort(stats.rankdata(-drawn, method="min", axis=0), axis=1)
    tail = stats.norm.cdf(np.sqrt(20 / 19) * stats.t.ppf(0.025, 19))
    assert low.tolist() == ranks[:, int(np.floor(tail * 999))].tolist()
    assert high.tolist() == ranks[:, int(np.ceil((1 - tail) * 999))].tolist()


def test_agreement_is_spearmans_correlation_in_every_draw():
    raw = np.array([0.9, 0.5, 0.7, np.nan])
    drawn = np.array([[0.8, 0.1, 0.5], [0.2, 0.9, 0.5], [0.5, 0.5, 0.5], [0.9, 0.9, 0.9]])
    # The same order; the opposite one; no spread. The fourth has no raw score.
    found = compute_draw_agreement(raw, drawn, np.ones(4, dtype=bool))
    assert found[:2] == pytest.approx([1.0, -1.0])
    assert np.isnan(found[2])


def test_a_run_without_draws_has_neither():
    run = AQER(n_draws=0).fit(*crowd(2, workers=4, questions=6))
    assert np.isnan(run.rank_low_).all()
    assert not len(run.draw_agreement_)


def test_the_attributes_of_a_run_are_those_of_its_draws():
    run = AQER(n_draws=50, leave_one_out=True).fit(*crowd(2, workers=5, questions=12))
    assert (run.rank_low_ <= run.ranks_).all()
    assert (run.ranks_ <= run.rank_high_).all()
    for draw in (0, 49):
        expected = stats.spearmanr(run.raw_, run.fitted_.drawn_raw[:, draw]).statistic
        assert run.draw_agreement_[draw] == pytest.approx(expected)


def test_scores_that_differ_by_the_last_bits_are_tied_in_a_draw():
    raw = np.array([0.1, 0.2, 0.3, 0.4])
    tied = np.array([0.2, 0.5, 0.5, 0.9])
    apart = np.array([0.2, 0.5 + 1e-15, 0.5 - 1e-15, 0.9])
    everybody = np.ones(4, dtype=bool)
    found = compute_draw_agreement(
        raw, np.stack([tied, apart, apart[[0, 2, 1, 3]]], axis=1), everybody
    )
    # Ranks 1, 2.5, 2.5, 4 against 1 to 4: covariance 4.5, sums of squares 5 and 4.5.
    assert found.tolist() == pytest.approx([4.5 / np.sqrt(5 * 4.5)] * 3)
    assert compute_draw_agreement(apart, tied[:, None], everybody).tolist() == pytest.approx([1.0])
