import pytest

from annotations.exchange import AnswerStatus
from evaluation.core.backends.chat.contract import RateLimits
from evaluation.core.backends.chat.openai import parse_rate_limits, parse_reply, parse_seconds


def of(**message):
    return parse_reply({"choices": [{"message": message, "finish_reason": "stop"}]})


def test_parts_that_are_text_are_one_text():
    parts = [{"type": "text", "text": "one "}, {"type": "image"}, {"type": "text", "text": "two"}]
    assert of(content=parts).text == "one two"


def test_what_no_file_can_hold_is_replaced_and_the_raw_answer_keeps_it():
    reply = of(content="a\ud800b\0c")
    assert reply.text == "a\N{REPLACEMENT CHARACTER}b\N{REPLACEMENT CHARACTER}c"
    assert reply.raw["choices"][0]["message"]["content"] == "a\ud800b\0c"


@pytest.mark.parametrize("content", [None, "", " \n\t", []])
def test_nothing_but_white_space_is_empty(content):
    reply = of(content=content)
    assert (reply.text, reply.status) == ("", AnswerStatus.EMPTY)


def test_a_call_of_a_tool_is_no_answer_and_its_text_is_one():
    call = {"id": "1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    choice = {"message": {"content": None, "tool_calls": [call]}, "finish_reason": "tool_calls"}
    reply = parse_reply({"choices": [choice]})
    assert (reply.text, reply.status) == ("", AnswerStatus.EMPTY)
    assert (reply.prompt_tokens, reply.completion_tokens) == (None, None)
    choice["message"]["content"] = "north"
    assert parse_reply({"choices": [choice]}).status is AnswerStatus.TEXT


@pytest.mark.parametrize("size", [100_000, 100_001])
def test_an_answer_may_have_100_000_bytes(size):
    reply = of(content="x" * size)
    assert (reply.status is AnswerStatus.ERROR) == (size > 100_000)
    assert reply.fault is None or reply.fault.code == "answer_too_long"


@pytest.mark.parametrize("payload", [None, [], {}, {"choices": []}, {"choices": [{}]}, "text"])
def test_json_that_is_no_completion_is_an_error(payload):
    reply = parse_reply(payload)
    assert (reply.status, reply.fault.code, reply.fault.again) == ("error", "no_reply", False)


def test_an_error_that_came_with_200_is_told():
    assert "no such model" in parse_reply({"error": {"message": "no such\nmodel"}}).fault.message


@pytest.mark.parametrize("count", [-1, "many", None, True, 1e400])
def test_tokens_that_are_no_count_are_unknown(count):
    payload = {"choices": [{"message": {"content": "a"}}], "usage": {"prompt_tokens": count}}
    assert parse_reply(payload).prompt_tokens in {None, 1 if count is True else None}


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
    assert parse_seconds(text) == seconds


def test_limits_are_read_from_the_headers():
    headers = {
        "x-ratelimit-remaining-requests": "0",
        "x-ratelimit-reset-requests": "2s",
        "x-ratelimit-remaining-tokens": "150",
    }
    assert parse_rate_limits(headers) == RateLimits(0, 2.0, 150, None)
    assert parse_rate_limits({"server": "x"}) is None


def whole(content, reason="stop", message=None, choice=None, **more):
    message = {"role": "assistant", "content": content, **(message or {})}
    return {
        "choices": [{"message": message, "finish_reason": reason, **(choice or {})}],
        "usage": {"completion_tokens": 5},
        **more,
    }


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("<think>\nhm\n</think>\n\nyes", {}),
        ("yes", {"reasoning_content": "hm"}),
        ("yes", {"reasoning": "hm", "reasoning_details": [{"type": "text", "text": "hm"}]}),
        ([{"type": "reasoning", "text": "hm"}, {"type": "text", "text": "yes"}], {}),
        ([{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "yes"}], {}),
        (
            [
                {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
                {"type": "text", "text": "yes"},
            ],
            {},
        ),
        ([{"type": "reasoning", "summary": [{"text": "hm"}]}, {"text": "yes"}], {}),
        ([{"text": "hm", "thought": True}, {"text": "yes"}], {}),
    ],
)  # fmt: skip
def test_thinking_is_beside_the_text_wherever_a_server_puts_it(content, message):
    reply = parse_reply(whole(content, message=message))
    assert (reply.text, reply.thinking, reply.status) == ("yes", "hm", AnswerStatus.TEXT)
    assert reply.raw["choices"][0]["message"]["content"] == content


@pytest.mark.parametrize(
    ("content", "reason", "message"),
    [
        (None, "length", {}),
        ("", "MAX_TOKENS", {}),
        (None, "length", {"reasoning_content": "hm"}),
        ("", None, {"reasoning": "hm"}),
        (None, "stop", {"reasoning_content": "hm"}),
        ("<think>hm", "length", {}),
        ("<think>hm", "stop", {}),
    ],
)
def test_a_reply_without_an_answer_that_thought_or_was_cut_is_cut_off(content, reason, message):
    reply = parse_reply(whole(content, reason, message))
    assert (reply.text, reply.status, reply.fault) == ("", AnswerStatus.CUT_OFF, None)


@pytest.mark.parametrize(("limit", "status"), [(5, "cut_off"), (6, "empty"), (None, "empty")])
def test_as_many_tokens_as_were_allowed_are_a_cut_whatever_the_reason(limit, status):
    assert parse_reply(whole("", "stop"), {"max_tokens": limit}).status == status


@pytest.mark.parametrize(
    ("payload", "again"),
    [
        (whole("", "error", choice={"error": {"code": 502, "message": "gone"}}), True),
        (whole("The", "error", choice={"error": {"code": 502, "message": "gone"}}), True),
        (whole("The", "insufficient_system_resource"), True),
        (whole("", "network_error"), True),
        (whole("The", error={"code": 400, "message": "gone"}), False),
        ({"error": {"code": 429, "message": "gone"}}, True),
        ({"error": "gone"}, False),
        ({"choices": [{"finish_reason": "error"}]}, True),
    ],
)
def test_an_error_in_an_answer_of_status_200_is_an_error(payload, again):
    reply = parse_reply(payload)
    assert (reply.text, reply.status) == ("", AnswerStatus.ERROR)
    assert (reply.fault.code, reply.fault.again) == ("error_in_reply", again)


@pytest.mark.parametrize(
    "reason",
    ["content_filter", "content-filter", "SAFETY", "RECITATION", "refusal", "sensitive"],
)
def test_refusals_in_the_words_of_all_providers(reason):
    assert parse_reply(whole("", reason)).status is AnswerStatus.REFUSED_GENERATION
    assert parse_reply({"choices": [{"finish_reason": reason}]}).status.is_refusal


def test_a_refusal_may_be_a_part_of_the_content():
    reply = parse_reply(whole([{"type": "refusal", "refusal": "I cannot."}]))
    assert (reply.text, reply.status) == ("I cannot.", AnswerStatus.REFUSED_GENERATION)


def test_a_prompt_that_was_blocked_is_refused_before():
    reply = parse_reply({"choices": [], "promptFeedback": {"blockReason": "SAFETY"}})
    assert reply.status is AnswerStatus.REFUSED_PROMPT
