import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotations.exchange import read_answers
from annotations.exchange.ids import is_blank
from tests.annotations.exchange.files import (
    check_fault,
    fault,
    only_fault,
    texts,
    write,
    write_jsonl,
)
from tests.problems import check_problem, faults

GOOD = '{"worker": "w1", "question": "q1", "answer": "yes"}\n'


@pytest.mark.parametrize("name", ["a.jsonl", "a.ndjson", "A.JSONL"])
def test_one_object_a_line_is_read(tmp_path, name):
    assert texts(write(tmp_path, GOOD, name)) == [("w1", "q1", "yes")]


def test_blank_lines_are_skipped_and_counted_as_lines(tmp_path):
    path = write(tmp_path, "\n" + GOOD + "  \r\n" + GOOD.replace("w1", "w2"), "a.jsonl")
    assert [(r.row, r.line) for r in read_answers(path).records] == [(0, 2), (1, 4)]


def test_numbers_stay_as_typed_and_null_is_empty(tmp_path):
    line = '{"worker": 1.50, "question": 12345678901234567890, "answer": null}\n'
    assert texts(write(tmp_path, line, "a.jsonl")) == [("1.50", "12345678901234567890", "")]


@pytest.mark.parametrize(
    ("line", "code", "expected"),
    [
        (GOOD.replace('"w1"', "null"), "id_missing", {"column": "worker", "name": "worker"}),
        (GOOD.replace("}", ', "worker": "w2"}'), "line_key_twice", {"key": "worker"}),
        (GOOD.replace('"yes"', "NaN"), "line_no_value", {"value": "NaN"}),
        pytest.param("[" * 100_000 + "\n", "line_too_deep", {"column": None}, id="deep"),
        (GOOD.replace("}", ', "\\ud800": 1}'), "json_key_unwritable", {}),
    ],
)
def test_a_bad_line_is_refused_with_its_number(tmp_path, line, code, expected):
    check_fault(write(tmp_path, GOOD + line, "a.jsonl"), code, line=2, **expected)


def test_a_value_that_is_no_text_is_kept_aside_as_json(tmp_path):
    path = write_jsonl(
        tmp_path,
        {"worker": "w1", "question": "q1", "answer": "a", "x": [1, {"b": "ü"}], "y": None},
        {"z": True, "question": "q2", "worker": "w1", "answer": "a", "y": 2},
    )
    file = read_answers(path)
    assert file.kept_aside == ("x", "y", "z")
    assert [r.extra for r in file.records] == [('["1", {"b": "ü"}]', ""), ("", "2", "true")]
    assert file.get_extra_cells(file.records[0])["z"] == ""


def test_what_is_not_json_is_named_with_line_and_column_and_the_rest_is_checked(tmp_path):
    lines = ["{nonsense", GOOD.strip(), "[1]", '"text"', "[]", "0", "null"]
    error = fault(write(tmp_path, GOOD + "\n".join(lines) + "\n", "a.jsonl"))
    assert faults(error) == [
        (2, 2, "line_invalid"),
        *((line, None, "line_no_object") for line in (4, 5, 6, 7, 8)),
    ]


def test_an_object_without_keys_is_a_line_without_columns_and_no_blank_line(tmp_path):
    error = fault(write(tmp_path, GOOD + "{}\n", "a.jsonl"))
    assert faults(error) == [(2, None, "column_missing")] * 3
    assert [p.values["name"] for p in error.problems] == ["worker", "question", "answer"]


def test_a_key_missing_in_the_first_line_ends_the_reading(tmp_path):
    path = write(tmp_path, '{"worker": "w1", "question": "q1"}\n' * 3, "a.jsonl")
    check_fault(path, "column_missing", line=1, name="answer", found="worker, question")


@pytest.mark.parametrize(("escape", "what"), [("\\ud800", "\\ud800"), ("\\u0000", "NUL")])
@pytest.mark.parametrize("column", ["worker", "answer", "note"])
def test_what_is_no_text_is_refused_in_any_column(tmp_path, escape, what, column):
    record = {"worker": "w1", "question": "q1", "answer": "a", "note": "n", column: "ESCAPE"}
    path = write(tmp_path, json.dumps(record).replace("ESCAPE", escape) + "\n", "a.jsonl")
    problem = only_fault(path)
    check_problem(problem, "cell_unwritable", line=1, column=column)
    assert what in problem.values["what"]


@pytest.mark.parametrize("cell", [r'["a", {"b": "\ud800"}]', r'{"\udfff": 1}', r'["\u0000"]'])
def test_half_a_pair_within_a_list_or_an_object_is_refused_too(tmp_path, cell):
    path = write(tmp_path, GOOD.rstrip()[:-1] + f', "more": {cell}}}\n', "a.jsonl")
    check_problem(only_fault(path), "cell_unwritable", line=1, column="more")


def test_a_whole_surrogate_pair_is_a_character(tmp_path):
    path = write(tmp_path, GOOD.replace("yes", "\\ud83d\\ude00"), "a.jsonl")
    assert texts(path) == [("w1", "q1", "😀")]


def test_a_unicode_line_separator_is_no_line_end(tmp_path):
    path = write(tmp_path, GOOD.replace("yes", "a\u2028b\x85c"), "a.jsonl")
    assert texts(path) == [("w1", "q1", "a\u2028b\x85c")]


@settings(deadline=None)
@given(
    answers=st.lists(
        st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])), min_size=1
    ),
    escaped=st.booleans(),
)
def test_any_text_written_as_json_comes_back(tmp_path_factory, answers, escaped):
    path = tmp_path_factory.mktemp("jsonl") / "answers.jsonl"
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for i, text in enumerate(answers):
            record = {"worker": f"w{i}", "question": "q", "answer": text}
            file.write(json.dumps(record, ensure_ascii=escaped) + "\n")
    assert [t for _, _, t in texts(path)] == ["" if is_blank(t) else t for t in answers]


def test_a_new_key_in_every_line_is_refused_before_it_grows(tmp_path):
    lines = [
        json.dumps({"worker": "w", "question": f"q{n}", "answer": "a", f"k{n}": 1})
        for n in range(1_001)
    ]
    path = write(tmp_path, "\n".join(lines[:-1]).encode(), "few.jsonl")
    assert len(read_answers(path).kept_aside) == 1_000
    path = write(tmp_path, "\n".join(lines).encode(), "many.jsonl")
    check_fault(path, "too_many_keys", line=1001, most=1_000)


def test_the_key_that_stands_twice_is_named_among_very_many(tmp_path):
    keys = ",".join(f'"k{n}":1' for n in range(200_000))
    path = write(tmp_path, ("{" + keys + ',"k199999":2}').encode(), "a.jsonl")
    check_fault(path, "line_key_twice", key="k199999")
