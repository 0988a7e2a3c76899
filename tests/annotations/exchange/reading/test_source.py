"""Whatever the bytes come out of, readers read the same."""

import hashlib
import io

import pytest

from annotations.exchange import InputError, read_answers
from annotations.exchange.reading.source import (
    make_bytes_source,
    make_rows_source,
    make_source,
    make_stored_source,
)
from tests.problems import raises_problem

TABLE = "worker,question,answer\nada,q1,naïve\nben,q1,\n"


def workbook(path):
    import openpyxl

    book = openpyxl.Workbook()
    for row in (("worker", "question", "answer"), ("ada", "q1", "naïve"), ("ben", "q1", None)):
        book.active.append(row)
    book.save(path)
    return path.read_bytes()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", TABLE.encode()),
        ("a.csv", TABLE.encode("utf-16")),
        ("a.csv", TABLE.encode("cp1252")),
        ("A.TSV", TABLE.replace(",", "\t").encode()),
    ],
)
def test_bytes_in_memory_are_read_as_the_file_is(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content)
    of_path, of_bytes = read_answers(path), read_answers(make_bytes_source(name, content))
    assert of_bytes == of_path
    assert of_bytes.sha256 == hashlib.sha256(content).hexdigest()
    assert [record.text for record in of_bytes.records] == ["naïve", ""]


def test_a_workbook_out_of_a_storage_is_read_as_the_file_is(tmp_path):
    content = workbook(tmp_path / "a.xlsx")
    stored = make_stored_source("a.xlsx", lambda: io.BytesIO(content), len(content))
    assert read_answers(stored) == read_answers(tmp_path / "a.xlsx")


def test_rows_keep_their_line_also_behind_one_that_is_none():
    rows = [{"worker": "ada", "question": "q1", "answer": "x"}, None, {"worker": "ben"}]
    with pytest.raises(InputError) as caught:
        read_answers(make_rows_source("rows", rows))
    assert {problem.line for problem in caught.value.problems} == {3}


def test_what_a_storage_has_lost_is_told_by_the_name_that_people_know():
    def lost():
        raise FileNotFoundError(2, "No such file or directory")

    with raises_problem("unreadable", place="answers.csv", cause="No such file or directory"):
        read_answers(make_stored_source("answers.csv", lost, 10))


def test_an_empty_file_is_empty_wherever_it_lies():
    with raises_problem("file_empty"):
        read_answers(make_bytes_source("a.csv", b""))


def test_a_source_stays_itself():
    source = make_bytes_source("a.csv", b"x")
    assert make_source(source) is source
