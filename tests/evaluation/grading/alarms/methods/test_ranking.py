"""How much of a ranking hangs on one worker, one start, one grader."""

import numpy as np
import pytest
from scipy import stats

from evaluation.consensus import AQER
from evaluation.core.stats.simulation import (
    build_correlated_weak_groups,
    build_honest_groups,
    simulate_crowd,
)
from evaluation.grading.alarms.methods import find_camps, survey
from evaluation.grading.alarms.methods.pairs import Pairs
from evaluation.grading.alarms.methods.survey import (
    compute_concentration,
    compute_leverage,
    compute_method_agreement,
    compute_stability,
    compute_start_agreement,
)
from tests.evaluation.grading.alarms.methods.crowds import fitted


@pytest.mark.parametrize(
    "switches", [{}, {"leave_one_out": True}, {"difficulty": True, "discrimination": True}]
)
def test_leverage_is_the_least_agreement_with_a_run_without_the_worker(switches):
    crowd = simulate_crowd(build_honest_groups(10), 6, 12, 5)
    aqer = fitted(crowd.vectors, crowd.workers, crowd.questions, **switches)
    expected = {}
    for worker in range(10):
        rest = crowd.workers != worker
        without = fitted(
            crowd.vectors[rest], crowd.workers[rest], crowd.questions[rest], **switches
        )
        others = np.delete(np.arange(10), worker)
        expected[worker] = stats.spearmanr(aqer.raw_[others], without.raw_).statistic
    found = compute_leverage(aqer)
    assert found.statistic == pytest.approx(min(expected.values()), abs=1e-9)
    assert expected[found.worker] == pytest.approx(found.statistic, abs=1e-9)


def test_of_a_large_crowd_only_those_who_outweigh_others_are_left_out(monkeypatch):
    crowd = simulate_crowd(build_honest_groups(70), 6, 40, 1)
    aqer = fitted(crowd.vectors, crowd.workers, crowd.questions)
    found = compute_leverage(aqer)
    assert (found.statistic, found.reason) == (None, "nobody_outweighs_others")
    monkeypatch.setattr(survey, "OUTWEIGHS", 1.0)
    found = compute_leverage(aqer)
    assert found.worker in np.argsort(-aqer.weights_)[:20]
    assert not found.is_raised


def test_leverage_of_few_workers_is_undefined():
    crowd = simulate_crowd(build_honest_groups(8), 6, 12, 5)
    found = compute_leverage(fitted(crowd.vectors, crowd.workers, crowd.questions))
    assert (found.statistic, found.reason) == (None, "too_few_ranked_workers")


def test_two_starts_end_apart_where_camps_are_equally_strong():
    crowd = simulate_crowd(build_correlated_weak_groups(0.7), 10, 300, 0)
    aqer = fitted(crowd.vectors, crowd.workers, crowd.questions)
    found = find_camps(Pairs.from_vote(aqer.mean_vote_))
    check = compute_start_agreement(aqer, found.members)
    assert check.statistic < 0.5
    assert check.is_raised


def test_stability_is_the_median_of_the_draws_that_have_a_value():
    assert compute_stability([0.9, np.nan, 0.5, 0.7]).statistic == 0.7
    assert compute_stability([0.9, np.nan, 0.5, 0.7]).is_raised
    assert compute_stability([]).reason == compute_stability([np.nan]).reason == "no_draws"


def test_a_run_with_draws_has_a_stability():
    crowd = simulate_crowd(build_honest_groups(10), 12, 100, 5)
    aqer = AQER(n_draws=20).fit(crowd.vectors, crowd.workers, crowd.questions)
    assert not compute_stability(aqer.draw_agreement_).is_raised


def test_two_graders_disagree_below_the_threshold_and_need_eight_workers():
    raw, everybody = np.arange(8.0), np.ones(8, dtype=bool)
    assert compute_method_agreement(raw, raw[::-1].copy(), everybody).statistic == pytest.approx(
        -1.0
    )
    assert compute_method_agreement(raw, raw[::-1].copy(), everybody).is_raised
    assert not compute_method_agreement(raw, raw**2, everybody).is_raised
    assert compute_method_agreement(raw, np.ones(8), everybody).reason == "no_spread"
    raw[3] = np.nan
    assert compute_method_agreement(raw, raw, everybody).reason == "too_few_ranked_workers"


def test_the_effective_number_of_voters_by_hand():
    # 1 / (.7^2 + 3 * .1^2) = 1 / .52 = 1.923 of 4 workers
    assert compute_concentration(np.array([0.7, 0.1, 0.1, 0.1])).statistic == pytest.approx(
        1.923 / 4, 1e-3
    )
    assert compute_concentration(np.array([1.0, 0, 0, 0])).is_raised
    assert compute_concentration(np.full(3, np.nan)).reason == "no_weights"
