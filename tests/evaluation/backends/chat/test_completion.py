import pytest

from annotations.exchange import AnswerStatus
from evaluation.backends.chat.completion import allowance_of, reply_of, seconds_of
from evaluation.backends.chat.contract import Allowance


def of(**message):
    return reply_of({"choices": [{"message": message, "finish_reason": "stop"}]})


def test_parts_that_are_text_are_one_text():
    parts = [{"type": "text", "text": "one "}, {"type": "image"}, {"type": "text", "text": "two"}]
    assert of(content=parts).text == "one two"


def test_what_no_file_can_hold_is_replaced_and_the_raw_answer_keeps_it():
    reply = of(content="a\ud800b\0c")
    assert reply.text == "a\N{REPLACEMENT CHARACTER}b\N{REPLACEMENT CHARACTER}c"
    assert reply.raw["choices"][0]["message"]["content"] == "a\ud800b\0c"


@pytest.mark.parametrize("content", [None, "", " \n\t", [], 7])
def test_nothing_but_white_space_is_empty(content):
    reply = of(content=content)
    assert (reply.text, reply.status) == ("", AnswerStatus.EMPTY)


@pytest.mark.parametrize("size", [100_000, 100_001])
def test_an_answer_may_have_100_000_bytes(size):
    reply = of(content="x" * size)
    assert (reply.status is AnswerStatus.ERROR) == (size > 100_000)
    assert reply.fault is None or reply.fault.code == "answer_too_long"


@pytest.mark.parametrize("payload", [None, [], {}, {"choices": []}, {"choices": [{}]}, "text"])
def test_json_that_is_no_completion_is_an_error(payload):
    reply = reply_of(payload)
    assert (reply.status, reply.fault.code, reply.fault.again) == ("error", "no_reply", False)


def test_an_error_that_came_with_200_is_told():
    assert "no such model" in reply_of({"error": {"message": "no such\nmodel"}}).fault.message


@pytest.mark.parametrize("count", [-1, "many", None, True, 1e400])
def test_tokens_that_are_no_count_are_unknown(count):
    payload = {"choices": [{"message": {"content": "a"}}], "usage": {"prompt_tokens": count}}
    assert reply_of(payload).prompt_tokens in {None, 1 if count is True else None}


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("6m0s", 360),
        ("1s", 1),
        ("20ms", 0.02),
        ("1h2m3.5s", 3723.5),
        ("2m", 120),
        ("30", 30),
        ("soon", None),
        ("", None),
        (None, None),
    ],
)
def test_times_of_limits_are_read(text, seconds):
    assert seconds_of(text) == seconds


def test_limits_are_read_from_the_headers():
    headers = {
        "x-ratelimit-remaining-requests": "0",
        "x-ratelimit-reset-requests": "2s",
        "x-ratelimit-remaining-tokens": "150",
    }
    assert allowance_of(headers) == Allowance(0, 2.0, 150, None)
    assert allowance_of({"server": "x"}) is None
