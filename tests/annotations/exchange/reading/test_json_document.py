"""A file that is one JSON value: what it says, where it is wrong, and which commas it lacks."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotations.exchange import InputError
from annotations.exchange.reading import bounded_process, json_document, json_outline
from annotations.exchange.reading.json_document import read_json
from annotations.exchange.reading.source import make_bytes_source
from tests.problems import check_problem, only_problem


def read(text, **more):
    return read_json(make_bytes_source("a.json", text.encode()), **more)


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


@pytest.mark.medium
@given(VALUES, st.sampled_from([None, 1]))
def test_whatever_the_standard_library_writes_is_read_as_it_was(value, indent):
    assert read(json.dumps([value], indent=indent)).value == [value]
    assert read(json.dumps([value], ensure_ascii=False)).value == [value]


@pytest.mark.medium
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


@pytest.fixture
def without_tokens(monkeypatch):
    """Let nothing be read token by token."""
    monkeypatch.setattr(json_document, "MOST_TOKENS", 0)


def test_a_sound_file_is_not_read_token_by_token(without_tokens):
    found = read('[{"a": "{[,\\"\\n"}, 1.5,\n[{"b": {}},\n {"c": -0}]]')
    assert found.value == [{"a": '{[,"\n'}, 1.5, [{"b": {}}, {"c": 0}]]
    first, (second, third) = found.value[0], found.value[2]
    assert (first.line, second.line, second["b"].line, third.line) == (1, 2, 2, 3)


def test_more_values_than_are_read_are_refused_before_any_is_made(without_tokens, monkeypatch):
    monkeypatch.setattr(json_document, "MOST_VALUES", 6)
    assert read('[1, ",,,,,", [2, 3]]').value == [1, ",,,,,", [2, 3]]
    monkeypatch.setattr(json, "loads", None)
    check_problem(problem("[1, 2, [3, 4, 5]]"), "json_too_many_values", n=7, most=6)


@pytest.mark.parametrize(
    ("text", "code", "line", "column"),
    [
        ("[1,\n2 3]", "object_line_invalid", 2, 3),
        ('[{},\n{"a": 1,\n"a": 2}]', "json_key_twice", 2, None),
        ('["\\ud83d\\ude00",\n"\\ud800"]', "json_text_unwritable", 2, None),
        ('["\\ud83d\\ude00",\n"\\\\\\u0000"]', "json_text_unwritable", 2, None),
        ("[\n" * 102 + "1" + "]" * 102, "json_too_deep", 101, None),
        ("[1,\nNaN]", "object_line_invalid", None, None),
        ("[" + "1" * 5_000 + "]", "object_line_invalid", None, None),
    ],
)
def test_a_mistake_beyond_what_is_read_token_by_token_has_its_line(
    without_tokens, text, code, line, column
):
    found = problem(text)
    assert (found.code, found.line, found.column) == (code, line, column)


def test_an_escaped_backslash_before_a_u_is_no_escape_of_half_a_pair(without_tokens):
    assert read(r'["\\ud800", "\\\\u0000"]').value == [r"\ud800", r"\\u0000"]


def test_a_text_that_is_not_closed_is_looked_at_once():
    # Each of its quotes would be looked at to the end of the file otherwise.
    assert len(json_outline._STRING.findall('"' + '\\"' * 1_000)) == 1


def test_a_number_of_very_many_digits_is_refused_with_its_place():
    check_problem(problem("[1,\n " + "1" * 5_000 + "]"), "object_too_deep", line=2, column=2)


def test_commas_are_added_beyond_what_is_read_token_by_token(without_tokens):
    assert read("[1 2]", repair=True).value == [1, 2]


@pytest.fixture
def elsewhere(monkeypatch):
    """Let every file be checked in a process of its own, and nothing token by token in this one."""
    monkeypatch.setattr(json_document, "READ_HERE", 0)
    monkeypatch.setattr(json_document, "_JsonParser", None)
    monkeypatch.setattr(json_document, "build_outline", None)


def test_a_large_file_that_a_process_checked_has_the_same_values_and_lines(elsewhere):
    text = '\ufeff[{"a": "{[,\\"\\n"}, 1.5,\r\n[{"b": {}},\n {"c": "\\u00e4"}]]'
    found = read(text)
    assert found.value == [{"a": '{[,"\n'}, 1.5, [{"b": {}}, {"c": "\xe4"}]]
    first, (second, third) = found.value[0], found.value[2]
    assert (first.line, second.line, second["b"].line, third.line) == (1, 2, 2, 3)


@pytest.mark.parametrize(
    ("text", "code", "line", "column"),
    [
        ("[1,\n2 3]", "json_comma_missing", 2, 3),
        ('[{},\n{"a": 1,\n"a": 2}]', "json_key_twice", 3, 1),
        ("[" * 200, "json_too_deep", 1, None),
    ],
)
def test_a_process_finds_the_same_mistakes_with_their_places(elsewhere, text, code, line, column):
    found = problem(text)
    assert (found.code, found.line) == (code, line)
    assert column is None or found.column == column


def test_a_process_refuses_more_values_than_are_read(elsewhere, monkeypatch):
    monkeypatch.setattr(json_document, "MOST_VALUES", 6)
    check_problem(problem("[1, 2, [3, 4, 5]]"), "json_too_many_values", n=7, most=6)


def test_a_file_that_takes_more_than_a_process_may_is_refused(monkeypatch):
    monkeypatch.setattr(json_document, "READ_HERE", 0)
    monkeypatch.setattr(json_document, "Bounds", lambda *_: bounded_process.Bounds(20, 1 << 20))
    assert problem(f'["{"a" * 3_000_000}"]').code == "json_too_large"
