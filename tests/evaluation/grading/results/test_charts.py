"""Pictures hold the numbers of their rows, at their places, and texts only as text."""

import uuid
from xml.etree import ElementTree as ET

import pytest

from evaluation.core.charts.chart import (
    EstimateRow,
    Series,
    build_estimates_chart,
    build_line_chart,
)
from evaluation.core.charts.svg import (
    NAMESPACE,
    Scale,
    build_scale,
    fit_text,
    format_number,
    format_tick,
    remove_control_characters,
)
from evaluation.core.stats.inference.estimate import Estimate
from evaluation.grading.results.charts.answers import build_answers_chart, build_worker_chart
from evaluation.grading.results.charts.grades import (
    build_convergence_chart,
    build_grades_chart,
    build_questions_chart,
)
from evaluation.grading.results.charts.models import build_placement_chart
from evaluation.grading.results.report.models import build_models_report
from evaluation.grading.results.report.questions import QuestionAnswer, QuestionRow
from evaluation.grading.results.report.workers import WorkerAnswer, WorkerRow
from tests.evaluation.grading.results import world

HOSTILE = "<script>alert(1)</script> \"'{{ 7*7 }} \u202eevil\u202c 🦊 \x00\x1b </svg>"


def worker(name="ada", grade=0.5, low=0.25, high=1.0, supported=True):
    return WorkerRow(
        worker=uuid.uuid4(),
        name=name,
        panel="",
        grade=Estimate(grade, low, high),
        raw=Estimate(grade),
        leave_one_out=grade,
        weight=1.0,
        rank=1 if supported else None,
        rank_low=1 if supported else None,
        rank_high=3 if supported else None,
        supported=supported,
        n_answers=6,
    )


def shapes(svg, tag):
    return ET.fromstring(str(svg)).iter(f"{{{NAMESPACE}}}{tag}")


def test_a_dot_stands_at_the_grade_and_the_line_over_the_interval():
    svg = build_grades_chart([worker()], 1).wide
    (dot,) = shapes(svg, "circle")
    (whisker,) = (line for line in shapes(svg, "line") if "whisker" in line.get("class"))
    ticks = {text.text: float(text.get("x")) for text in shapes(svg, "text")}
    left, right = ticks["0"], ticks["1"]
    assert float(dot.get("cx")) == pytest.approx((left + right) / 2, abs=0.1)
    assert float(whisker.get("x1")) == pytest.approx(left + (right - left) / 4, abs=0.1)
    assert float(whisker.get("x2")) == pytest.approx(right, abs=0.1)


def test_workers_of_too_little_support_are_marked():
    rows = [worker(), worker("ben", supported=False)]
    looks = [dot.get("class") for dot in shapes(build_grades_chart(rows, 2).wide, "circle")]
    assert looks == ["chart-dot", "chart-dot-weak"]


def test_a_picture_of_many_workers_says_what_it_leaves_out():
    chart = build_grades_chart([worker(f"w{i}") for i in range(250)], 20_000)
    assert len(list(shapes(chart.wide, "circle"))) == 200
    assert "200 of 20,000" in chart.note
    assert build_grades_chart([worker()], 1).note == ""


@pytest.mark.parametrize("width", ["wide", "narrow"])
def test_texts_are_only_text(width):
    row = WorkerAnswer(
        question=uuid.uuid4(),
        question_name=HOSTILE,
        question_text=HOSTILE,
        text=HOSTILE,
        status="scored",
        score=0.5,
        score_leave_one_out=0.5,
        n_answers=3,
        nearest=HOSTILE,
        nearest_worker=None,
        nearest_worker_name=HOSTILE,
        is_nearest=False,
    )
    answer = QuestionAnswer(uuid.uuid4(), HOSTILE, 0.5, HOSTILE, 0.5, 0.5, True)
    question = QuestionRow(uuid.uuid4(), HOSTILE, HOSTILE, 3, 0.5, 0.4, HOSTILE, HOSTILE)
    for chart in (
        build_grades_chart([worker(HOSTILE)], 1),
        build_worker_chart([row], 0.5),
        build_answers_chart([answer], [], 1),
        build_questions_chart([question], 1),
    ):
        svg = str(getattr(chart, width))
        assert "<script" not in svg
        assert "\x00" not in svg
        tags = {element.tag.partition("}")[2] for element in ET.fromstring(svg).iter()}
        assert tags <= {"svg", "g", "title", "rect", "line", "circle", "polygon", "text"}
        assert any("alert(1)" in title.text for title in shapes(svg, "title"))


def test_a_picture_to_take_away_holds_no_texts_of_tooltips_and_no_links():
    chart = build_grades_chart([worker()], 1, link=lambda _: "/there/")
    assert "data-href" in chart.wide
    file = chart.build_standalone_svg(["of <rivers>"])
    assert "of &lt;rivers&gt;" in file
    assert file.startswith("<?xml")
    assert "<title" not in file
    assert "/there/" not in file
    assert "style=" not in file


def test_no_picture_needs_an_inline_style():
    assert "style" not in build_grades_chart([worker()], 1).wide


def test_the_trace_is_drawn_by_powers_of_ten():
    svg = build_convergence_chart([0.1, 0.01, 0.001]).wide
    (line,) = shapes(svg, "polyline")
    heights = [float(point.split(",")[1]) for point in line.get("points").split()]
    assert heights[1] - heights[0] == pytest.approx(heights[2] - heights[1], abs=0.2)
    assert heights[0] < heights[2]


@pytest.mark.parametrize("trace", [[0.0], [1e-9], [0.0, 0.0], [0.5] * 300])
def test_any_trace_can_be_drawn(trace):
    assert len(list(shapes(build_convergence_chart(trace).narrow, "polyline"))) == 1


@pytest.mark.django_db
def test_models_stand_under_the_crowd_beside_the_ceiling():
    report = build_models_report(world.finished(n_workers=6))
    svg = build_placement_chart(report.models, report.ceiling, report.crowd).wide
    diamonds = list(shapes(svg, "polygon"))
    assert len(diamonds) == 2
    words = [text.text for text in shapes(svg, "text")]
    assert "human ceiling 0.810" in words
    assert "5 workers" in words
    ceiling = next(line for line in shapes(svg, "line") if line.get("class") == "chart-ceiling")
    x = next(float(point.split(",")[0]) for point in diamonds[0].get("points").split())
    assert x < float(ceiling.get("x1"))  # .6 is below .81


def test_ticks_are_round_and_inside():
    assert Scale(0, 1, 0, 100).list_ticks(5) == pytest.approx([0, 0.2, 0.4, 0.6, 0.8, 1])
    ticks = Scale(0.431, 0.873, 0, 100).list_ticks(5)
    assert min(ticks) >= 0.431
    assert max(ticks) <= 0.873
    assert [format_tick(tick) for tick in ticks] == ["0.5", "0.6", "0.7", "0.8"]
    assert format_tick(-0.0) == "0"


def test_a_scale_holds_its_numbers_with_some_air():
    scale = build_scale([0.2, None, 0.6], 0, 100)
    assert 0 < scale(0.2) < scale(0.6) < 100
    assert build_scale([], 0, 1).low == 0
    assert build_scale([0.5], 0, 1).low < 0.5


def test_numbers_have_three_decimals():
    assert [format_number(x) for x in (0.5, None, 0.0, 1e-8, -0.25)] == [
        "0.500",
        "–",
        "0.000",
        "1.00e-08",
        "-0.250",
    ]


def test_long_names_keep_their_ends():
    assert fit_text("model with a long name, t=0.8", 100) == "model w…t=0.8"
    assert fit_text("short", 100) == "short"
    assert remove_control_characters("a\x00b\ud800") == "a\ufffdb\ufffd"


def test_a_line_has_a_gap_where_a_number_is_undefined():
    series = [Series("a", [(1, 0.0), (2, None), (3, 0.5), (4, 1.0)]), Series("b", [(1, 0.5)])]
    svg = build_line_chart("n", "t", "e", ("x", "y"), series, (0.0, 1.0)).wide
    parts = [line.get("points").split() for line in shapes(svg, "polyline")]
    assert [len(points) for points in parts] == [1, 2, 1]
    x3, x4 = (float(point.split(",")[0]) for point in parts[1])
    x1 = float(parts[0][0].split(",")[0])
    assert x3 - x1 == pytest.approx(2 * (x4 - x3), abs=0.2)


def test_any_estimates_stand_at_their_numbers():
    rows = [EstimateRow("a", 0.0, -1.0, 1.0, "a"), EstimateRow("b", None, None, None, "b")]
    svg = build_estimates_chart("n", "t", "e", "r", rows).wide
    (dot,) = shapes(svg, "circle")
    (whisker,) = (line for line in shapes(svg, "line") if "whisker" in line.get("class"))
    middle = (float(whisker.get("x1")) + float(whisker.get("x2"))) / 2
    assert float(dot.get("cx")) == pytest.approx(middle, abs=0.1)
