"""Notes below a table, numbered pairs of question and answer, a row for each answer of a panel."""

import pytest

from annotations.exchange.presets.stray_rows import NO_WORKER, NOTES, TOTALS, find_stray_row_reason
from tests.annotations.exchange.presets.test_crooked_files import read_rows
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

ASKED = (BREAD, SALT)
PAIRS = [(at, asked) for at in range(3) for asked in range(2)]


@pytest.mark.parametrize("note", ["Source: own survey, 2026", "n = 3", "* did not finish"])
def test_a_note_below_the_table_is_no_worker(note):
    ids = [f"P{at:03}" for at in range(3)]
    content = table(["Participant", *ASKED], *rows(lambda at: [ids[at]]), [note, "", ""])
    assert read("survey.csv", content)[1] == by(ids)
    assert read_rows("survey.csv", content)[1].skipped == {NOTES: 1}


def test_a_worker_without_answers_stays_where_ids_have_spaces_or_other_cells_are_filled():
    names = ["Ann Lee", "Bob Ray", "Cy Day"]
    content = table(["Participant", *ASKED], *rows(lambda at: [names[at]]), ["Dee Fox", "", ""])
    assert len(read("survey.csv", content)[1]) == 4 * 2
    codes = rows(lambda at: [f"P{at:03}", "a"])
    content = table(["Participant", "Group", *ASKED], *codes, ["P003 late", "b", "", ""])
    assert len(read("survey.csv", content)[1]) == 4 * 2


@pytest.mark.parametrize(
    ("worker", "texts", "others", "reason"),
    [
        ("", ["", " "], ["", "x"], NO_WORKER),
        ("", ["an answer"], ["an answer"], ""),
        ("Total:", ["12", ""], ["12", ""], TOTALS),
        ("sum", ["12 people"], ["12 people"], ""),
        ("see below", [""], [""], NOTES),
        ("p1", [""], [""], ""),
    ],
)
def test_stray_rows_by_reason(worker, texts, others, reason):
    assert find_stray_row_reason(worker, texts, others, are_codes=True) == reason


def test_numbered_pairs_of_question_and_answer_are_a_row_for_each_pair():
    header = ["participant", "question_1", "answer_1", "question_2", "answer_2", "age"]
    # Each person has the two questions in another order.
    people = [
        [
            IDS[at],
            *(cell for asked in order for cell in (ASKED[asked], SAID[at][asked])),
            30 + at,
        ]
        for at, order in enumerate(((0, 1), (1, 0), (0, 1)))
    ]
    slug, found, _, _ = read("survey.csv", table(header, *people))
    assert (slug, found) == ("long", RIGHT)


def test_numbered_columns_without_recurring_questions_stay_columns():
    header = ["participant", "question_1", "answer_1", "question_2", "answer_2"]
    people = [[IDS[at], "5", SAID[at][0], str(at), SAID[at][1]] for at in range(3)]
    _, found, _, _ = read("survey.csv", table(header, *people))
    assert found == by(IDS, ("answer_1", "answer_2"))


@pytest.mark.parametrize(
    ("header", "cells"),
    [
        (["PROLIFIC_PID", "question", "answer"], lambda asked: [ASKED[asked]]),
        (
            ["PROLIFIC_PID", "STUDY_ID", "question_id", "question_text", "response"],
            lambda asked: ["6" * 24, f"q{asked}", ASKED[asked]],
        ),
    ],
)
def test_a_row_for_each_answer_under_ids_of_prolific_is_read(header, cells):
    people = [[IDS[at], *cells(asked), SAID[at][asked]] for at, asked in PAIRS]
    slug, found, _, _ = read("survey.csv", table(header, *people))
    assert (slug, found) == ("long", RIGHT)


def test_a_survey_of_prolific_with_a_column_named_item_keeps_a_row_for_each_worker():
    people = [[IDS[at], f"Set {at}", *SAID[at]] for at in range(3)]
    content = table(["PROLIFIC_PID", "item", BREAD, "comment"], *people)
    assert read("survey.csv", content)[0] == "prolific"
