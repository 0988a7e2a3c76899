"""Who answers like a language model, and who is only as good as one."""

import numpy as np
import pytest
from scipy import sparse

from evaluation.core.stats.simulation import WorkerGroup, simulate_crowd
from evaluation.grading.alarms.methods import Pairs
from evaluation.grading.alarms.methods.survey import (
    compute_model_cosines,
    find_workers_similar_to_model,
)
from tests.evaluation.grading.alarms.methods.crowds import fitted

N_QUESTIONS = 15


def crowd_and_model(model_noise, seed=0):
    """12 workers of noise 1, and a model around the same truth."""
    crowd = simulate_crowd([WorkerGroup(12, 1.0)], N_QUESTIONS, 200, seed)
    rng = np.random.default_rng(seed + 100)
    return crowd, crowd.truth + model_noise * rng.standard_normal(crowd.truth.shape)


def likeness(crowd, vectors, spoken, questions=None):
    asked = np.arange(N_QUESTIONS) if questions is None else questions
    vote = fitted(vectors, crowd.workers, crowd.questions).mean_vote_
    to_model = compute_model_cosines(vote.cells, vectors, asked, spoken)
    return (
        find_workers_similar_to_model("m", Pairs.from_vote(vote), vote.cells, to_model),
        vote.cells,
        to_model,
    )


@pytest.mark.parametrize("made", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_cosines_to_the_model_question_by_question(made):
    crowd, spoken = crowd_and_model(0.5)
    asked = np.array([3, 1])
    vote = fitted(made(crowd.vectors), crowd.workers, crowd.questions).mean_vote_
    found = compute_model_cosines(vote.cells, made(crowd.vectors), asked, made(spoken[asked]))
    for at, value in enumerate(found):
        x, question = crowd.vectors[vote.cells.row[at]], vote.cells.question[at]
        if question not in (1, 3):
            assert np.isnan(value)
            continue
        y = spoken[question]
        assert value == pytest.approx(x @ y / np.linalg.norm(x) / np.linalg.norm(y), abs=1e-12)


def test_a_worker_who_pastes_the_model_slightly_changed_is_named():
    for seed in range(4):
        crowd, spoken = crowd_and_model(1.0, seed)
        vectors = crowd.vectors.copy()
        mine = crowd.workers == 5
        change = 0.3 * np.random.default_rng(seed).standard_normal((N_QUESTIONS, 200))
        vectors[mine] = spoken[crowd.questions[mine]] + change
        found, _, _ = likeness(crowd, vectors, spoken)
        assert found.workers.tolist() == [5]
        assert found.statistic[5] > 3


@pytest.mark.parametrize("noise", [0.1, 0.5, 1.0, 2.0])
def test_a_model_that_only_answers_well_or_badly_makes_nobody_model_like(noise):
    for seed in range(4):
        crowd, spoken = crowd_and_model(noise, seed)
        assert likeness(crowd, crowd.vectors, spoken)[0].workers.tolist() == []


def test_four_shared_questions_say_nothing():
    crowd, spoken = crowd_and_model(1.0)
    vectors = crowd.vectors.copy()
    mine = crowd.workers == 5
    vectors[mine] = spoken[crowd.questions[mine]]
    found, _, _ = likeness(crowd, vectors, spoken[:4], np.arange(4))
    assert found.workers.tolist() == []
    assert np.isnan(found.statistic).all()
