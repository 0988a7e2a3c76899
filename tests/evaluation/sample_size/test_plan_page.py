"""The plan in money on the planner's page, and its files."""

import csv
import io

import openpyxl
import pytest

from evaluation.models import ExemplaryAnswer, Run, WorkerGrade
from evaluation.sample_size.report import build_run_plan
from evaluation.sample_size.run.trial import PlanTargets
from tests.evaluation.grading.results import world
from tests.evaluation.sample_size.test_plan import left_out
from tests.evaluation.site.test_pages import body, page, rows_of
from tests.sentences import site_sentence

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(rana):
    """Twelve people; each question needs 17 answers for .05, the first one 28."""
    run = world.finished(n_workers=12, owner=rana)
    rows = ExemplaryAnswer.objects.filter(run=run)
    rows.update(mean_score=left_out(0.6, 12))
    rows.filter(question__external_id="r1").update(mean_score=left_out(0.5, 12))
    return run


def test_the_page_says_what_to_buy_and_what_it_costs(site, run):
    text = body(site.get(page("results-planner", run) + "?pay=.5&currency=USD&fee=20"))
    # 16 answers for the first question, 5 for each of the five others: 41 x .60 = 24.60
    values = {"least": 5, "most": 16, "questions": 6, "more": 41, "cost": "USD 24.60"}
    assert site_sentence("plan.questions", **values) in text
    assert site_sentence("plan.people", newcomers=16) in text
    assert "USD 9.60" in text
    assert "?pay=0.5&amp;currency=USD&amp;fee=20.0" in text


def test_without_wishes_there_is_a_plan_without_money(site, run):
    text = body(site.get(page("results-planner", run)))
    values = {"least": 5, "most": 16, "questions": 6, "more": 41, "cost": ""}
    assert site_sentence("plan.questions", **values) in text
    assert "at that pay" not in text


@pytest.mark.parametrize("wrong", ["pay=-1", "width=x", "within=1.5", "most=0", "narrow=nobody"])
def test_wishes_that_will_not_do_are_refused_beside_their_field(site, run, wrong):
    text = body(site.get(page("results-planner", run) + f"?{wrong}"))
    assert "Nothing was planned" in text
    assert "What to buy" not in text
    address = page("results-plan-file", run, name="questions", form="csv")
    assert site.get(f"{address}?{wrong}").status_code == 404


def test_the_files_hold_every_question_and_every_worker(site, run):
    address = page("results-plan-file", run, name="questions", form="csv")
    rows = rows_of(site.get(f"{address}?pay=.5"))
    assert [(row["question"], row["answers"], row["more_answers"]) for row in rows][:2] == [
        *(("r1", "12", "16"), ("r2", "12", "5")),
    ]
    assert [row["cost"] for row in rows] == ["8.0", *["2.5"] * 5]
    sent = site.get(page("results-plan-file", run, name="questions", form="xlsx"))
    sheet = openpyxl.load_workbook(io.BytesIO(b"".join(sent.streaming_content))).active
    cells = list(sheet.iter_rows(values_only=True))
    assert cells[0][:3] == ("question", "answers", "more_answers")
    assert cells[1][:3] == ("r1", 12, 16)
    workers = site.get(page("results-plan-file", run, name="workers", form="csv"))
    text = b"".join(workers.streaming_content).decode("utf-8-sig")
    assert next(csv.reader(io.StringIO(text)))[:2] == ["worker", "questions"]
    for name, form in (("models", "csv"), ("questions", "pdf")):
        assert site.get(page("results-plan-file", run, name=name, form=form)).status_code == 404


def test_who_has_no_interval_or_too_few_answers_has_no_width(run):
    WorkerGrade.objects.filter(run=run).update(raw_low=0.5, raw_high=0.7, support=True)
    first = WorkerGrade.objects.filter(run=run).first()
    WorkerGrade.objects.filter(pk=first.pk).update(support=False)
    found = build_run_plan(run, PlanTargets())
    assert found.plan.workers.scores == 11
    assert found.plan.workers.now == pytest.approx(0.2)
    WorkerGrade.objects.filter(run=run).update(raw_low=None)
    assert build_run_plan(run, PlanTargets()).plan.workers is None


def test_of_distances_nobody_knows_how_far_off_a_consensus_is(site, run):
    Run.objects.filter(pk=run.pk).update(parameters={"similarity": "euclidean"})
    run.refresh_from_db()
    found = build_run_plan(run, PlanTargets())
    assert {row.off for row in found.questions} == {None}
    assert site.get(page("results-planner", run)).status_code == 200


def test_a_plan_takes_three_queries(run, django_assert_num_queries):
    with django_assert_num_queries(3):
        build_run_plan(run, PlanTargets())
