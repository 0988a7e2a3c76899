"""Models against each other: every pair, and the questions that tell two of them apart."""

import re

import pytest

from evaluation.grading.results.charts.models import build_comparisons_chart
from evaluation.grading.results.report.comparisons import (
    build_comparisons_report,
    build_pair_report,
)
from evaluation.models import LLMAnswerScore, LLMComparison
from tests.evaluation.grading.results import world
from tests.evaluation.site.conftest import FOR_THE_READER
from tests.evaluation.site.handles import states
from tests.evaluation.site.test_pages import body, page, rows_of

pytestmark = pytest.mark.django_db


def model_of(run, name):
    return run.llm_scores.get(model__name=name).model.public_id


def test_pairs_stand_with_the_better_one_first(rana):
    run = world.finished(n_models=3, owner=rana)
    LLMComparison.objects.filter(run=run).update(difference=-0.1, low=-0.3, high=-0.05)
    pair = build_comparisons_report(run).pairs[0]
    assert (pair.first_name, pair.second_name) == ("model 1", "model 0")
    assert (pair.difference.value, pair.difference.low, pair.difference.high) == (0.1, 0.05, 0.3)
    assert pair.better == ""  # p is .4
    LLMComparison.objects.filter(run=run).update(adjusted_p_value=0.01)
    assert build_comparisons_report(run).pairs[0].better == "model 1"


def test_of_many_models_those_with_the_best_one_are_shown(rana, monkeypatch):
    monkeypatch.setattr("evaluation.grading.results.report.comparisons.PAIRS_SHOWN", 2)
    run = world.finished(n_models=4, owner=rana)
    report = build_comparisons_report(run)
    assert (report.of.name, report.n_pairs) == ("model 0", 6)
    assert {pair.first_name for pair in report.pairs} == {"model 0"}
    other = build_comparisons_report(run, model_of(run, "model 3"))
    assert {pair.first_name for pair in other.pairs} == {"model 3"}
    assert {pair.second_name for pair in other.pairs} == {"model 0", "model 1", "model 2"}


def test_where_two_models_differ_is_shown_either_way(rana):
    run = world.finished(owner=rana)
    first, second = model_of(run, "model 0"), model_of(run, "model 1")
    scores = {"r1": (0.9, 0.1), "r2": (0.5, 0.4), "r3": (0.2, 0.6)}
    for question, both in scores.items():
        for name, score in zip(("model 0", "model 1"), both, strict=True):
            LLMAnswerScore.objects.filter(
                run=run,
                llm_response__model__name=name,
                llm_response__question__external_id=question,
            ).update(score=score)
    LLMAnswerScore.objects.exclude(llm_response__question__external_id__in=scores).update(
        score=None, reason="no_exemplar"
    )
    report = build_pair_report(run, first, second)
    found = [(question.name, round(question.difference, 9)) for question in report.first_better]
    assert found == [("r1", 0.8), ("r2", 0.1)]
    assert [question.name for question in report.second_better] == ["r3"]
    question = report.first_better[0]
    assert (question.first_text, question.second_text) == ("model 0 on r1", "model 1 on r1")
    assert question.nearest == "river r1 runs north, says w001"
    turned = build_pair_report(run, second, first)
    assert [question.name for question in turned.first_better] == ["r3"]


def test_what_all_names_begin_with_is_left_out_of_the_rows(rana):
    run = world.finished(n_models=3, owner=rana)
    chart = build_comparisons_chart(build_comparisons_report(run))
    assert "0 – 1" in chart.wide
    assert "“model”" in chart.note


def test_the_page_names_every_pair_and_leads_to_their_questions(site, rana):
    run = world.finished(n_models=3, owner=rana)
    address = page("results-comparison", run)
    text = body(site.get(address))
    assert len(re.findall(r"where they differ", text)) == 3
    assert states(text).count("pair_alike") == 3
    link = re.search(r'href="(\?first=[^"#]+)#pair"', text)[1].replace("&amp;", "&")
    # The questions of either of the two.
    assert states(body(site.get(address + link))).count("nearer_to_the_consensus") == 2
    one = model_of(run, "model 1").hex
    assert site.get(f"{address}?first={one}&second={one}").status_code == 200
    for wrong in ("first=x&second=y", f"first={one}", f"model={run.public_id}"):
        assert site.get(f"{address}?{wrong}").status_code == 404


def test_pairs_and_questions_can_be_taken_away(site, rana):
    run = world.finished(owner=rana)
    rows = rows_of(site.get(page("results-table", run, name="comparison")))
    assert [(row["model_a"], row["model_b"], row["n"]) for row in rows] == [
        ("model 0", "model 1", "6")
    ]
    which = f"?first={model_of(run, 'model 1').hex}&second={model_of(run, 'model 0').hex}"
    rows = rows_of(site.get(page("results-table", run, name="differences") + which))
    assert [row["question"] for row in rows] == ["r1", "r2", "r3", "r4", "r5", "r6"]
    assert float(rows[0]["difference"]) == pytest.approx(-0.006)
    for name in ("comparison", "differences"):
        assert "<svg" in body(site.get(page("results-chart", run, name=name) + which))


def test_a_run_with_fewer_than_two_models_says_so(site, rana):
    run = world.finished(n_models=1, owner=rana)
    said = body(site.get(page("results-comparison", run)))
    assert "fewer_than_two_models" in states(said)
    assert site.get(page("results-chart", run, name="comparison")).status_code == 404
    assert site.get(page("results-table", run, name="differences")).status_code == 404


def test_a_run_from_before_pairs_were_kept_says_so(site, rana):
    run = world.finished(owner=rana)
    LLMComparison.objects.all().delete()
    said = body(site.get(page("results-comparison", run)))
    assert "comparison_not_recorded" in states(said)


@pytest.mark.parametrize("n_models", [2, 7])
def test_the_page_takes_a_constant_number_of_queries(
    site, rana, n_models, django_assert_max_num_queries
):
    run = world.finished(n_models=n_models, owner=rana)
    with django_assert_max_num_queries(15 + FOR_THE_READER):
        assert site.get(page("results-comparison", run)).status_code == 200
