"""Where the table of a file stands: sheets, titles above the header, and people as columns."""

import io

import openpyxl
import pytest

from annotations.exchange import InputError
from annotations.exchange.presets import (
    TableChoice,
    locate_table,
    open_answer_rows,
    propose_mapping,
    read_head,
    recognise_preset,
    refuse_incomplete_mapping,
)
from annotations.exchange.presets.stray_rows import TOTALS
from annotations.exchange.reading.answers import read_answers
from annotations.exchange.reading.source import make_bytes_source
from tests.problems import raises_problem

ASKED = ("Why do tides rise?", "What is a neap tide?", "Why is the sea salty?")
PEOPLE = [f"5f10000000000000000000{n}0" for n in range(10, 14)]
SAID = [
    (f"The moon pulls at it {n}", f"A small tide at half moon {n}", f"Rivers wash it in {n}")
    for n in range(4)
]
TABLE = [
    ["Participant ID", *ASKED],
    *([who, *said] for who, said in zip(PEOPLE, SAID, strict=True)),
]
TITLE = [["Tides, wave 1"], ["Exported by Dana on 4 March 2026"], []]
NOTES = [["Sheet", "What it holds"], ["Answers", "What people wrote"], ["Notes", "This page"]]
CODES = [["Variable", "Label"], ["q1", ASKED[0]], ["q2", ASKED[1]]]
LIST = [["Participant ID", "Age", "Country"], *([who, 30, "Chile"] for who in PEOPLE)]


def workbook(**sheets):
    book = openpyxl.Workbook()
    book.remove(book.active)
    for title, rows in sheets.items():
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
    content = io.BytesIO()
    book.save(content)
    return make_bytes_source("study.xlsx", content.getvalue())


def text_file(rows, sign=","):
    lines = (sign.join(f'"{cell}"' if sign in cell else cell for cell in row) for row in rows)
    return make_bytes_source("study.csv", "\n".join(lines).encode())


def read(source, chosen=None):
    """Return where the table was found, its mapping, and the answers as triples."""
    arranged = locate_table(source, chosen)
    head = read_head(arranged.source)
    preset = recognise_preset(head)
    mapping = propose_mapping(preset, head, arranged.source)
    refuse_incomplete_mapping(preset, mapping, head)
    rows = open_answer_rows(arranged.source, preset, mapping)
    found = {(one.worker, one.question, one.text) for one, _ in rows}
    rows.raise_problems()
    return (arranged.sheet, arranged.header_row), found, rows


RIGHT = {
    (who, name, text)
    for who, said in zip(PEOPLE, SAID, strict=True)
    for name, text in zip(ASKED, said, strict=True)
}
FILES = {
    "one sheet": (workbook(Answers=TABLE), ("Answers", 0)),
    "a title above": (workbook(Answers=[*TITLE, *TABLE]), ("Answers", 4)),
    "notes first": (workbook(Notes=NOTES, Answers=TABLE), ("Answers", 0)),
    "codes, people, then answers": (
        workbook(Codes=CODES, People=LIST, Data=[*TITLE, *TABLE]),
        ("Data", 4),
    ),
    "answers first": (workbook(Answers=TABLE, Notes=NOTES), ("Answers", 0)),
    "an empty sheet first": (workbook(Empty=[], Answers=TABLE), ("Answers", 0)),
    "groups above the questions": (
        workbook(Answers=[["Person", "Questions"], *TABLE]),
        ("Answers", 2),
    ),
    "CSV": (text_file(TABLE), ("", 0)),
    "CSV with a title": (text_file([*TITLE, *TABLE]), ("", 4)),
    "CSV with a title and semicolons": (text_file([["Tides, wave 1"], *TABLE], ";"), ("", 2)),
    "CSV of a sheet with a title": (
        text_file([["Tides", "", "", ""], ["", "", "", ""], *TABLE]),
        ("", 3),
    ),
}


@pytest.mark.parametrize(("source", "place"), FILES.values(), ids=FILES)
def test_the_table_is_found_on_its_sheet_and_under_its_titles(source, place):
    found_at, found, _ = read(source)
    assert found_at == place
    assert found == RIGHT


def test_sheet_and_header_row_are_chosen_by_name_or_number():
    source = workbook(Old=[*TITLE, *TABLE[:3]], New=TABLE)
    assert read(source, TableChoice("Old"))[0] == ("Old", 4)
    assert read(source, TableChoice("1"))[0] == ("Old", 4)
    place, found, _ = read(source, TableChoice("old", 4))
    assert place == ("Old", 4)
    # The header and two people of the table stand on that sheet.
    assert {who for who, _, _ in found} == set(PEOPLE[:2])
    told = locate_table(source, TableChoice("2")).describe_location()
    assert told.endswith("New (of Old, New)")
    assert locate_table(workbook(Answers=TABLE)).describe_location() == ""


@pytest.mark.parametrize(
    ("source", "chosen", "code"),
    [
        (workbook(A=TABLE, B=NOTES), TableChoice("C"), "sheet_unknown"),
        (workbook(A=TABLE, B=NOTES), TableChoice("3"), "sheet_unknown"),
        (text_file(TABLE), TableChoice("A"), "sheet_of_no_workbook"),
        (make_bytes_source("a.jsonl", b'{"a": 1}\n'), TableChoice("", 2), "header_of_objects"),
    ],
)
def test_a_place_that_the_file_does_not_have_is_refused(source, chosen, code):
    with raises_problem(code):
        locate_table(source, chosen)


def test_a_header_row_behind_the_end_leaves_an_empty_file():
    for source in (workbook(A=TABLE), text_file(TABLE)):
        with raises_problem("file_empty"):
            read(source, TableChoice("", 40))


def turned(corner):
    columns = zip(*TABLE, strict=True)
    return [[corner, *PEOPLE], *(list(column) for column in list(columns)[1:])]


def test_a_row_of_totals_is_nobody():
    _, found, rows = read(workbook(Answers=[*TABLE, ["Total", None, None, 4]]))
    assert found == RIGHT
    assert dict(rows.skipped) == {TOTALS: 1}


NAMED = [["", "Ann", "Bob"], *([name, SAID[0][n], SAID[1][n]] for n, name in enumerate(ASKED))]
TURNED = {
    "ids": turned("Participant ID"),
    "another corner": turned("Question"),
    "no corner": turned(""),
    "names": NAMED,
    "numbers beside items": [
        ["item", "P01", "P02"],
        *([f"q{n}", SAID[0][n], SAID[1][n]] for n in range(3)),
    ],
}


@pytest.mark.parametrize("rows", TURNED.values(), ids=TURNED)
@pytest.mark.parametrize("made", [text_file, lambda rows: workbook(Answers=rows)])
def test_people_as_columns_are_told_and_read_when_chosen(rows, made):
    source = made(rows)
    with raises_problem("people_are_columns"):
        read(source)
    _, found, _ = read(source, TableChoice(is_turned=True))
    people = rows[0][1:]
    assert found == {(who, row[0], row[at]) for row in rows[1:] for at, who in enumerate(people, 1)}


def test_a_list_in_place_of_an_answer_is_refused_with_its_line():
    lines = [f'{{"worker id": "{who}", "item": "1", "answer": "The moon"}}' for who in PEOPLE]
    lines[2] = lines[2].replace('"The moon"', '["The moon", "the sun"]')
    with pytest.raises(InputError) as caught:
        read(make_bytes_source("file.jsonl", "\n".join(lines).encode()))
    assert [(one.line, one.column, one.code) for one in caught.value.problems] == [
        (3, "answer", "answer_is_object")
    ]


def edit(source, change):
    """Return a workbook after a change to it."""
    book = openpyxl.load_workbook(io.BytesIO(source.opener().read()))
    change(book)
    content = io.BytesIO()
    book.save(content)
    return make_bytes_source("study.xlsx", content.getvalue())


MERGED = [
    ["Participant", "Question", "Answer"],
    ["ana", "tides", "The moon pulls on the water"],
    ["", "bread", "Yeast makes gas in the dough"],
    ["ben", "tides", "It is the wind that pushes"],
    ["", "bread", "The heat lifts it slowly up"],
]


def test_a_worker_merged_over_several_rows_is_the_worker_of_each():
    def merge(book):
        for first in (2, 4):
            book.active.merge_cells(f"A{first}:A{first + 1}")
        # Areas of one row and of empty cells fill nothing.
        book.active.merge_cells("D1:E1")
        book.active.merge_cells("D2:D5")

    source = edit(workbook(Answers=MERGED), merge)
    _, found, _ = read(source)
    asked = [tuple(row[1:]) for row in MERGED[1:]]
    assert found == {(who, *asked[at]) for at, who in enumerate(("ana", "ana", "ben", "ben"))}
    # Not merged, the id is missing where the cell is empty.
    with pytest.raises(InputError):
        read(workbook(Answers=MERGED))


def test_a_hidden_sheet_is_read_only_if_it_is_chosen():
    pilot = [
        ["worker", "question", "answer"],
        *(["pia", f"q{n}", "A very long answer of the pilot study"] for n in range(9)),
    ]
    shown = [["worker", "question", "answer"], ["ana", "tides", "The moon pulls on the water"]]

    def hide(book):
        book["Pilot"].sheet_state = "hidden"
        book.active = 1

    source = edit(workbook(Pilot=pilot, Results=shown), hide)
    _, found, _ = read(source)
    assert found == {("ana", "tides", "The moon pulls on the water")}
    _, found, _ = read(source, TableChoice("Pilot"))
    assert {who for who, _, _ in found} == {"pia"}
    # Without a chosen sheet, the first visible one is read.
    assert [record.worker for record in read_answers(source).records] == ["ana"]
