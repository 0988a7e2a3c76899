"""AQER never sees what experts said, unless a run asks for anchors."""

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotations.models import Response
from evaluation.consensus.parameters import AqerParameters
from evaluation.models import AnswerScore, Audit, AuditItem, HumanJudgement, WorkerGrade
from evaluation.runs.background import runs
from evaluation.runs.background.work import work_one_turn
from tests.annotations import world

pytestmark = pytest.mark.django_db
WORDS = ["the", "cable", "was", "laid", "in", "summer", "of", "that", "year", "by", "two", "ships"]


@pytest.fixture
def version(monkeypatch):
    monkeypatch.setattr("evaluation.runs.background.work.wake_process", lambda: True)
    version = world.version(world.user("rana"), "cables", n_questions=6)
    for at in range(5):
        submission = world.submission(version, f"w{at}")
        for place, question in enumerate(version.questions.all()):
            text = " ".join(WORDS[: 3 + (at * 2 + place) % 8])
            world.response(submission, question.external_id, text)
    Response.objects.update(state="submitted")
    return version


def graded(version, **options):
    """A run, its numbers, and which of its queries named the tables of experts."""
    parameters = AqerParameters(embedder="bow", bootstrap=20, **options)
    run = runs.queue_run(version, version.question_set.owner_id, parameters)
    with CaptureQueriesContext(
        connection,
    ) as queries:
        while work_one_turn():
            pass
    run.refresh_from_db()
    assert run.state == "done", run.error
    tables = [model._meta.db_table for model in (HumanJudgement, Audit, AuditItem)]
    # PostgreSQL's planner looks at every table (ANALYZE), which reads no row for the run.
    asked = [one for one in queries.captured_queries if not one["sql"].startswith("ANALYZE")]
    touched = [one for one in asked if any(table in one["sql"] for table in tables)]
    grades = (
        WorkerGrade.objects.filter(run=run)
        .order_by("worker")
        .values_list(*("worker", "grade", "raw", "raw_low", "raw_high", "rank"))
    )
    scores = (
        AnswerScore.objects.filter(run=run)
        .order_by("response")
        .values_list(*("response", "score", "score_leave_one_out"))
    )
    return run, (list(grades), list(scores), run.signature), touched


def test_a_run_reads_no_judgement_and_its_numbers_are_the_same_with_and_without(version):
    first, before, touched = graded(version)
    assert touched == []
    ed, mo = (User.objects.create_user(name) for name in ("ed", "mo"))
    audit = Audit.objects.create(run=first, design="random", seed=0)
    for at, response in enumerate(Response.objects.order_by("pk")):
        HumanJudgement.objects.create(response=response, expert=ed, grade=(5 - at % 11 / 2) % 5)
        HumanJudgement.objects.create(response=response, expert=mo, grade=5)
        AuditItem.objects.create(
            audit=audit, place=at, stratum="people", response=response, adjudicator=mo
        )
    _, after, touched = graded(version)
    assert touched == []
    assert after == before


def test_a_run_that_asks_for_anchors_does_read_them(version):
    HumanJudgement.objects.create(
        response=Response.objects.earliest("pk"), expert=User.objects.create_user("ed"), grade=5
    )
    assert graded(version, anchors=True)[2] != []
