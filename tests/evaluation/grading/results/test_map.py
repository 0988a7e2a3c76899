"""The map of a question: its places, its slider, and its files."""

import json
import re
from xml.etree import ElementTree as ET

import pytest

from evaluation.core.charts.svg import NAMESPACE
from evaluation.grading.results.charts.answers import (
    LITTLE_HELD,
    RESULT,
    build_iteration_captions,
    build_map_chart,
)
from evaluation.grading.results.report.maps import choose_iterations, read_answer_map
from evaluation.models import AnswerScore, ExemplaryAnswer, LLMAnswerScore, Run
from tests.evaluation.grading.results import world
from tests.evaluation.site.handles import numbers, states
from tests.evaluation.site.test_pages import body, page, question_of, rows_of

pytestmark = pytest.mark.django_db


def shapes(svg, tag):
    return ET.fromstring(str(svg)).iter(f"{{{NAMESPACE}}}{tag}")


def test_a_map_holds_the_places_and_weights_of_each_iteration(rana):
    run = world.finished(owner=rana)
    report = read_answer_map(run, question_of(run))
    assert report.iterations == [0, 1, 2]
    assert report.path == [(3, -3), (2, -2), (0, 0)]
    assert report.moved == pytest.approx([0, 2**0.5, 8**0.5])
    # Answers come six to a worker; the first question has the numbers 0, 6, 12, 18.
    assert [answer.place for answer in report.answers] == [(0, 0), (6, -6), (12, -12), (18, -18)]
    assert report.answers[0].votes == pytest.approx([1, 2, 4])  # times 4 workers
    assert report.answers[1].votes == pytest.approx([1, 0.4, 0])
    assert report.answers[0].grades == [None, 1, 1]
    assert [model.place for model in report.models] == [(1, 1), (1, 1)]
    assert report.share == 0.25


def test_a_question_has_axes_of_its_own(rana):
    run = world.finished(owner=rana)
    report = read_answer_map(run, question_of(run), "question")
    assert report.path == [(13, 23), (12, 22), (10, 20)]
    assert report.answers[0].place == (10, 20)
    assert report.share == 0.5


def test_of_many_answers_the_nearest_and_the_farthest_are_shown(rana):
    run = world.finished(n_workers=260, n_questions=1, n_models=0, owner=rana)
    report = read_answer_map(run, question_of(run))
    names = [answer.name for answer in report.answers]
    assert names == [f"w{i:03}" for i in [*range(1, 151), *range(211, 261)]]
    assert "200 in all" in build_map_chart(report).note


def test_of_many_iterations_the_first_and_the_last_are_shown():
    assert choose_iterations(5) == [0, 1, 2, 3, 4]
    shown = choose_iterations(101)
    assert shown[:15] == list(range(15))
    assert shown[-1] == 100
    assert len(shown) == len(set(shown)) == 30
    assert shown == sorted(shown)


def test_the_area_of_a_dot_is_its_weight_and_its_class_its_grade(rana):
    run = world.finished(owner=rana)
    report = read_answer_map(run, question_of(run))
    marks = [mark for mark in shapes(build_map_chart(report).wide, "g") if mark.get("data-radii")]
    by_name = {mark.find(f"{{{NAMESPACE}}}title").text.split(":")[0]: mark for mark in marks}
    radii = [float(radius) for radius in by_name["w001"].get("data-radii").split()]
    assert radii[2] ** 2 / radii[0] ** 2 == pytest.approx(4, rel=0.05)  # from 1 vote to 4
    assert by_name["w001"].get("data-grades") == "none 4 4"
    assert by_name["w003"].get("data-grades") == "none 1 1"  # a grade of 1/3
    (dot,) = by_name["w001"].iter(f"{{{NAMESPACE}}}circle")
    assert float(dot.get("r")) == radii[2]


def test_distances_on_the_map_are_equally_long_in_both_directions(rana):
    run = world.finished(owner=rana)
    report = read_answer_map(run, question_of(run))
    for svg in (build_map_chart(report).wide, build_map_chart(report).narrow):
        places = [
            (float(dot.get("cx")), float(dot.get("cy")))
            for mark in shapes(svg, "g")
            if mark.get("data-radii")
            for dot in mark.iter(f"{{{NAMESPACE}}}circle")
        ]
        (x0, y0), (x1, y1) = min(places), max(places)
        assert x1 - x0 == pytest.approx(y1 - y0, abs=0.2)  # from (0, 0) to (18, -18)


def test_the_slider_is_there_with_a_caption_for_each_iteration(site, rana):
    run = world.finished(owner=rana)
    text = body(site.get(page("results-question", run, question=question_of(run))))
    (held,) = re.findall(r'data-captions="([^"]+)"', text)
    words = json.loads(held.replace("&quot;", '"'))
    assert words == build_iteration_captions(read_answer_map(run, question_of(run)))
    assert numbers(words[0]) == []
    # Iteration 1 of 2 moved the consensus by the square root of 2.
    assert numbers(words[1]) == [1, 2, 1.414]
    assert [text.endswith(RESULT) for text in words] == [False, False, True]
    assert 'type="range"' in text
    assert "25% of the differences" in text
    of_question = body(
        site.get(page("results-question", run, question=question_of(run)) + "?axes=question")
    )
    assert "50% of the differences" in of_question


def test_the_picture_of_each_iteration_can_be_taken_away(site, rana):
    run = world.finished(owner=rana)
    address = page("results-question-map", run, question=question_of(run))
    start, end = body(site.get(f"{address}?iteration=0")), body(site.get(address))
    first, *_, last = build_iteration_captions(read_answer_map(run, question_of(run)))
    assert first in start
    assert last in end
    assert last.endswith(RESULT)
    assert start != end
    assert "data-" not in start
    for wrong in ("iteration=3", "iteration=-1", "iteration=x", "iteration=" + "9" * 99, "axes=z"):
        assert site.get(f"{address}?{wrong}").status_code == 404


def test_the_table_holds_answers_models_and_the_way_of_the_consensus(site, rana):
    run = world.finished(owner=rana)
    rows = rows_of(site.get(page("results-question-map-table", run, question=question_of(run))))
    assert [row["what"] for row in rows] == ["worker"] * 4 + ["model"] * 2 + ["consensus"] * 3
    assert (rows[1]["x"], rows[1]["own_y"]) == ("6.0", "26.0")
    assert float(rows[1]["grade"]) == pytest.approx(2 / 3)
    assert [row["iteration"] for row in rows[6:]] == ["0", "1", "2"]
    assert rows[-1]["own_x"] == "10.0"


def test_a_run_from_before_there_were_maps_says_so(site, rana):
    run = world.finished(owner=rana)
    summary = {key: value for key, value in run.summary.items() if key != "map"}
    Run.objects.filter(pk=run.pk).update(summary=summary)
    ExemplaryAnswer.objects.filter(run=run).update(path=None)
    for scores in (AnswerScore, LLMAnswerScore):
        scores.objects.filter(run=run).update(place=None)
    question = {"question": question_of(run)}
    text = body(site.get(page("results-question", run, **question)))
    assert "map_not_recorded" in states(text)
    assert site.get(page("results-question-map", run, **question)).status_code == 404
    assert rows_of(site.get(page("results-question-map-table", run, **question))) == []


def test_a_map_that_shows_hardly_anything_says_so(rana):
    run = world.finished(owner=rana)
    ExemplaryAnswer.objects.filter(run=run).update(run_share=0.001)
    note = build_map_chart(read_answer_map(run, question_of(run))).note
    assert numbers(note)[0] == 1  # less than 1% of the differences
    assert LITTLE_HELD in note
    own = build_map_chart(read_answer_map(run, question_of(run), "question")).note
    assert LITTLE_HELD not in own
