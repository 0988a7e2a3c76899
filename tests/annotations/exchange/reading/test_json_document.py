"""A file that is one JSON value: what it says, where it is wrong, and which commas it lacks."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotations.exchange import InputError
from annotations.exchange.reading.json_document import read_json
from annotations.exchange.reading.source import bytes_source
from tests.problems import check_problem, only_problem


def read(text, **more):
    return read_json(bytes_source("a.json", text.encode()), **more)


def problem(text):
    with pytest.raises(InputError) as caught:
        read(text)
    (found,) = caught.value.problems
    return found


TEXTS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]))
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS,
    lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner),
    max_leaves=20,
)


@given(VALUES, st.sampled_from([None, 1]))
def test_whatever_the_standard_library_writes_is_read_as_it_was(value, indent):
    assert read(json.dumps([value], indent=indent)).value == [value]
    assert read(json.dumps([value], ensure_ascii=False)).value == [value]


@given(VALUES, st.integers(0, 200), st.sampled_from(list('{}[]:,"\\x1.')))
def test_it_refuses_what_the_standard_library_refuses(value, at, letter):
    text = json.dumps([value])
    text = text[: at % len(text)] + letter + text[at % len(text) :]
    try:
        expected = json.loads(text)
    except ValueError:
        with pytest.raises(InputError):
            read(text)
        return
    try:
        found = read(text).value
    except InputError as error:
        refused = only_problem(error).code  # stricter in these two alone
    else:
        assert found == expected
        return
    assert refused in ("json_key_twice", "json_text_unwritable")


def test_objects_know_the_line_where_they_begin():
    found = read('{\n"a": [1,\n  {"b": 2}]\n}').value
    assert (found.line, found["a"][1].line) == (1, 3)


def test_a_missing_comma_is_told_with_both_places():
    found = problem('[\n{"a": 1}\n  {"b": 2}]')
    check_problem(found, "json_comma_missing", line=3, column=3, after_line=2, after_column=8)


def test_all_missing_commas_are_told_at_once():
    with pytest.raises(InputError) as caught:
        read("[1 2\n3]")
    assert [(one.line, one.column) for one in caught.value.problems] == [(1, 4), (2, 1)]


def test_repair_adds_the_commas_and_nothing_else():
    text = '{"a": 1\n "b": [true\n\nnull]}'
    document = read(text, repair=True)
    assert document.value == {"a": 1, "b": [True, None]}
    assert document.text == '{"a": 1,\n "b": [true,\n\nnull]}'
    assert json.loads(document.text) == document.value
    assert [(one.after_line, one.after_column) for one in document.repairs] == [(1, 7), (2, 11)]


@pytest.mark.parametrize("text", ["[1,]", '{"a": 1,}', "[1;2]", '{"a" 1}', "[1", '["a]', "{a: 1}"])
def test_repair_mends_commas_only(text):
    with pytest.raises(InputError):
        read(text, repair=True)


@pytest.mark.parametrize(
    ("text", "line", "column", "code", "values"),
    [
        ("[1,\n2,]", 2, 3, "json_value_missing", {"end": "]"}),
        ('{"a": 1,\n"a": 2}', 2, 1, "json_key_twice", {"key": "a"}),
        ('{"a"\n1}', 2, 1, "json_colon_missing", {"key": "a"}),
        ('{"a": "b\n"}', 1, 7, "json_text_open", {}),
        ('{"a": nul}', 1, 7, "json_expected", {"wanted": "a value", "found": "n"}),
        ('{"a": [1}', 1, 9, "json_expected", {"wanted": "a comma or ]", "found": "}"}),
        ('{"a": ', 1, 7, "json_ends", {"wanted": "a value"}),
        ('["\\x"]', 1, 3, "json_escape", {}),
        ('["\\ud800"]', 1, 2, "json_text_unwritable", {}),
        ("{} {}", 1, 4, "json_goes_on", {}),
        ("{1: 2}", 1, 2, "json_key_expected", {"found": "1"}),
        ("[NaN]", 1, 2, "json_expected", {"wanted": "a value", "found": "N"}),
        ("[01]", 1, 2, "json_expected", {"wanted": "a value", "found": "0"}),
        ("[" * 200, 1, 102, "json_too_deep", {}),
    ],
)
def test_the_first_mistake_is_told_with_line_and_column(text, line, column, code, values):
    check_problem(problem(text), code, line=line, column=column, **values)


def test_lines_may_end_as_on_any_machine():
    assert problem("[1\r\n2]").line == 2
    assert read("[1,\r2]").value == [1, 2]
