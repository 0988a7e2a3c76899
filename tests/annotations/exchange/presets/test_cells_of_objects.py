"""Lists and objects in the cells of tables, and large files that a process of its own reads."""

import csv
import io
import json

import numpy as np
import pytest

from annotations.exchange import InputError
from annotations.exchange.presets import own_rows, table
from tests.annotations.exchange.presets.test_tools import (
    ALSO,
    ARGILLA,
    ARGILLA_FLAT,
    ARGILLA_HUB,
    ARGILLA_V1,
    BOTH,
    BULGE,
    CAUSE,
    DOCCANO_OLD,
    HUB_ENTRIES,
    HUB_LISTS,
    LAG,
    MOON,
    NEAP,
    OWN,
    STATE,
    json_file,
    lines,
    read,
)
from tests.problems import raises_problem


def arrays(value):
    """Return a value as `datasets` hands it to pandas, its lists as arrays."""
    if isinstance(value, dict):
        return {key: arrays(one) for key, one in value.items()}
    if not isinstance(value, list):
        return value
    found = np.empty(len(value), dtype=object)
    found[:] = [arrays(one) for one in value]
    return found


PRINTED = {"JSON": json.dumps, "Python": str, "numpy": lambda value: str(arrays(value))}


def csv_of(rows, printed=str, name="a.csv"):
    """Return objects as a CSV file, in whose cells lists and objects are printed."""
    header = list(dict.fromkeys(key for row in rows for key in row))
    written = io.StringIO()
    file = csv.writer(written)
    file.writerow(header)
    for row in rows:
        cells = [row.get(key) for key in header]
        file.writerow([printed(one) if isinstance(one, list | dict) else one for one in cells])
    return name, written.getvalue()


QUOTED = 'It\'s "pulled" up,\nby the Moon'
UNANSWERED = {"id": "3", "asked": "Why?", "answer.responses": None, "answer.responses.users": None}
ARGILLA_OF_LISTS = [
    {**row, "answer": {key: [one[key] for one in row["answer"]] for key in row["answer"][0]}}
    for row in ARGILLA_HUB
]
ARGILLA_WITHOUT_IDS = [{**row, "external_id": None} for row in ARGILLA_HUB]
BY_WORDING = {("ana", CAUSE): MOON, ("ben", CAUSE): NEAP, ("ana", BULGE): LAG}


def text_area(who, text, value):
    result = {"from_name": "answer", "to_name": "q", "type": "textarea", "value": value(text)}
    return {"id": 1, "completed_by": who, "result": [result], "was_cancelled": False}


STUDIO = [
    {
        "id": 1,
        "annotations": [
            text_area("ana", MOON, lambda text: {"text": [text]}),
            text_area({"id": 8, "email": "ben"}, NEAP, lambda text: {"text": [text]}),
        ],
        "data": {"question": CAUSE},
    },
    {
        "id": 2,
        "annotations": [text_area("ana", LAG, lambda text: {"text": text})],
        "data": {"question": BULGE},
    },
]
STUDIO_FLAT = [
    {"id": row["id"], "annotations": row["annotations"], "data.question": row["data"]["question"]}
    for row in STUDIO
]
OF_CELLS = {
    "by question": (ARGILLA, "argilla", BOTH, CAUSE),
    "by user": (ARGILLA_V1, "argilla", BOTH, CAUSE),
    "flat": ([*ARGILLA_FLAT, UNANSWERED], "argilla", BOTH, CAUSE),
    "list of responses": (ARGILLA_HUB, "argilla", BOTH, CAUSE),
    "lists of users and values": (ARGILLA_OF_LISTS, "argilla", BOTH, CAUSE),
    "without ids": (ARGILLA_WITHOUT_IDS, "argilla", BY_WORDING, CAUSE),
    "tasks": (STUDIO, "label-studio", BOTH, CAUSE),
    "flat tasks": (STUDIO_FLAT, "label-studio", BOTH, CAUSE),
    "entries": (HUB_ENTRIES, "long", BOTH, CAUSE),
    "lists": (HUB_LISTS, "long", BOTH, CAUSE),
    "by worker": ([{"worker": "ana", "answers": ALSO["ana"]}], "long", None, ""),
    "documents": (
        DOCCANO_OLD,
        "doccano",
        {("7", "1"): MOON, ("8", "1"): NEAP, ("7", "2"): LAG},
        CAUSE,
    ),
    "states": ([STATE], "potato", None, ""),
}


@pytest.mark.parametrize("printed", PRINTED.values(), ids=PRINTED)
@pytest.mark.parametrize(("rows", "slug", "right", "wording"), OF_CELLS.values(), ids=OF_CELLS)
def test_lists_and_objects_in_the_cells_of_a_csv_are_read_as_the_tool_means(
    rows, slug, right, wording, printed
):
    found, mapped, records = read(*csv_of(rows, printed))
    said = {(one.worker, one.question): one.text for one in records}
    assert (found, said) == (slug, right or {("ana", "1"): MOON, ("ana", "2"): LAG})
    assert next(iter(mapped.questions.values())).text == wording


@pytest.mark.parametrize("printed", PRINTED.values(), ids=PRINTED)
def test_quotes_and_lines_in_a_printed_list_stay_as_they_were_typed(printed):
    rows = [
        {"id": "1", "asked": CAUSE, "answer.responses": [QUOTED, "it's", 'a "b"', "[sic]"]},
    ]
    rows[0]["answer.responses.users"] = ["ana", "ben", "cem", "dora"]
    _, _, records = read(*csv_of(rows, printed))
    assert [one.text for one in records] == [QUOTED, "it's", 'a "b"', "[sic]"]


def test_ids_and_enumerations_that_python_prints_are_their_values():
    name, content = csv_of(ARGILLA_V1)
    printed = content.replace("'user_id': 'ana'", "'user_id': UUID('ana')").replace(
        "'status': 'submitted'", "'status': <ResponseStatus.submitted: 'submitted'>"
    )
    assert printed.count("UUID") == 2
    _, _, records = read(name, printed)
    assert {(one.worker, one.question): one.text for one in records} == BOTH


def test_argilla_s_older_sets_have_one_annotator_a_record():
    rows = [
        {"text": CAUSE, "annotation": MOON, "annotation_agent": "ana", "id": 1, "status": ""},
        {"text": BULGE, "annotation": LAG, "annotation_agent": "ben", "id": 2, "status": ""},
        {"text": BULGE, "annotation": None, "annotation_agent": None, "id": 3, "status": ""},
        {
            "text": BULGE,
            "annotation": NEAP,
            "annotation_agent": "ben",
            "id": 4,
            "status": "Discarded",
        },
    ]
    slug, mapped, records = read(*csv_of(rows))
    assert slug == "argilla"
    assert [(one.worker, one.question, one.text) for one in records] == [
        ("ana", "1", MOON),
        ("ben", "2", LAG),
    ]
    assert sum(mapped.skipped.values()) == 2


def without(rows, *endings):
    return [{key: one for key, one in row.items() if not key.endswith(endings)} for row in rows]


SUGGESTED = [
    {"id": "1", "asked": CAUSE, "answer.suggestion": MOON, "answer.suggestion.agent": "x"},
    {"id": "2", "asked": BULGE, "answer.suggestion": LAG, "answer.suggestion.agent": "x"},
]
RANKED = [
    {
        "id": "1",
        "asked": CAUSE,
        "order.responses": [[{"value": MOON, "rank": 1}, {"value": NEAP, "rank": 2}]],
        "order.responses.users": ["ana"],
    }
]
SPANS = [
    {"annotator": who, "annotation_id": who, "id": 1, "label": [{"start": 0, "labels": ["P"]}]}
    for who in (7, 8)
]
ROWS_OF_HUB = [{"row_idx": at, "row": row, "truncated_cells": []} for at, row in enumerate(OWN)]
ROWS_LAID_FLAT = [
    {"row_idx": at, "row.worker": row["worker"], "row.answer": row["answer"], "truncated_cells": []}
    for at, row in enumerate(OWN)
]
LISTS_OF_NOBODY = [{"id": row["id"], "answers": row["answers"]} for row in HUB_LISTS]


@pytest.mark.parametrize("printed", PRINTED.values(), ids=PRINTED)
@pytest.mark.parametrize(
    ("rows", "code", "program"),
    [
        (without(ARGILLA_FLAT, ".users", ".status"), "argilla_nobody", None),
        (SUGGESTED, "argilla_unanswered", None),
        ([{**row, "responses": {}} for row in ARGILLA], "argilla_unanswered", None),
        (RANKED, "answer_column_unclear", "Argilla"),
        (SPANS, "answer_column_unclear", "Label Studio"),
        (ROWS_OF_HUB, "hub_rows_in_cells", None),
        (ROWS_LAID_FLAT, "hub_rows_in_cells", None),
        (LISTS_OF_NOBODY, "cells_hold_objects", None),
        ([{"participant": who, "Q1": [MOON]} for who in ALSO], "answer_column_unclear", ""),
    ],
)
def test_cells_that_do_not_say_who_answered_what_are_refused(rows, code, program, printed):
    with pytest.raises(InputError) as caught:
        read(*csv_of(rows, printed), refuses=True)
    [problem] = caught.value.problems
    assert (problem.code, problem.values.get("program")) == (code, program)


def test_a_list_that_a_spreadsheet_cut_is_refused_with_its_line():
    name, content = csv_of(ARGILLA_HUB)
    with pytest.raises(InputError) as caught:
        read(name, content.replace(f"{LAG}', 'user_id': 'ana', 'status': 'submitted'}}]", "The"))
    [problem] = caught.value.problems
    assert (problem.code, problem.line, problem.column) == ("object_cell_cut", 3, "answer")


@pytest.mark.parametrize("said", ["[sic]", "[the Moon] pulls", "{x}", "[1, 2", "['a', b]"])
def test_an_answer_in_brackets_stays_a_text(said):
    rows = [{"participant": who, "item": "1", "response": said} for who in ("ana", "ben")]
    _, _, records = read(*csv_of(rows))
    assert [one.text for one in records] == [said, said]


@pytest.fixture
def elsewhere(monkeypatch):
    """Let every file of objects be read in a process of its own, and in no other one."""
    for module in (table, own_rows):
        monkeypatch.setattr(module, "READ_HERE", 0)
    monkeypatch.setattr(table, "read_json_here", None)
    monkeypatch.setattr(table, "flatten_objects", None)
    monkeypatch.setattr(table, "flatten_document", None)
    monkeypatch.setattr(own_rows, "iterate_json_lines", None)


@pytest.mark.parametrize(
    ("file", "slug", "wording"),
    [
        (json_file("a.json", OWN), "own", ""),
        (json_file("a.json", ARGILLA), "argilla", CAUSE),
        (lines("a.jsonl", ARGILLA), "argilla", CAUSE),
        (csv_of(STUDIO), "label-studio", CAUSE),
    ],
)
def test_a_large_file_of_objects_is_read_the_same_in_a_process_of_its_own(
    elsewhere, file, slug, wording
):
    found, mapped, records = read(*file)
    assert found == slug
    assert {(one.worker, one.question): one.text for one in records} == BOTH
    assert next(iter(mapped.questions.values())).text == wording


@pytest.mark.medium
def test_a_process_tells_bad_lines_of_json_lines_with_their_numbers(elsewhere):
    name, content = lines("a.jsonl", HUB_ENTRIES)
    with pytest.raises(InputError) as caught:
        read(name, content + "{]\n")
    assert [(one.line, one.code) for one in caught.value.problems] == [(3, "line_invalid")]


def test_a_process_tells_the_lines_of_the_objects_of_our_own_list(elsewhere):
    content = json.dumps([*OWN, {"worker": "", "question": "1", "answer": "x"}], indent=1)
    with pytest.raises(InputError) as caught:
        read("a.json", content)
    assert [(one.line, one.code) for one in caught.value.problems] == [(17, "id_missing")]


def test_an_object_of_more_keys_than_a_table_has_columns_is_refused():
    with raises_problem("too_many_columns", n=5_000, most=4_096):
        read(*json_file("a.json", [dict.fromkeys(map(str, range(5_000)), 0)]))
