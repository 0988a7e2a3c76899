import re

import pytest

from annotations.exchange import ids, read_answers, read_model_answers
from annotations.exchange.ids import IdCleaner, clean_id, extract_wording, find_id_damage, is_blank
from annotations.exchange.presets import (
    open_answer_rows,
    propose_mapping,
    read_head,
    recognise_preset,
)
from annotations.exchange.reading.duplicates import Duplicates
from evaluation.multiqa.files.reading import read_items
from tests.annotations.exchange.files import HEADER, fault, write

SEEN = [
    ("ana", "ana"),
    (" ana\t", "ana"),
    ("ana\u200b", "ana"),
    ("\u200eana", "ana"),
    ("\ufeffana", "ana"),
    ("a\u00adna", "ana"),
    ("a\u2060n\u202aa\u202c", "ana"),
    ("an\x07a\ufe0f", "ana"),
    ("ana\u00a0ruiz", "ana ruiz"),
    ("ana  ruiz", "ana ruiz"),
    ("ana\u2003\u202fruiz\u3000", "ana ruiz"),
    ("e\u0301", "\u00e9"),
    ("007", "007"),
    ("ANA", "ANA"),
    ("عمر", "عمر"),
    ("\u200b\u00a0", ""),
]


def test_an_id_is_what_is_seen_of_it():
    assert [clean_id(written) for written, _ in SEEN] == [seen for _, seen in SEEN]


BLANK = [
    ("", True),
    (" \n", True),
    ("\u200b", True),
    ("\u2060\ufeff \u00a0", True),
    ("\u00ad\u200e\u3164\u2800", True),
    ("\x7f", True),
    ("-", False),
    ("\u200b0", False),
    ("\u00a0\u00e9", False),
    ("😀\ufe0f", False),
]


def test_a_text_is_blank_where_nothing_of_it_is_seen():
    assert [is_blank(text) for text, _ in BLANK] == [expected for _, expected in BLANK]


DAMAGED = [
    ("5.60E+23", ids.ROUNDED),
    ("5,60E+23", ids.ROUNDED),
    ("6E+10", ids.ROUNDED),
    ("560000000000000000000000", ids.ROUNDED),
    ("01-Mar", ids.DATED),
    ("1. Mrz", ids.DATED),
    ("Mar-22", ids.DATED),
    ("3-mars", ids.DATED),
    ("2026-03-01T00:00:00", ids.DATED),
    ("########", ids.NARROW),
    ("#N/A", ids.FAILED),
    ("5f1000000000000000000001", ""),
    ("12e05", ""),
    ("1-marta", ""),
    ("120000000000000", ""),
    ("#1", ""),
]


def test_what_a_spreadsheet_did_to_an_id_is_told_by_its_looks():
    assert [find_id_damage(text) for text, _ in DAMAGED] == [expected for _, expected in DAMAGED]


WORDINGS = [
    ("Who designed the tower?", True),
    ("Name the river in Egypt", True),
    ("Warum?", True),
    ("谁设计了塔？", True),
    ("tides-1", False),
    ("Q1", False),
    ("item 12 3", False),
    ("set A", False),
]


def test_an_id_is_a_wording_where_it_reads_as_one():
    expected = [question if is_wording else "" for question, is_wording in WORDINGS]
    assert [extract_wording(question) for question, _ in WORDINGS] == expected


def test_notes_count_characters_and_ids_once_each():
    notes = IdCleaner()
    for raw in ("ana", "ana\u200b", "ana\u200b", "\u200e\u200eana", "b\u00a0c", " d "):
        notes.clean_and_record(raw)
    # One of the first spelling, two of the second, and the blank that became a space.
    assert re.findall(r"\d+", notes.warnings[0]) == ["4", "3"]
    assert ": ana, b c." in notes.warnings[0]


SPELLINGS = ["ana\u200b", "\u200eana", "\ufeffana", "a\u00adna"]


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_one_person_in_two_spellings_is_one_worker(tmp_path, spelling):
    file = read_answers(write(tmp_path, f"{HEADER}ana,q1,a\n{spelling},q2\u200b,b\nben,q2,c\n"))
    assert {(one.worker, one.question) for one in file.records} == {
        ("ana", "q1"),
        ("ana", "q2"),
        ("ben", "q2"),
    }
    assert len(file.warnings) == 1


def test_a_model_answers_the_question_that_looks_the_same(tmp_path):
    file = read_model_answers(write(tmp_path, "model,question,answer\nm,q1\u200b,a\n"))
    assert file.records[0].question == "q1"
    assert len(file.warnings) == 1


@pytest.mark.parametrize("text", ["\u200b", "\u2060\ufeff", "\u00a0 ", "\u00ad"])
def test_an_answer_of_which_nothing_is_seen_is_empty(tmp_path, text):
    rows = f"{HEADER}ana,q1,{text}\nben,q1,b\n"
    assert read_answers(write(tmp_path, rows)).n_empty == 1
    head = read_head(write(tmp_path, rows.replace("worker", "Worker"), "b.csv"))
    preset = recognise_preset(head)
    found = open_answer_rows(
        tmp_path / "b.csv", preset, propose_mapping(preset, head, tmp_path / "b.csv")
    )
    assert [record.text for record, _ in found] == ["", "b"]


def test_damaged_ids_are_named_before_the_contradictions_that_they_make(tmp_path):
    rows = f"{HEADER}5.60E+23,q1,a\n5.60E+23,q1,b\n"
    error = fault(write(tmp_path, rows))
    assert [one.code for one in error.problems] == ["ids_damaged", "answers_differ"]
    assert error.problems[0].values["n_ids"] == 1
    file = read_answers(tmp_path / "answers.csv", duplicates=Duplicates.FIRST)
    assert f"5.60E+23 ({ids.ROUNDED})" in file.warnings[0]


def test_items_are_known_by_what_is_seen_of_their_ids(tmp_path):
    rows = 'item,kind,question,choices,answers\ni1\u200b,free,q,,"[""a""]"\n'
    assert [one.item for one in read_items(write(tmp_path, rows)).items] == ["i1"]
