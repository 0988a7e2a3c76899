"""A real run keeps what its pictures need, and the numbers fit together."""

import numpy as np
import pytest

from annotations import demo
from evaluation.models import (
    AnswerScore,
    ExemplaryAnswer,
    LLMAnswerScore,
    LLMComparison,
    LLMScore,
    Run,
    RunData,
    WorkerGrade,
)
from evaluation.runs.background.work import work_one_turn
from evaluation.runs.imports import import_model_answers

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def graded(tides):
    """The demo's answers, graded with some parameters."""
    import_model_answers(tides, demo.MODEL_ANSWERS)

    def grade(**parameters):
        version = tides.latest_version()
        run = Run.objects.create(
            owner=tides.owner, version=version, parameters={"bootstrap": 0, **parameters}
        )
        assert work_one_turn()
        run.refresh_from_db()
        assert run.state == Run.State.DONE, run.error
        return run

    return grade


def numbers(stored, columns):
    return np.frombuffer(bytes(stored), dtype="<f4").reshape(-1, columns)


@pytest.mark.medium
def test_the_consensus_is_at_the_weighted_mean_of_the_places_at_every_iteration(graded):
    run = graded(embedder="tfidf-char")
    kept = {
        grade.worker_id: numbers(grade.weights, 1)[:, 0]
        for grade in WorkerGrade.objects.filter(run=run, weights__isnull=False)
    }
    iterations = run.summary["map"]["iterations"]
    assert iterations == list(range(run.summary["iterations"] + 1))
    for exemplar in ExemplaryAnswer.objects.filter(run=run):
        rows = AnswerScore.objects.filter(run=run, response__question=exemplar.question)
        found = list(rows.values_list("place", "response__submission__worker"))
        places = np.vstack([numbers(place, 4) for place, _ in found])
        weights = np.stack([kept[worker] for _, worker in found])  # answers x iterations
        wanted = weights.T @ places / weights.sum(axis=0)[:, None]
        np.testing.assert_allclose(numbers(exemplar.path, 4), wanted, atol=1e-5)
        assert 0 <= exemplar.run_share <= exemplar.own_share <= 1
    assert run.summary["map"]["is_mean"] is True


@pytest.mark.medium
def test_the_last_weights_and_grades_are_those_of_the_run(graded):
    run = graded(embedder="tfidf-char")
    for row in WorkerGrade.objects.filter(run=run):
        assert numbers(row.weights, 1)[-1, 0] == pytest.approx(row.weight, rel=1e-5)
        assert numbers(row.grades, 1)[-1, 0] == pytest.approx(row.grade, abs=1e-6)
        assert np.isnan(numbers(row.grades, 1)[0, 0])


@pytest.mark.medium
def test_a_majority_is_no_mean_and_the_run_says_so(graded):
    run = graded(embedder="bow", aggregation="majority")
    assert run.summary["map"]["is_mean"] is False


@pytest.mark.medium
def test_models_answers_have_places_where_they_have_a_text(graded):
    run = graded(embedder="tfidf-char")
    rows = LLMAnswerScore.objects.filter(run=run).values_list("place", "llm_response__status")
    assert len(rows) == 64
    assert all((place is not None) == (status == "text") for place, status in rows)


@pytest.mark.slow
def test_every_pair_of_models_is_compared(graded):
    run = graded(embedder="tfidf-char")
    pairs = list(LLMComparison.objects.filter(run=run))
    assert len(pairs) == 6  # of 4 models
    scores = dict(LLMScore.objects.filter(run=run).values_list("model_id", "score"))
    for pair in pairs:
        # All models answered all questions, so means of differences are differences of means.
        assert pair.difference == pytest.approx(scores[pair.model_a_id] - scores[pair.model_b_id])
        assert pair.low <= pair.difference <= pair.high
        assert pair.adjusted_p_value >= pair.p_value


@pytest.mark.medium
def test_the_overview_holds_every_answer_that_has_a_score(graded):
    run = graded(embedder="tfidf-char")
    data = RunData.objects.get(run=run, name="heat-map").data
    scored = AnswerScore.objects.filter(run=run, score_leave_one_out__isnull=False)
    assert sum(map(sum, data["counts"])) == scored.count()
    assert (data["workers_to"][-1], data["questions_to"][-1]) == (29, 16)
    means = dict(ExemplaryAnswer.objects.filter(run=run).values_list("question", "mean_score"))
    question = next(iter(means))
    left_out = scored.filter(response__question=question)
    mine = list(left_out.values_list("score_leave_one_out", flat=True))
    assert means[question] == pytest.approx(sum(mine) / len(mine))


@pytest.mark.slow
def test_grading_again_replaces_the_pictures(graded):
    first, second = graded(embedder="tfidf-char"), graded(embedder="bow")
    assert RunData.objects.filter(run=first).count() == 1
    assert RunData.objects.filter(run=second).count() == 1
