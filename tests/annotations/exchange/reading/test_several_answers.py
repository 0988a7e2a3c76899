"""Questions with several right answers, and replies to them: each bad row by its code."""

import json

import pytest

from annotations.exchange import InputError
from annotations.exchange.reading.several_answers import (
    read_several_answers,
    read_several_answers_replies,
)
from annotations.exchange.reading.source import bytes_source
from tests.problems import faults, raises_problem

LONG = "😀" * 25_000 + "x"  # one byte too many


def questions(*entries):
    return read_several_answers(bytes_source("q.json", json.dumps(entries, indent=0).encode()))


def replies(*entries):
    lines = "".join(json.dumps(entry) + "\n" for entry in entries)
    return read_several_answers_replies(bytes_source("r.jsonl", lines.encode()))


@pytest.mark.parametrize(
    ("entry", "column", "code"),
    [
        ("text", None, "question_no_object"),
        ({"id": True, "question": "q", "answer": ["a"]}, "id", "id_no_text"),
        ({"question": " ", "answer": ["a"]}, "question", "question_text_missing"),
        ({"question": 7, "answer": ["a"]}, "question", "question_text_missing"),
        ({"question": LONG, "answer": ["a"]}, "question", "question_too_long"),
        ({"question": "q"}, "answer", "right_answers_missing"),
        ({"question": "q", "answer": [[]]}, "answer", "right_answer_unspelled"),
        ({"question": "q", "answer": ["a", " "]}, "answer", "right_answer_empty"),
        ({"question": "q", "answer": ["a", {}]}, "answer", "right_answer_unusable"),
        ({"question": "q", "answer": True}, "answer", "right_answer_unusable"),
        ({"question": "q", "answer": "a", "kind": []}, "kind", "value_no_text"),
    ],
)
def test_a_question_that_will_not_do_is_refused(entry, column, code):
    with raises_problem(code, file="q.json", column=column):
        questions({"question": "sound", "answer": ["a"]}, entry)


def test_an_id_that_stands_there_twice_is_refused_with_both_lines():
    one = {"id": "a", "question": "q", "answer": []}
    with raises_problem("question_id_twice", line=7, column="id", id="a", first_line=2):
        questions(one, one)


@pytest.mark.parametrize("content", ["{}", "[]", "3.5"])
def test_what_is_no_list_of_questions_is_refused(content):
    with raises_problem("questions_not_listed", line=None):
        read_several_answers(bytes_source("q.json", content.encode()))


@pytest.mark.parametrize(
    ("changes", "column", "code"),
    [
        ({"system": []}, "system", "value_no_text"),
        ({"item": None}, "item", "item_missing"),
        ({"item": ""}, "item", "item_missing"),
        ({"sample": -1}, "sample", "sample_no_number"),
        ({"sample": "two"}, "sample", "sample_no_number"),
        ({"reply": 7}, "reply", "reply_no_text"),
        ({"reply": LONG}, "reply", "reply_too_long"),
        ({"answers": "a"}, "answers", "answers_no_list"),
        ({"answers": ["a", ""]}, "answers", "answer_empty"),
        ({"answers": ["a", None]}, "answers", "answer_no_text"),
        ({"first_token": {}}, "first_token", "first_tokens_unlisted"),
        ({"first_token": [{"answer": "a"}]}, "first_token", "first_token_unusable"),
        ({"confidence": [1]}, "confidence", "confidence_unusable"),
        ({"logprobs": 7}, "logprobs", "logprobs_no_numbers"),
        ({"status": "fine"}, "status", "status_unknown"),
        ({"status": "empty"}, "status", "status_empty_replied"),
    ],
)
def test_a_reply_that_will_not_do_is_refused(changes, column, code):
    with raises_problem(code, file="r.jsonl", line=2, column=column):
        replies({"item": "1", "reply": "sound"}, {"item": "2", "reply": "a", **changes})


def test_reading_goes_on_behind_a_bad_row():
    sound, bad = {"reply": "a"}, {"item": "", "reply": "a"}
    with pytest.raises(InputError) as caught:
        replies(bad, {"item": "1", **sound}, bad, {"item": "2", **sound}, bad)
    assert faults(caught.value) == [(line, "item", "item_missing") for line in (1, 3, 5)]


def test_two_replies_with_one_sample_are_refused_unless_they_say_the_same():
    one = {"item": "1", "system": "small", "reply": "a"}
    found = replies(one, {**one, "reply": " a "})
    assert (len(found.replies), found.n_rows, found.n_repeated) == (1, 2, 1)
    expected = {"line": 2, "system": "small", "item": "1", "first_line": 1, "sample": 0}
    with raises_problem("sample_differs", **expected):
        replies(one, {**one, "reply": "b"})
    assert len(replies(one, {**one, "reply": "b", "sample": 1}).replies) == 2


@pytest.mark.parametrize(
    ("given", "confidence"), [("", None), (None, None), ("90%", "90%"), (0.5, 0.5), (0, 0)]
)
def test_an_empty_confidence_is_none(given, confidence):
    (reply,) = replies({"item": "1", "reply": "a", "confidence": given}).replies
    assert reply.confidence == confidence


def test_replies_in_a_table_are_refused():
    with raises_problem("replies_wrong_format", line=None):
        read_several_answers_replies(bytes_source("r.csv", b"item,reply\n1,a\n"))
