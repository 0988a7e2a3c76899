"""What is written is read again, by our own readers and by others'."""

import csv
import io
import json
import zipfile

import openpyxl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotations.exchange.header import Column
from annotations.exchange.problems import Problems
from annotations.exchange.reading.tables import open_table
from annotations.exchange.writing.formats import FORMATS, find_format, write_table
from tests.annotations.exchange.nasty import texts
from tests.problems import raises_problem

COLUMNS = (Column("one", ("one",)), Column("two", ("two",)))


def read(path):
    problems = Problems(path.name)
    table = open_table(path, COLUMNS, problems)
    rows = [cells for _, cells, _ in table.rows]
    problems.raise_if_any()
    assert table.kept_aside == []
    return rows


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("tables")


@pytest.mark.medium
@pytest.mark.parametrize("kind", FORMATS)
@settings(max_examples=60)
@given(rows=st.lists(st.tuples(texts, texts), min_size=1, max_size=4))
def test_every_text_comes_back_exactly(folder, kind, rows):
    rows = [("id" + one, two) for one, two in rows]  # no row is empty: those are skipped
    path = folder / f"table.{kind}"
    size = write_table(path, kind, ("one", "two"), rows)
    assert size == path.stat().st_size
    assert read(path) == rows


def test_a_foreign_file_keeps_its_apostrophes(tmp_path):
    path = tmp_path / "foreign.csv"
    path.write_text("one,two\n'tis,'=1\n", encoding="utf-8")
    assert read(path) == [("'tis", "'=1")]


def test_json_lines_are_raw_whatever_a_key_says(tmp_path):
    path = tmp_path / "table.jsonl"
    row = {"one": "'a", "two": "=1", "crowdgrade:defused": None}
    path.write_text(json.dumps(row) + "\n", encoding="utf-8")
    assert read(path) == [("'a", "=1")]


def test_a_spreadsheet_sees_no_formula_in_csv_and_xlsx(tmp_path):
    rows = [("=1+1", -2.5), ("+1", None)]
    write_table(tmp_path / "t.csv", "csv", ("one", "two"), rows)
    text = (tmp_path / "t.csv").read_bytes().decode("utf-8-sig")
    assert list(csv.reader(io.StringIO(text, newline=""))) == [
        ["one", "two", "crowdgrade:defused"],
        ["'=1+1", "-2.5", ""],
        ["'+1", "", ""],
    ]
    write_table(tmp_path / "t.xlsx", "xlsx", ("one", "two"), rows)
    sheet = openpyxl.load_workbook(tmp_path / "t.xlsx").active
    cells = [[cell.value for cell in row] for row in sheet.iter_rows(max_col=2)]
    assert cells == [["one", "two"], ["'=1+1", -2.5], ["'+1", None]]
    assert {cell.data_type for row in sheet.iter_rows() for cell in row} <= {"s", "n"}


def test_equal_tables_are_equal_workbooks(tmp_path):
    for name in ("a.xlsx", "b.xlsx"):
        write_table(tmp_path / name, "xlsx", ("one",), [("x",)])
    assert (tmp_path / "a.xlsx").read_bytes() == (tmp_path / "b.xlsx").read_bytes()
    assert zipfile.ZipFile(tmp_path / "a.xlsx").testzip() is None


@pytest.mark.parametrize("kind", FORMATS)
def test_a_nul_character_is_refused_with_its_place_and_leaves_no_file(tmp_path, kind):
    with raises_problem("nul_in_export", name="two", place="one w1, two a\0b"):
        write_table(tmp_path / f"t.{kind}", kind, ("one", "two"), [("w1", "a\0b")])
    assert list(tmp_path.iterdir()) == []


def test_a_text_too_long_for_a_cell_is_refused_where_it_would_be_cut(tmp_path):
    rows = [("w1", "x" * 32_768)]
    with raises_problem("sheet_cell_long", size=32_768):
        write_table(tmp_path / "t.xlsx", "xlsx", ("one", "two"), rows)
    write_table(tmp_path / "t.csv", "csv", ("one", "two"), rows)
    assert read(tmp_path / "t.csv") == rows
    with raises_problem("export_cell_long"):
        write_table(tmp_path / "u.csv", "csv", ("one", "two"), [("w1", "x" * 131_073)])


def test_the_ending_decides_and_a_name_given_wins(tmp_path):
    assert find_format(tmp_path / "a.XLSX") == "xlsx"
    assert find_format(tmp_path / "a.ndjson") == "jsonl"
    assert find_format(tmp_path / "a.txt", "tsv") == "tsv"
    with raises_problem("ending_not_writable", ending=".txt"):
        find_format(tmp_path / "a.txt")
    with raises_problem("ending_not_writable", ending="(none)"):
        find_format(tmp_path / "a")
