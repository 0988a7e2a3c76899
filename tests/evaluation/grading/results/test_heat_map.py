"""Workers by questions: blocks, the overview, missing answers, and the file."""

import itertools
import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from annotations.models import Response, Worker
from evaluation.core.charts.svg import LOOKS, NAMESPACE
from evaluation.grading.results.charts.heat_map import (
    build_block_chart,
    build_colour_scale,
    build_overview_chart,
)
from evaluation.grading.results.report.maps import HeatOverview, read_heat_block
from evaluation.models import AnswerScore, RunData, WorkerGrade
from tests.evaluation.grading.results import world
from tests.evaluation.site.conftest import FOR_THE_READER
from tests.evaluation.site.handles import numbers
from tests.evaluation.site.test_pages import body, page, rows_of

pytestmark = pytest.mark.django_db
CHARTS = Path(__file__).resolve().parents[4] / "platform/crowdgrade/static/crowdgrade/charts"
DATA = {"means": [[0.9, None]], "counts": [[3, 0]], "workers_to": [60], "questions_to": [20, 50]}


def fields(chart):
    root = ET.fromstring(str(chart.wide))
    for mark in root.iter(f"{{{NAMESPACE}}}g"):
        (rectangle,) = mark.iter(f"{{{NAMESPACE}}}rect")
        yield mark.find(f"{{{NAMESPACE}}}title").text, rectangle.get("class")


def test_a_block_holds_each_answer_at_its_worker_and_question(rana):
    run = world.finished(owner=rana)
    block = read_heat_block(run)
    assert [row.name for row in block.workers] == ["w001", "w002", "w003", "w004"]
    assert [column.name for column in block.questions] == [f"r{i}" for i in range(1, 7)]
    # Answers are numbered by worker: .8 less a thousandth for each.
    assert block.cells[2][3].score == pytest.approx(0.8 - 0.015)
    assert block.is_whole


@pytest.mark.parametrize("size", ["wide", "narrow"])
def test_the_picture_of_a_block_ends_below_its_fields_and_its_legend(rana, size):
    block = read_heat_block(world.finished(owner=rana))
    root = ET.fromstring(str(getattr(build_block_chart(block), size)))
    height = float(root.get("viewBox").split()[3])
    ends = [
        float(one.get("y")) + float(one.get("height")) for one in root.iter(f"{{{NAMESPACE}}}rect")
    ]
    # A field for each of 24 answers; a square for each colour and for missing answers.
    assert len(ends) > 24
    # The legend is last, and at most one of its rows is left empty below it.
    assert max(ends) < height < max(ends) + 20


def test_an_answer_that_is_missing_is_marked(rana):
    run = world.finished(owner=rana)
    which = {"submission__worker__external_id": "w002", "question__external_id": "r3"}
    Response.objects.get(**which).delete()
    AnswerScore.objects.filter(
        response__submission__worker__external_id="w003", response__question__external_id="r1"
    ).update(score_leave_one_out=None)
    found = dict(fields(build_block_chart(read_heat_block(run))))
    assert found["w002 on r3\nno answer"] == "chart-missing"
    alone = next(tip for tip in found if tip.startswith("w003 on r1"))
    assert "no other answer" in alone
    assert found[alone] == "chart-missing"
    assert len(found) == 24


def test_each_colour_is_for_as_many_answers_as_another_one():
    # 0 to 1 in steps of .01: sevenths at 1/7 = .14, .29, .43, .57, .71, .86
    scores = [at / 100 for at in range(101)]
    colours = build_colour_scale(scores)
    assert colours.bounds == [0.14, 0.29, 0.43, 0.57, 0.71, 0.86]
    looks = [colours(score) for score in scores]
    assert sorted(set(looks)) == [f"heat-{shade}" for shade in range(7)]
    assert looks == sorted(looks)
    assert colours.words[:2] == ["below 0.14", "to 0.29"]
    # A crowd of good answers gets all colours too; fixed fifths would give it one.
    good = build_colour_scale([0.8 + at / 1000 for at in range(100)])
    assert len({good(0.8 + at / 1000) for at in range(100)}) == 7


def test_hardly_any_spread_has_few_colours_that_span_the_scale():
    two = build_colour_scale([0.5] * 5 + [0.9] * 5)
    assert (two(0.5), two(0.9)) == ("heat-0", "heat-6")
    assert build_colour_scale([0.7, 0.7])(0.7) == "heat-0"
    assert build_colour_scale([]).words == ["all alike"]


def test_blocks_of_a_run_have_the_colours_of_the_whole_run(site, rana):
    run = world.finished(n_workers=90, n_questions=2, n_models=0, owner=rana)
    quantiles = [0.11, 0.22, 0.33, 0.44, 0.55, 0.66]
    RunData.objects.create(run=run, name="heat-map", data={**DATA, "quantiles": quantiles})
    text = body(site.get(page("results-heat-map", run) + "?workers=40"))
    assert "below 0.11" in text
    assert "0.66 and more" in text


def luminance(colour):
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def test_colours_grow_lighter_and_are_the_same_in_the_dark():
    colours = [LOOKS[f"heat-{shade}"]["fill"] for shade in range(7)]
    lightness = [luminance(colour) ** (1 / 3) for colour in colours]
    steps = [after - before for before, after in itertools.pairwise(lightness)]
    assert min(steps) > 0.05
    css = (CHARTS / "results.css").read_text()
    assert "dark .chart-heat" not in css
    assert "dark .heat-" not in css
    for shade, colour in enumerate(colours):
        assert f".heat-{shade} {{ background: {colour}; }}" in css


def test_a_field_of_the_overview_leads_to_its_block():
    chart = build_overview_chart(HeatOverview(**DATA), lambda w, q: f"/{w}/{q}")
    (first, look), (second, empty) = fields(chart)
    # Workers 1 to 60, questions 1 to 20: a mean of .9 of 3 answers; of the next none.
    assert numbers(first) == [1, 60, 1, 20, 0.9, 3]
    assert numbers(second) == [1, 60, 21, 50, 0]
    assert (look, empty) == ("chart-heat-0", "chart-missing")  # the only number
    # The second group begins with question 21, which is in the first block of 24.
    assert re.findall('data-href="([^"]+)"', chart.wide) == ["/0/0", "/0/0"]


def test_large_sets_come_in_blocks(site, rana, monkeypatch):
    run = world.finished(n_workers=90, n_questions=2, n_models=0, owner=rana)
    RunData.objects.create(run=run, name="heat-map", data=DATA)
    address = page("results-heat-map", run)
    text = body(site.get(address))
    assert "Workers 1 to 40 of 90" in text
    assert 'id="overview"' in text
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
    assert 'id="overview"' not in text


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
    with django_assert_max_num_queries(12 + FOR_THE_READER):
        assert site.get(page("results-heat-map", run)).status_code == 200


@pytest.mark.long
def test_the_page_of_1000_workers_and_1000_questions_is_below_300_kb(site, rana):
    """What a block and the overview show is all there; the rest of the run only counts."""
    run = world.finished(n_workers=40, n_questions=1000, n_models=0, owner=rana)
    Response.objects.filter(submission__version=run.version_id).update(text="word " * 40)
    workers = Worker.objects.bulk_create(
        Worker(owner=rana, panel="x", external_id=f"5f3a9c0e7d1b4a{at:010}") for at in range(960)
    )
    WorkerGrade.objects.bulk_create(
        WorkerGrade(run=run, worker=one, grade=0.0, n_answers=9, support=True) for one in workers
    )
    ends = [25 * (at + 1) for at in range(40)]
    data = {
        "means": [[round(0.9 - at / 100, 4)] * 40 for at in range(40)],
        "counts": [[625] * 40] * 40,
        "workers_to": ends,
        "questions_to": ends,
        "quantiles": [0.31, 0.42, 0.53, 0.64, 0.75, 0.86],
    }
    RunData.objects.create(run=run, name="heat-map", data=data)
    response = site.get(page("results-heat-map", run))
    text = body(response)
    assert "Workers 1 to 40 of 1,000, questions 1 to 24 of 1,000" in text
    assert text.count("<td class=") >= 40 * 40 + 40 * 24
    size = len(text.encode())
    assert size < 300_000, size
    for name in ("heat-map", "heat-block"):
        assert len(body(site.get(page("results-chart", run, name=name))).encode()) < 600_000
