"""Reports say what the rows say, in a constant number of queries."""

from datetime import timedelta

import pytest
from django.utils import timezone

from annotations.models import Response
from annotations.web.paging import BadCursorError
from evaluation.core.messages.reasons import describe_reason
from evaluation.grading.results.report.changes import read_data_change
from evaluation.grading.results.report.models import CrowdScores, build_models_report
from evaluation.grading.results.report.questions import build_question_report, read_question_rows
from evaluation.grading.results.report.run import build_run_report
from evaluation.grading.results.report.workers import (
    build_worker_report,
    iterate_worker_rows,
    read_worker_rows,
)
from evaluation.models import LLMScore, WorkerGrade
from evaluation.trust.report import build_trust_report
from tests.annotations import world as people
from tests.evaluation.grading.results import world

pytestmark = pytest.mark.django_db


def worker_of(run, name="w001"):
    return WorkerGrade.objects.get(run=run, worker__external_id=name).worker.public_id


def question_of(run, name="r1"):
    return run.version.questions.get(external_id=name).public_id


def test_a_run_says_what_its_summary_and_rows_say():
    report = build_run_report(world.finished())
    assert (report.n_workers, report.n_supported, report.n_graded) == (4, 3, 4)
    assert report.trace == [0.05, 0.002, 1e-8]
    assert (report.ceiling.score.low, report.ceiling.score.value) == (0.7, 0.81)
    assert report.counts["answers"] == 24
    assert not report.too_few_workers
    assert not report.changed.has_changed
    assert report.about.name == "rivers"


def test_workers_stand_by_grade_and_come_in_pages():
    run = world.finished(n_workers=7)
    WorkerGrade.objects.filter(run=run, worker__external_id="w001").update(
        grade=None, grade_low=None, grade_high=None
    )
    WorkerGrade.objects.filter(run=run, worker__external_id__in=["w003", "w004"]).update(grade=0.5)
    names, after, pages = [], "", 0
    while after is not None:
        page = read_worker_rows(run, after, size=2)
        names += [row.name for row in page.rows]
        after, pages = page.next, pages + 1
    assert pages == 4
    assert [names[0], set(names[1:3]), *names[3:]] == [
        "w002",
        {"w003", "w004"},
        "w005",
        "w006",
        "w007",
        "w001",
    ]
    assert [row.name for row in iterate_worker_rows(run)] == names
    first = read_worker_rows(run).rows[0]
    row = WorkerGrade.objects.get(run=run, worker__external_id="w002")
    assert (first.grade.value, first.grade.low, first.grade.high, first.rank, first.panel) == (
        row.grade,
        row.grade_low,
        row.grade_high,
        2,
        "Prolific",
    )
    assert [row.name for row in read_worker_rows(run, search="W007").rows] == ["w007"]


@pytest.mark.parametrize("cursor", ["x", "0.5_zz", "nan_" + "0" * 32, "_", "_x"])
def test_a_cursor_that_nobody_handed_out_is_refused(cursor):
    with pytest.raises(BadCursorError):
        read_worker_rows(world.finished(), cursor)


def test_questions_stand_in_their_order_or_by_disagreement():
    run = world.finished()
    assert [row.name for row in read_question_rows(run).rows] == [f"r{i}" for i in range(1, 7)]
    by_dispersion = read_question_rows(run, by="dispersion", size=4)
    rest = read_question_rows(run, by_dispersion.next, by="dispersion", size=4)
    names = [row.name for row in by_dispersion.rows + rest.rows]
    assert names == [f"r{i}" for i in range(6, 0, -1)]
    first = read_question_rows(run).rows[0]
    assert first.nearest == "river r1 runs north, says w001"
    assert (first.nearest_worker, first.n_answers) == ("w001", 4)


def test_a_worker_is_shown_beside_the_nearest_answers():
    run = world.finished()
    report = build_worker_report(run, worker_of(run))
    assert report.worker.rank == 1
    assert (report.n_ranked, report.n_shared) == (3, 6)
    first = report.answers.rows[0]
    assert (first.score, first.score_leave_one_out) == (0.9, 0.8)
    assert first.is_nearest
    assert first.status == "scored"
    other = build_worker_report(run, worker_of(run, "w002")).answers.rows[0]
    assert other.nearest == first.text
    assert not other.is_nearest
    assert build_worker_report(run, question_of(run)) is None


def test_answers_that_are_not_in_the_run_say_why():
    run = world.finished(n_questions=6)
    responses = list(
        Response.objects.filter(submission__worker__external_id="w002").order_by("question_id")
    )
    for response in responses[:3]:
        response.scores.all().delete()
    Response.objects.filter(pk=responses[0].pk).update(text="", status="empty")
    Response.objects.filter(pk=responses[1].pk).update(rejected=True)
    report = build_worker_report(run, worker_of(run, "w002"))
    statuses = [answer.status for answer in report.answers.rows]
    assert statuses[:4] == ["empty", "rejected", "not_in_run", "scored"]
    assert report.answers.rows[0].score is None


def test_an_answer_of_another_run_is_not_mixed_in():
    run = world.finished()
    second = run.__class__.objects.create(owner=run.owner, version=run.version)
    response = Response.objects.first()
    response.scores.create(run=second, score=0.123)
    answers = build_worker_report(run, worker_of(run)).answers.rows
    assert len(answers) == 6
    assert answers[0].score == 0.9


def test_a_question_has_its_answers_by_score_and_the_models_answers():
    run = world.finished()
    report = build_question_report(run, question_of(run))
    assert [answer.worker_name for answer in report.answers.rows] == [
        "w001",
        "w002",
        "w003",
        "w004",
    ]
    assert report.answers.rows[0].is_nearest
    assert report.answers.rows[0].grade == 1
    assert [model.name for model in report.models] == ["model 0", "model 1"]
    assert report.models[0].score == 0.55
    assert report.notices == ["A small model"]
    assert build_question_report(run, worker_of(run)) is None


def test_a_question_that_nobody_answered_is_empty():
    run = world.finished()
    run.exemplary_answers.all().delete()
    run.answer_scores.all().delete()
    report = build_question_report(run, question_of(run))
    assert (report.n_answers, report.dispersion, report.answers.rows) == (0, None, [])


def test_models_stand_by_score_among_supported_workers():
    run = world.finished(n_workers=5)
    LLMScore.objects.filter(run=run, model__name="model 0").update(
        score=None, rank=None, reason="missing_answers"
    )
    report = build_models_report(run)
    assert [model.name for model in report.models.rows] == ["model 1", "model 0"]
    assert report.models.rows[1].reason == "missing_answers"
    # grades 1, .75, .5, .25 are supported; leave_one_out is .4 + grade / 4
    assert report.crowd.scores == pytest.approx([0.4625, 0.525, 0.5875, 0.65])
    assert report.models.rows[0].details == "Small"


def test_bins_hold_every_worker():
    assert CrowdScores([0.0, 0.1, 0.5, 1.0]).compute_histogram(2) == [(0.0, 0.5, 2), (0.5, 1.0, 2)]
    assert CrowdScores([0.5, 0.5]).compute_histogram(2) == [(0.5, 0.5, 2)]
    assert CrowdScores([]).compute_histogram() == []
    assert CrowdScores([0.0, 0.5, 1.0]).quartiles == (0.25, 0.5, 0.75)
    assert CrowdScores([0.3]).quartiles is None


def test_data_that_changed_since_is_told():
    run = world.finished()
    submission = people.submission(run.version, "late")
    Response.objects.create(
        submission=submission,
        question=run.version.questions.first(),
        text="south",
        status="text",
        state="submitted",
    )
    Response.objects.filter(submission=submission).update(
        updated_at=timezone.now() + timedelta(hours=1)
    )
    change = read_data_change(run)
    assert change.has_changed
    assert (change.n_answers_then, change.n_answers_now, change.n_newer) == (24, 25, 1)
    Response.objects.filter(submission__worker__external_id="w001").delete()
    assert read_data_change(run).n_withdrawn == 6


def test_answers_of_models_make_no_grade_of_people_old():
    run = world.finished()
    world.ask_model(run.version)
    change = read_data_change(run)
    assert (change.has_worker_changes, change.has_model_changes, change.has_changed) == (
        False,
        True,
        True,
    )
    # 2 models and 6 questions, and one model more.
    assert (change.n_of_models_then, change.n_of_models_now) == (12, 18)
    assert "changes" not in {fact.name for fact in build_trust_report(run).facts}
    Response.objects.filter(submission__worker__external_id="w001").delete()
    assert read_data_change(run).has_worker_changes
    assert "changes" in {fact.name for fact in build_trust_report(run).facts}


def test_reasons_are_words():
    assert "3 workers" in describe_reason("fewer_than_3_workers")
    assert describe_reason("new_reason") == "new reason"
    assert describe_reason(None) == ""


@pytest.mark.parametrize("n_workers", [10, 200])
def test_the_number_of_queries_does_not_depend_on_the_number_of_rows(
    n_workers, django_assert_num_queries
):
    run = world.finished(n_workers=n_workers, n_models=n_workers // 10)
    worker, question = worker_of(run), question_of(run)
    with django_assert_num_queries(1):
        build_run_report(run)
    with django_assert_num_queries(1):
        read_worker_rows(run)
    with django_assert_num_queries(1):
        read_question_rows(run)
    with django_assert_num_queries(2):
        build_worker_report(run, worker)
    with django_assert_num_queries(3):
        build_question_report(run, question)
    with django_assert_num_queries(2):
        build_models_report(run)
