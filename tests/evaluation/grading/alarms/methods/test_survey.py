"""What is handed on from a fitted run to each thing that is looked at."""

import sys

import numpy as np
import pytest

from evaluation.consensus import AQER
from evaluation.core.stats.simulation import build_honest_groups, simulate_crowd
from evaluation.grading.alarms.methods import Pairs
from evaluation.grading.alarms.methods.camps import find_camps
from evaluation.grading.alarms.methods.survey import (
    NO_OTHER_GRADER,
    ModelAnswerVectors,
    _find_heaviest,
    compute_model_cosines,
    compute_run_checks,
    find_workers_similar_to_model,
)
from tests.evaluation.grading.alarms.methods.crowds import fitted


@pytest.mark.parametrize(
    ("weights", "workers"),
    [
        ([0.1, 0.4, 0.2, 0.3], [1, 3]),  # .4 is less than half of it, .4 + .3 is not
        ([0.5, 0.25, 0.25], [0]),  # exactly half
        ([0.2, 0.4, 0.4, np.nan], [1, 2]),  # as heavy: in the order of the workers
        ([1.0, 2.0] * 1000, list(range(1, 1500, 2))),  # 1,500 of 3,000 by the first 750 twos
        ([1.0, 1.0, 4.0], [2]),  # of the sum, whatever it is
        ([0.0, 0.0], []),
        ([np.nan, np.nan], []),
        ([], []),
    ],
)
def test_the_heaviest_are_the_fewest_who_carry_half_of_the_weight(weights, workers):
    assert _find_heaviest(np.array(weights)).tolist() == workers


def test_each_model_is_compared_with_the_workers_by_the_vectors_of_both():
    crowd = simulate_crowd(build_honest_groups(8), 12, 50, 0)
    aqer = fitted(crowd.vectors, crowd.workers, crowd.questions)
    rng = np.random.default_rng(1)
    asked = np.arange(12)
    spoken = crowd.truth[aqer.questions_] + 0.3 * rng.standard_normal((12, 50))
    mine = crowd.workers == 4  # pastes the second model
    vectors = crowd.vectors.copy()
    vectors[mine] = spoken[np.searchsorted(aqer.questions_, crowd.questions[mine])]
    aqer = fitted(vectors, crowd.workers, crowd.questions)
    models = [
        ModelAnswerVectors("another", rng.standard_normal((12, 50)), asked),
        ModelAnswerVectors("pasted", spoken, asked),
    ]
    found = compute_run_checks(aqer, models=models, vectors=vectors).models
    assert [(one.model, aqer.workers_[one.workers].tolist()) for one in found] == [
        ("another", []),
        ("pasted", [4]),
    ]
    cells = aqer.mean_vote_.cells
    to_model = compute_model_cosines(cells, vectors, asked, spoken)
    alone = find_workers_similar_to_model(
        "pasted", Pairs.from_vote(aqer.mean_vote_), cells, to_model
    )
    assert found[1].statistic == pytest.approx(alone.statistic, nan_ok=True, abs=1e-12)
    assert (
        compute_run_checks(aqer, models=models).models == ()
    )  # without the workers' vectors: none


def test_the_seed_of_the_run_draws_what_is_random(monkeypatch):
    asked = []
    # Its package has a function of the same name.
    module = sys.modules[compute_run_checks.__module__]
    monkeypatch.setattr(module, "find_camps", lambda *of: asked.append(of[1:]) or find_camps(*of))
    crowd = simulate_crowd(build_honest_groups(8), 8, 20, 0)
    compute_run_checks(AQER(n_draws=0, seed=17).fit(crowd.vectors, crowd.workers, crowd.questions))
    assert asked == [(17,)]


def test_without_another_grader_the_reason_is_the_one_that_is_given():
    crowd = simulate_crowd(build_honest_groups(8), 8, 20, 0)
    aqer = AQER(n_draws=0).fit(crowd.vectors, crowd.workers, crowd.questions)
    assert compute_run_checks(aqer, other_reason="no_words").disagreement.reason == "no_words"
    assert compute_run_checks(aqer).disagreement.reason == NO_OTHER_GRADER


def test_the_last_step_is_what_the_stopping_rule_compared_with_the_tolerance():
    crowd = simulate_crowd(build_honest_groups(8), 8, 20, 0)
    steps = {}
    for stopping in ("relative", "paper"):
        aqer = AQER(n_draws=0, stopping=stopping, max_iterations=2, tolerance=1e-9)
        aqer.fit(crowd.vectors, crowd.workers, crowd.questions)
        steps[stopping] = compute_run_checks(aqer).last_step / aqer.trace_[-1]
    # The change of the weights times the eight workers, or by itself.
    assert steps == pytest.approx({"relative": 8.0, "paper": 1.0})
