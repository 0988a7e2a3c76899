"""Questions with several right answers, and replies to them: each bad row by its code."""

import json

import pytest

from annotations.exchange import InputError
from annotations.exchange.reading.several_answers import (
    read_several_answers,
    read_several_answers_replies,
)
from annotations.exchange.reading.source import make_bytes_source
from tests.problems import faults, raises_problem


def questions(*entries):
    return read_several_answers(make_bytes_source("q.json", json.dumps(entries, indent=0).encode()))


def replies(*entries):
    lines = "".join(json.dumps(entry) + "\n" for entry in entries)
    return read_several_answers_replies(make_bytes_source("r.jsonl", lines.encode()))


def test_what_is_no_list_of_questions_is_refused():
    for content in (b"{}", b"[]", b"3.5"):
        with raises_problem("questions_not_listed", line=None):
            read_several_answers(make_bytes_source("q.json", content))
    with raises_problem("question_no_object", column=None, place=1):
        questions({"question": "q", "answer": []}, "text")


def test_a_line_that_is_no_object_is_refused():
    lines = ["[1, 2]", "{'item': 0}", '{"item": 0, "item": 1}', "[" * 100_000, '{"a": "\\ud800"}']
    with pytest.raises(InputError) as caught:
        read_several_answers_replies(make_bytes_source("r.jsonl", "\n".join(lines).encode()))
    assert faults(caught.value) == [
        (1, None, "object_missing"),
        (2, 2, "object_line_invalid"),
        (3, None, "object_key_twice"),
        (4, None, "object_too_deep"),
        (5, None, "object_unwritable"),
    ]
    assert caught.value.problems[2].values == {"key": "item"}
    with raises_problem("no_rows_complete", line=None):
        read_several_answers_replies(make_bytes_source("r.jsonl", b" \n"))


def test_two_replies_with_one_sample_are_refused_unless_they_say_the_same():
    one = {"item": "1", "system": "small", "reply": "a"}
    found = replies(one, {**one, "reply": " a "})
    assert (len(found.replies), found.n_rows, found.n_repeated) == (1, 2, 1)
    expected = {"line": 2, "system": "small", "item": "1", "first_line": 1, "sample": 0}
    with raises_problem("sample_differs", **expected):
        replies(one, {**one, "reply": "b"})
    assert len(replies(one, {**one, "reply": "b", "sample": 1}).replies) == 2


def test_an_empty_confidence_is_none():
    given = {"a": "", "b": None, "c": "90%", "d": 0.5, "e": 0}
    found = replies(*({"item": name, "reply": "a", "confidence": g} for name, g in given.items()))
    assert [one.confidence for one in found.replies] == [None, None, "90%", 0.5, 0]
