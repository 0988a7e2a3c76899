"""The demo, from its files through a worker's turn to the pages."""

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from annotations import demo
from annotations.exchange import read_answers, read_model_answers
from annotations.models import Passage, Question, QuestionSet, Response, Submission, Worker
from evaluation.grading.results.report.changes import has_same_answers
from evaluation.grading.results.report.models import build_models_report
from evaluation.grading.results.report.run import build_run_report
from evaluation.grading.results.report.workers import read_worker_rows
from evaluation.models import (
    AnswerScore,
    LanguageModel,
    LLMResponse,
    LLMScore,
    Run,
    WorkerGrade,
    compute_request_hash,
)
from evaluation.runs.background.work import work_one_turn

pytestmark = [pytest.mark.model, pytest.mark.django_db(transaction=True)]


def demo_run(owner):
    version = QuestionSet.objects.create(owner=owner, name="demo", notice=demo.LABEL).draft()
    passages = {
        passage.id: Passage.objects.create(
            version=version, external_id=passage.id, title=passage.title, text=passage.text
        )
        for passage in demo.load_passages()
    }
    questions = {
        question.id: Question.objects.create(
            version=version,
            external_id=question.id,
            text=question.text,
            passage=passages[question.passage],
            position=at,
        )
        for at, question in enumerate(demo.load_questions())
    }
    version.publish()
    records = read_answers(demo.ANSWERS).records
    submissions = {
        name: Submission.objects.create(
            version=version,
            worker=Worker.objects.create(owner=owner, external_id=name),
            source="imported",
            state="submitted",
        )
        for name in dict.fromkeys(record.worker for record in records)
    }
    Response.objects.bulk_create(
        Response(
            submission=submissions[record.worker],
            question=questions[record.question],
            text=record.text,
            status="text" if record.text else "empty",
            state="submitted",
        )
        for record in records
    )
    replies = read_model_answers(demo.MODEL_ANSWERS).records
    models = {
        name: LanguageModel.objects.create(owner=owner, name=name, notice=demo.MODEL_LABEL)
        for name in dict.fromkeys(reply.model for reply in replies)
    }
    LLMResponse.objects.bulk_create(
        LLMResponse(
            model=models[reply.model],
            question=questions[reply.question],
            text=reply.text,
            status=reply.status,
            request=compute_request_hash("", {}),
        )
        for reply in replies
    )
    return Run.objects.create(owner=owner, version=version)


@pytest.mark.slow
def test_the_demo_is_graded_and_every_page_shows_it(client):
    rana = User.objects.create(username="rana", is_staff=True)
    run = demo_run(rana)
    assert work_one_turn()
    run = Run.objects.select_related("version__question_set").get(pk=run.pk)
    assert run.state == "done"

    report = build_run_report(run)
    assert report.n_workers == WorkerGrade.objects.filter(run=run).count() == 29
    assert report.counts["questions"] == 16
    assert report.converged
    assert not report.changed.has_changed
    assert has_same_answers(run)
    grades = [row.grade.value for row in read_worker_rows(run).rows]
    assert grades == sorted(grades, reverse=True)
    assert (grades[0], grades[-1]) == (1, 0)
    models = build_models_report(run)
    assert len(models.models.rows) == LLMScore.objects.filter(run=run).count() == 4
    assert models.crowd.scores[0] < report.ceiling.score.value <= models.crowd.scores[-1]

    client.force_login(rana)
    best = read_worker_rows(run).rows[0]
    for name, ids in (
        ("results-run", {}),
        ("results-models", {}),
        ("results-worker", {"worker": best.worker}),
        ("results-question", {"question": run.version.questions.first().public_id}),
    ):
        response = client.get(reverse(f"admin:{name}", kwargs={"run": run.public_id, **ids}))
        assert response.status_code == 200
        assert demo.LABEL in response.content.decode()
    scores = AnswerScore.objects.filter(
        run=run, response__submission__worker__external_id=best.name
    ).values_list("score", flat=True)
    address = reverse("admin:results-worker", kwargs={"run": run.public_id, "worker": best.worker})
    text = client.get(address).content.decode()
    assert all(f"score {score:.3f}" in text for score in scores)
