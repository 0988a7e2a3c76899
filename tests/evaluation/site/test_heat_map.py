"""Workers by questions: blocks, the overview, missing answers, and the file."""

import re
from xml.etree import ElementTree as ET

import pytest

from annotations.models import Response
from evaluation.charts.heat_map import block_chart, overview_chart, shades
from evaluation.charts.svg import NAMESPACE
from evaluation.models import AnswerScore, RunData
from evaluation.reports.heat_map import HeatOverview, heat_block
from tests.evaluation.reports import world
from tests.evaluation.site.test_pages import body, page, rows_of

pytestmark = pytest.mark.django_db
DATA = {"means": [[0.9, None]], "counts": [[3, 0]], "workers_to": [60], "questions_to": [20, 50]}


def fields(chart):
    root = ET.fromstring(str(chart.wide))
    for mark in root.iter(f"{{{NAMESPACE}}}g"):
        (rectangle,) = mark.iter(f"{{{NAMESPACE}}}rect")
        yield mark.find(f"{{{NAMESPACE}}}title").text, rectangle.get("class")


def test_a_block_holds_each_answer_at_its_worker_and_question(rana):
    run = world.finished(owner=rana)
    block = heat_block(run)
    assert [row.name for row in block.workers] == ["w001", "w002", "w003", "w004"]
    assert [column.name for column in block.questions] == [f"r{i}" for i in range(1, 7)]
    # Answers are numbered by worker: .8 less a thousandth for each.
    assert block.cells[2][3].score == pytest.approx(0.8 - 0.015)
    assert block.is_whole


def test_an_answer_that_is_missing_is_marked(rana):
    run = world.finished(owner=rana)
    which = {"submission__worker__external_id": "w002", "question__external_id": "r3"}
    Response.objects.get(**which).delete()
    AnswerScore.objects.filter(
        response__submission__worker__external_id="w003", response__question__external_id="r1"
    ).update(score_leave_one_out=None)
    found = dict(fields(block_chart(heat_block(run), "cosine")))
    assert found["w002 on r3\nno answer"] == "chart-missing"
    alone = next(tip for tip in found if tip.startswith("w003 on r1"))
    assert "nobody else answered" in alone
    assert found[alone] == "chart-missing"
    assert len(found) == 24


def test_stronger_colours_are_nearer_to_the_consensus():
    colours = shades([0.1, 0.9], "cosine")
    assert [colours(score) for score in (-0.3, 0.0, 0.19, 0.2, 0.79, 0.8, 1.0)] == [
        f"heat-{shade}" for shade in (0, 1, 1, 2, 4, 5, 5)
    ]
    distances = shades([-6.0, 0.0], "euclidean")
    assert [distances(score) for score in (-6.0, -4.5, 0.0)] == ["heat-0", "heat-1", "heat-5"]


def test_a_field_of_the_overview_leads_to_its_block():
    chart = overview_chart(HeatOverview(**DATA), "cosine", lambda w, q: f"/{w}/{q}")
    (first, look), (second, empty) = fields(chart)
    assert first.startswith("workers 1 to 60, questions 1 to 20\nmean 0.900 of 3 answers")
    assert second.startswith("workers 1 to 60, questions 21 to 50\nmean unknown")
    assert (look, empty) == ("chart-heat-5", "chart-missing")
    # The second group begins with question 21, which is in the first block of 24.
    assert re.findall('data-href="([^"]+)"', chart.wide) == ["/0/0", "/0/0"]


def test_large_sets_come_in_blocks(site, rana, monkeypatch):
    run = world.finished(n_workers=90, n_questions=2, n_models=0, owner=rana)
    RunData.objects.create(run=run, name="heat-map", data=DATA)
    address = page("results-heat-map", run)
    text = body(site.get(address))
    assert "Workers 1 to 40 of 90" in text
    assert "The whole run at a glance" in text
    assert 'href="?workers=40#block">Worse workers' in text
    last = body(site.get(f"{address}?workers=80"))
    assert "Workers 81 to 90 of 90" in last
    for wrong in ("workers=90", "workers=x", "questions=2", "workers=-1", "workers=99999999"):
        assert site.get(f"{address}?{wrong}").status_code == 404
    for name in ("heat-map", "heat-block"):
        assert "<svg" in body(site.get(page("results-chart", run, name=name) + "?workers=40"))


def test_a_small_set_needs_no_overview(site, rana):
    run = world.finished(owner=rana)
    text = body(site.get(page("results-heat-map", run)))
    assert "All answers" in text
    assert "The whole run at a glance" not in text


def test_the_file_has_a_row_for_each_worker_and_a_column_for_each_question(site, rana):
    run = world.finished(n_workers=130, n_questions=3, owner=rana)
    rows = rows_of(site.get(page("results-table", run, name="heat-map")))
    assert [row["worker"] for row in rows] == [f"w{i:03}" for i in range(1, 131)]
    assert list(rows[0])[:5] == ["worker", "grade", "r1", "r2", "r3"]
    assert float(rows[100]["r2"]) == pytest.approx(0.8 - 0.301)


@pytest.mark.parametrize("n_workers", [5, 100])
def test_the_page_takes_a_constant_number_of_queries(
    site, rana, n_workers, django_assert_max_num_queries
):
    run = world.finished(n_workers=n_workers, owner=rana)
    with django_assert_max_num_queries(12):
        assert site.get(page("results-heat-map", run)).status_code == 200
