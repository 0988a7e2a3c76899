"""Exports with scores, rounded ids, repeated headings, formulas and agreeing annotators."""

import io
import json

import openpyxl
import pytest

from annotations.exchange.presets import (
    open_answer_rows,
    propose_mapping,
    read_head,
    recognise_preset,
)
from annotations.exchange.presets.columns import find_worker_problem
from annotations.exchange.reading.answers import read_answers
from annotations.exchange.reading.source import make_bytes_source
from tests.annotations.exchange.presets.test_survey_tools import (
    BREAD,
    IDS,
    RIGHT,
    SAID,
    SALT,
    by,
    read,
    rows,
    table,
)
from tests.problems import raises_problem

ASKED = (BREAD, SALT)
OWN = ("worker", "question", "answer")


def workbook(*lines, name="study.xlsx"):
    """Return a workbook with these rows, in which no formula has a stored value."""
    book = openpyxl.Workbook()
    for line in lines:
        book.active.append(line)
    content = io.BytesIO()
    book.save(content)
    return make_bytes_source(name, content.getvalue())


def read_rows(source):
    """Return the reader of a file with the proposed mapping, and its records."""
    head = read_head(source)
    preset = recognise_preset(head)
    found = open_answer_rows(source, preset, propose_mapping(preset, head, source))
    records = [record for record, _ in found]
    found.raise_problems()
    return found, records


@pytest.mark.parametrize("heading", ["Score", "Gesamtpunktzahl", "Total score"])
def test_the_score_of_a_quiz_is_no_answer_in_any_language(heading):
    scores = ("0.00 / 10", "7.50 / 10", "10.00 / 10")
    content = table(
        ["Timestamp", heading, "Worker ID", *ASKED],
        *rows(lambda at: [f"3/{at + 1}/2026 10:11:12", scores[at], IDS[at]]),
    )
    _, answers, *_ = read("quiz.csv", content)
    assert answers == RIGHT


def test_fractions_in_answer_to_a_question_are_answers():
    content = table(
        ["Timestamp", "Worker ID", "Which fraction remains?"],
        *[[f"3/{at + 1}/2026 10:11:12", IDS[at], f"{at} / 4"] for at in range(3)],
    )
    _, answers, *_ = read("form.csv", content)
    assert answers == {(IDS[at], "Which fraction remains?"): f"{at} / 4" for at in range(3)}


@pytest.mark.parametrize(
    ("ids", "problem"),
    [
        (("1.18E+11",) * 3, "damaged"),
        (("1.18E+11", "1.18E+11", "1.18E+11", "1.19E+11", "1.19E+11"), "damaged"),
        (("118670004711",) * 3, "constant"),
        (("118670004711", "118670004712", "118670004713"), ""),
    ],
)
def test_ids_that_a_spreadsheet_rounded_are_named_as_such(ids, problem):
    lines = [[one, SAID[at % 3][0]] for at, one in enumerate(ids)]
    head = read_head(make_bytes_source("survey.csv", table(["Respondent ID", BREAD], *lines)))
    assert find_worker_problem(head, "Respondent ID") == problem


HEADERS = {
    "survey tool": ["StartDate", "EndDate", "ResponseId", "RecordedDate", "Q1"],
    "wide": ["Participant ID", BREAD],
    "batch": ["HITId", "AssignmentId", "WorkerId", "Input.text", "Answer.text"],
    "our own form": list(OWN),
}


@pytest.mark.parametrize("name", HEADERS)
def test_a_file_with_headings_alone_is_said_to_have_no_rows(name):
    with raises_problem("no_rows"):
        read("empty.csv", table(HEADERS[name]))


def test_a_file_whose_rows_are_all_cut_off_is_not_said_to_have_none():
    source = make_bytes_source("cut.csv", table(["Participant ID", BREAD, SALT], ["p1"], ["p2"]))
    assert read_head(source).n_problems == 2


@pytest.mark.parametrize("header", [("Participant ID", *ASKED), OWN])
def test_each_of_several_columns_of_one_name_is_stored(header):
    lines = [[IDS[at], *SAID[at], "first", "second"] for at in range(3)]
    source = make_bytes_source("notes.csv", table([*header, "Note", "Note"], *lines))
    stored = {"Note": "first", "Note [2]": "second"}
    if header == OWN:
        file = read_answers(source)
        found = [file.get_extra_cells(record) for record in file.records]
    else:
        found = [record.facts.extra for record in read_rows(source)[1]]
    assert found == [stored] * len(found)


FORMULA = "=CONCATENATE(A1)"


def test_an_answer_that_is_a_formula_without_a_value_is_refused():
    asked = ["Participant ID", *ASKED, "Words"]
    lines = rows(lambda at: [IDS[at]], lambda at: [FORMULA])
    # The number of words is no answer, so formulas in its column are accepted.
    assert {(r.worker, r.question): r.text for r in read_rows(workbook(asked, *lines))[1]} == RIGHT
    lines[1][2] = FORMULA
    with raises_problem("formula_without_value", line=3, column=SALT):
        read_rows(workbook(asked, *lines))


def test_an_answer_that_is_an_error_of_a_formula_is_refused():
    lines = rows(lambda at: [IDS[at]])
    lines[0][1] = "#REF!"
    with raises_problem("cell_with_error", line=2, column=BREAD, text="#REF!"):
        read_rows(workbook(["Participant ID", *ASKED], *lines))


def annotated(*choices):
    """Return a CSV of Label Studio: two tasks, each with a choice of two annotators."""
    header = ["text", "id", "choice", "annotator", "annotation_id", "created_at", "lead_time"]
    at = "2026-03-01T10:00:00Z"
    lines = [
        [ASKED[n // 2], 100 + n // 2, choice, 1 + n % 2, 7 + n, at, 3.5]
        for n, choice in enumerate(choices)
    ]
    return table(header, *lines)


@pytest.mark.parametrize("choices", [("yes", "yes", "no", "no"), ("yes", "no", "no", "no")])
def test_choices_of_annotators_are_read_whether_they_agree_or_not(choices):
    _, answers, *_ = read("tasks.csv", annotated(*choices))
    assert answers == {(str(1 + n % 2), ASKED[n // 2]): choice for n, choice in enumerate(choices)}


@pytest.mark.parametrize("mark", ["\ufeff", "\u200b", "\u2060 "])
def test_invisible_characters_around_a_heading_do_not_hide_it(mark):
    content = table([mark + OWN[0], OWN[1], OWN[2] + mark], ["w1", "q1", "Yeast makes gas"])
    (record,) = read_answers(make_bytes_source("answers.csv", content)).records
    assert (record.worker, record.text) == ("w1", "Yeast makes gas")


@pytest.mark.parametrize("page", [b"<!DOCTYPE html><p>Sign in</p>", b"\xef\xbb\xbf\n<html><body>"])
def test_a_page_in_place_of_a_download_is_named(page):
    with raises_problem("web_page"):
        read("export.csv", page)


@pytest.mark.parametrize("is_wrapped", [False, True])
def test_lime_survey_in_json_is_read_like_its_table(is_wrapped):
    responses = [
        {"id": str(at), "submitdate": "2026-03-01 10:00:00", "lastpage": "2", "token": f"tk{at}"}
        | dict(zip(("bread", "salt"), SAID[at], strict=True))
        for at in range(3)
    ]
    # The last one was saved and never sent.
    responses.append({**responses[0], "id": "9", "token": "tk9", "submitdate": None})
    listed = [{one["id"]: one} for one in responses] if is_wrapped else responses
    slug, answers, *_ = read("results.json", json.dumps({"responses": listed}).encode())
    assert slug == "limesurvey"
    assert answers == by(("tk0", "tk1", "tk2"), ("bread", "salt"))


def test_other_objects_with_responses_stay_refused():
    for records in ([{"values": {"Q1": "The yeast"}}], [1], "none", []):
        with raises_problem("not_object_list"):
            read("export.json", json.dumps({"responses": records}).encode())
