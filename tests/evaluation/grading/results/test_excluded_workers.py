"""One number of workers and answers on every page of a run that leaves workers out."""

import pytest

from annotations.models import Response, Worker
from evaluation.experts.report import build_audit_report
from evaluation.grading.results.report.consensus import build_consensus_report
from evaluation.grading.results.report.maps import read_heat_block
from evaluation.grading.results.report.models import build_models_report
from evaluation.grading.results.report.run import build_run_report
from evaluation.models import WorkerGrade
from evaluation.runs.run_types import get_run_kind
from evaluation.sample_size.report import build_run_plan
from evaluation.sample_size.run.trial import PlanTargets
from evaluation.trust.report import build_trust_report
from evaluation.trust.report.decision import build_decision
from evaluation.trust.report.summary import build_summary_report
from tests.evaluation.grading.results import world

pytestmark = pytest.mark.django_db

EXCLUDED = ("w002", "w003")


@pytest.fixture
def run():
    """9 workers with 10 answers each, of whom the run left 2 out: 7 and 70 remain."""
    run = world.finished(n_workers=9, n_questions=10)
    run.parameters = {"exclude_workers": list(EXCLUDED)}
    run.summary = {**run.summary, "counts": {"workers": 9, "answers": 90, "questions": 10}}
    run.save()
    WorkerGrade.objects.filter(run=run, worker__external_id__in=EXCLUDED).update(
        grade=None, grade_low=None, grade_high=None, weight=0, rank=None, rank_low=None,
        rank_high=None,
    )  # fmt: skip
    return run


def test_every_page_counts_the_same_people(run):
    found = build_decision(run)
    assert (found.n_workers, found.n_left_out) == (7, 2)
    report = build_run_report(run)
    assert (report.n_workers, report.n_excluded) == (7, 2)
    assert (report.counts["workers"], report.counts["answers"]) == (7, 70)
    assert get_run_kind(run).get_input_counts(run)["workers"] == 7
    assert build_summary_report(run).counts == report.counts
    # The worst worker of this world has too few answers to be compared with.
    assert report.n_supported == build_models_report(run).crowd.n == 6
    facts = {fact.name: fact.values for fact in build_trust_report(run).facts}
    assert (facts["workers"]["workers"], facts["support"]["all"]) == (7, 7)
    assert read_heat_block(run).n_workers == 7
    widths = build_run_plan(run, PlanTargets()).plan.workers
    assert widths is not None
    assert widths.scores == 6


def test_the_data_sheet_and_its_rows_leave_them_out(run):
    report = build_consensus_report(run)
    assert (report.datasheet.n_workers, report.datasheet.n_answers) == (7, 70)
    # Of the 7 all but the worst have enough answers.
    assert [row.n_supported for row in report.iterate_rows()] == [6] * 10


def test_experts_are_asked_about_the_answers_that_count(run):
    assert build_audit_report(run).n_answers == 70


def test_answers_left_empty_by_the_excluded_are_not_counted(run):
    run.summary["counts"]["empty_answers"] = 3
    run.save()
    out = Worker.objects.get(external_id="w002")
    left_empty = Response.objects.filter(submission__worker=out)[:2]
    for one in left_empty:
        Response.objects.filter(pk=one.pk).update(status="empty", text="")
    assert build_run_report(run).counts["empty_answers"] == 1  # of 3


def test_who_is_named_by_the_public_id_is_left_out_as_well(run):
    ids = [str(one.public_id) for one in Worker.objects.filter(external_id__in=EXCLUDED)]
    run.parameters = {"exclude_workers": ids}
    run.save()
    assert build_run_report(run).counts["workers"] == 7


def test_a_run_without_exclusions_counts_everybody(run):
    run.parameters = {}
    run.save()
    report = build_run_report(run)
    assert (report.counts["workers"], report.n_workers, report.n_excluded) == (9, 9, 0)
