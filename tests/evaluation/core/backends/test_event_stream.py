"""Bodies of answers: JSON, JSON with marks of a stream, streams of chunks."""

import json

import pytest

from evaluation.core.backends.event_stream import CutStreamError, parse_body

WHOLE = {"choices": [{"message": {"content": "yes"}}]}


def chunk(delta=None, reason=None, **more):
    choices = [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": reason}]
    return f"data: {json.dumps({'id': 'c', 'choices': choices, **more})}\n\n"


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(WHOLE),
        f"\n {json.dumps(WHOLE)}\n",
        f"{json.dumps(WHOLE)}\ndata: [DONE]\n\n",
        f"{json.dumps(WHOLE)}\n\ndata:[DONE]",
        f": processing\n\n: processing\n\n{json.dumps(WHOLE)}",
        json.dumps(WHOLE, indent=1) + "\n",
    ],
)
def test_json_is_read_with_marks_of_a_stream_around_it(text):
    assert parse_body(text) == WHOLE


@pytest.mark.parametrize("ending", ["\n\n", "\r\n\r\n", "\n"])
def test_chunks_are_joined_to_one_completion(ending):
    events = [
        chunk({"role": "assistant", "content": ""}),
        chunk({"reasoning_content": "h"}),
        chunk({"reasoning_content": "m"}),
        chunk({"content": "The "}),
        chunk({"content": "Moon."}, "stop"),
        chunk(usage={"completion_tokens": 3}),
        "data: [DONE]\n\n",
    ]
    found = parse_body("".join(one.replace("\n\n", ending) for one in events))
    choice = found["choices"][0]
    assert choice["message"]["content"] == "The Moon."
    assert choice["message"]["reasoning_content"] == "hm"
    assert (choice["finish_reason"], found["usage"]) == ("stop", {"completion_tokens": 3})


def test_probabilities_of_chunks_follow_each_other():
    events = [
        chunk({"content": one}).replace(
            '"finish_reason"', f'"logprobs": {{"content": [{{"token": "{one}"}}]}}, "finish_reason"'
        )
        for one in ("a", "b")
    ]
    choice = parse_body("".join(events) + "data: [DONE]\n\n")["choices"][0]
    assert [one["token"] for one in choice["logprobs"]["content"]] == ["a", "b"]


def test_events_have_names_comments_and_chunks_of_other_choices():
    other = {"index": 1, "delta": {"content": "no"}}
    text = (
        ": hello\n\nevent: message\n"
        + chunk({"content": "yes"}, "stop")
        + f"data: {json.dumps({'choices': [other]})}\n\ndata: [DONE]\n\n"
    )
    assert parse_body(text)["choices"][0]["message"]["content"] == "yes"


def test_an_error_in_a_stream_is_in_the_answer():
    text = chunk({"content": "The "}) + 'data: {"error": {"message": "gone"}}\n\n'
    assert parse_body(text)["error"] == {"message": "gone"}


def test_a_stream_that_ends_in_the_middle_is_no_answer():
    with pytest.raises(CutStreamError):
        parse_body(chunk({"content": "The "}))


@pytest.mark.parametrize(
    "text", ["", "<html>", "data: [DONE]\n\n", "data: {\n\n", "data: 7\n\n", '{"a": 1} {"b": 2}']
)
def test_anything_else_is_refused(text):
    with pytest.raises(ValueError) as refused:  # noqa: PT011 - json raises its own
        parse_body(text)
    assert not isinstance(refused.value, CutStreamError)
