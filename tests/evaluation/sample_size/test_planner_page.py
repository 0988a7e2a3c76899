"""The planner's page works with the numbers of the run."""

import pytest

from evaluation.core.stats.planner import compute_exemplar_error, estimate_similarity_to_truth
from evaluation.models import ExemplaryAnswer, Run
from evaluation.runs.reports.planner import NO_PLAN, build_planner_report
from evaluation.sample_size.charts import build_planner_chart
from tests.evaluation.grading.results import world
from tests.evaluation.site.test_pages import body, page, rows_of

pytestmark = pytest.mark.django_db


def test_the_plan_rests_on_leave_one_out_scores_and_answers_a_question(rana):
    run = world.finished(n_workers=12, owner=rana)
    ExemplaryAnswer.objects.filter(run=run).update(mean_score=0.6)
    alone = ExemplaryAnswer.objects.filter(run=run).first()
    ExemplaryAnswer.objects.filter(pk=alone.pk).update(n_answers=1, mean_score=None)
    report = build_planner_report(run)
    assert report.left_out == pytest.approx(0.6)
    assert (report.answers, report.fewest, report.most) == (12, 12, 12)
    similarity = estimate_similarity_to_truth(0.6, 11)
    assert report.similarity == similarity
    assert report.now.average_error == pytest.approx(float(compute_exemplar_error(similarity, 12)))
    assert report.more.workers == 22
    saved = 1 - float(compute_exemplar_error(similarity, 22)) / float(
        compute_exemplar_error(similarity, 12)
    )
    assert report.saved == pytest.approx(saved)
    assert {1, 10, 12, 22, 100} <= {plan.workers for plan in report.table}


def test_the_picture_marks_what_there_is_and_ten_more(rana):
    run = world.finished(n_workers=12, owner=rana)
    chart = build_planner_chart(build_planner_report(run))
    for svg in (chart.wide, chart.narrow):
        assert ">now<" in svg
        assert ">10 more<" in svg


def test_the_page_and_the_file_hold_the_same_numbers(site, rana):
    run = world.finished(n_workers=12, owner=rana)
    report = build_planner_report(run)
    text = body(site.get(page("results-planner", run)))
    assert f"{report.now.average_error:.3f}" in text
    assert f"when S is {report.similarity:.3f}" in text
    rows = rows_of(site.get(page("results-table", run, name="planner")))
    now = next(row for row in rows if row["answers"] == "12")
    assert float(now["average_error"]) == report.now.average_error
    assert "<svg" in body(site.get(page("results-chart", run, name="planner")))


@pytest.mark.parametrize(
    ("change", "why"),
    [({"mean_score": None}, "no_scores"), ({"mean_score": -0.1}, "nothing_in_common")],
)
def test_where_there_is_no_plan_the_page_says_why(site, rana, change, why):
    run = world.finished(owner=rana)
    ExemplaryAnswer.objects.filter(run=run).update(**change)
    assert NO_PLAN[why] in body(site.get(page("results-planner", run)))
    assert site.get(page("results-chart", run, name="planner")).status_code == 404


def test_distances_have_no_plan(site, rana):
    run = world.finished(owner=rana)
    Run.objects.filter(pk=run.pk).update(parameters={"similarity": "euclidean"})
    assert NO_PLAN["distances"] in body(site.get(page("results-planner", run)))


@pytest.mark.parametrize("mean", [1.0, 1.0 + 1e-12])
def test_answers_that_are_all_the_same_leave_no_error(site, rana, mean):
    run = world.finished(owner=rana)
    ExemplaryAnswer.objects.filter(run=run).update(mean_score=mean)
    report = build_planner_report(run)
    assert (report.similarity, report.now.average_error, report.saved) == (1.0, 0.0, None)
    for name in ("results-planner", "results-summary"):
        assert site.get(page(name, run)).status_code == 200
