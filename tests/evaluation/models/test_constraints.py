"""Rows go in by bulk_create and update, which run no validation: the database must refuse."""

import numpy as np
import pytest
from django.utils import timezone

from evaluation.models import (
    AnswerScore,
    EmbedderVersion,
    Embedding,
    ExemplaryAnswer,
    LanguageModel,
    LLMAnswerScore,
    LLMResponse,
    LLMScore,
    Run,
    WorkerGrade,
    compute_request_hash,
    compute_text_hash,
)
from tests.annotations import world

pytestmark = pytest.mark.django_db
THREE = np.arange(3, dtype="<f4").tobytes()


@pytest.fixture
def rana():
    return world.user("rana")


@pytest.fixture
def version(rana):
    return world.version(rana)


@pytest.fixture
def question(version):
    return version.questions.get(external_id="r1")


@pytest.fixture
def run(rana, version):
    return Run.objects.create(owner=rana, version=version)


@pytest.fixture
def model(rana):
    return LanguageModel.objects.create(owner=rana, name="small")


@pytest.fixture
def model_answer(model, question):
    return LLMResponse.objects.create(model=model, question=question, text="north", status="text")


def refuse(constraint, *rows):
    with world.refused(constraint):
        type(rows[0]).objects.bulk_create(rows)


def test_a_text_has_one_vector_under_one_embedder():
    how = {"model": "minilm", "precision": "float32", "dimension": 3}
    minilm = EmbedderVersion.objects.create(**how)
    refuse("embedder_version_once", EmbedderVersion(**how))
    refuse("embedder_version_is_named", EmbedderVersion(model="", precision="x", dimension=3))
    refuse("embedder_has_a_dimension", EmbedderVersion(model="m", precision="x", dimension=0))
    key = {"embedder": minilm, "text_hash": compute_text_hash("north")}
    Embedding.objects.create(**key, dimension=3, vector=THREE)
    refuse("embedding_once", Embedding(**key, dimension=3, vector=THREE))
    other = {"embedder": minilm, "text_hash": compute_text_hash("south")}
    refuse("embedding_is_of_its_dimension", Embedding(**other, dimension=4, vector=THREE))
    short = Embedding(embedder=minilm, text_hash=b"abc", dimension=3, vector=THREE)
    refuse("embedding_has_a_sha256", short)
    found = Embedding.objects.get(
        text_hash__in=[compute_text_hash("north"), compute_text_hash("south")]
    )
    assert np.frombuffer(found.vector, "<f4").tolist() == [0, 1, 2]


def test_a_model_has_one_name_per_owner(rana, model):
    refuse("language_model_once_per_owner", LanguageModel(owner=rana, name="small"))
    refuse("language_model_has_a_name", LanguageModel(owner=rana, name=""))


def test_the_same_request_is_answered_once_a_sample(model, question, model_answer):
    key = {"model": model, "question": question, "request": model_answer.request}
    refuse("llm_response_once", LLMResponse(**key, text="south", status="text"))
    LLMResponse.objects.bulk_create([LLMResponse(**key, sample=1, text="south", status="text")])
    warm = {"temperature": 1}
    LLMResponse.objects.create(model=model, question=question, parameters=warm, status="empty")
    assert compute_request_hash("", warm) != model_answer.request == compute_request_hash("", {})
    assert compute_request_hash("q", {"a": 1, "b": 2}) == compute_request_hash(
        "q", {"b": 2, "a": 1}
    )


@pytest.mark.parametrize(
    ("constraint", "fields"),
    [
        ("llm_response_status_is_known", {"status": "asleep"}),
        ("llm_response_status_fits_text", {"status": "empty"}),
        ("llm_response_status_fits_text", {"text": ""}),
        ("llm_response_has_its_hash", {"request": ""}),
    ],
)
def test_a_model_answer_that_cannot_be_is_refused(model_answer, constraint, fields):
    with world.refused(constraint):
        LLMResponse.objects.filter(pk=model_answer.pk).update(**fields)


@pytest.mark.parametrize(
    ("constraint", "fields"),
    [
        ("run_state_is_known", {"state": "asleep"}),
        ("run_does_no_more_than_all", {"done": 2, "total": 1}),
        ("run_crashes_once_an_attempt", {"crashes": 1}),
        ("run_that_runs_has_a_lease", {"state": "running", "attempt": 1}),
        ("run_that_ended_has_a_time", {"state": "done"}),
        ("run_that_ended_has_a_time", {"finished_at": timezone.now()}),
        ("run_that_failed_says_why", {"state": "failed", "finished_at": timezone.now()}),
    ],
)
def test_a_run_that_cannot_be_is_refused(run, constraint, fields):
    with world.refused(constraint):
        Run.objects.filter(pk=run.pk).update(**fields)


def test_no_result_of_a_run_is_there_twice(version, question, run, model, model_answer):
    answer = world.response(world.submission(version))
    worker = answer.submission.worker
    rows = [
        WorkerGrade(run=run, worker=worker, n_answers=1, support=False),
        ExemplaryAnswer(run=run, question=question, n_answers=1),
        AnswerScore(run=run, response=answer),
        LLMScore(run=run, model=model, n=1, n_answered=1),
        LLMAnswerScore(run=run, llm_response=model_answer, score=0.5),
    ]
    for row in rows:
        type(row).objects.bulk_create([row])
        row.pk = None
        refuse("_once", row)


@pytest.mark.parametrize(
    ("constraint", "fields"),
    [
        ("worker_grade_from_0_to_1", {"grade": 1.5}),
        ("worker_weight_from_0", {"weight": -0.1}),
        ("worker_rank_from_1", {"rank": 0}),
        ("worker_raw_interval", {"raw_low": 0.6, "raw_high": 0.5}),
        ("worker_grade_interval", {"grade_low": 0.6, "grade_high": 0.5}),
    ],
)
def test_a_grade_that_cannot_be_is_refused(version, run, constraint, fields):
    worker = world.submission(version).worker
    refuse(constraint, WorkerGrade(run=run, worker=worker, n_answers=1, support=False, **fields))


def test_vectors_of_exemplary_answers_have_their_dimension(run, question):
    row = {"run": run, "question": question, "n_answers": 1}
    refuse("exemplary_answer_dimension", ExemplaryAnswer(**row, vector=THREE, dimension=4))
    refuse("exemplary_answer_dimension", ExemplaryAnswer(**row, vector=THREE))
    ExemplaryAnswer.objects.bulk_create([ExemplaryAnswer(**row, vector=THREE, dimension=3)])


@pytest.mark.parametrize(
    ("constraint", "fields"),
    [
        ("exemplary_answer_separation", {"separation": 1.5}),
        ("exemplary_answer_camps", {"larger_camp": 3}),
        ("exemplary_answer_camps", {"smaller_camp": 3}),
        ("exemplary_answer_camps", {"larger_camp": 3, "smaller_camp": 4}),
    ],
)
def test_camps_that_cannot_be_are_refused(run, question, constraint, fields):
    refuse(constraint, ExemplaryAnswer(run=run, question=question, n_answers=7, **fields))


@pytest.mark.parametrize(
    ("constraint", "fields"),
    [
        ("llm_score_answered_of_all", {"n": 1, "n_answered": 2}),
        ("llm_score_percentile", {"percentile": 101}),
        ("llm_score_rank_from_1", {"rank": 0}),
        ("llm_score_interval", {"score_low": 0.6, "score_high": 0.5}),
    ],
)
def test_a_model_score_that_cannot_be_is_refused(run, model, constraint, fields):
    refuse(constraint, LLMScore(**{"run": run, "model": model, "n": 1, "n_answered": 1} | fields))


def test_a_missing_score_of_a_model_answer_has_a_reason(run, model_answer):
    row = {"run": run, "llm_response": model_answer}
    refuse("llm_answer_score_or_a_reason", LLMAnswerScore(**row))
    LLMAnswerScore.objects.bulk_create([LLMAnswerScore(**row, reason="no_exemplar")])


def test_a_set_goes_with_its_runs_and_their_results(version, run, model, model_answer):
    answer = world.response(world.submission(version))
    AnswerScore.objects.create(run=run, response=answer)
    LLMAnswerScore.objects.create(run=run, llm_response=model_answer, score=0.5)
    version.publish()
    version.question_set.delete()
    assert (Run.objects.count(), AnswerScore.objects.count(), LLMResponse.objects.count()) == (
        0,
        0,
        0,
    )
    assert LanguageModel.objects.count() == 1
