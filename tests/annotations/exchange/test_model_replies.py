"""The status that a reply has in effect, by its text and the reason why it ended."""

import pytest

from annotations.exchange import AnswerStatus
from annotations.exchange.model_replies import (
    FinishReason,
    classify_finish_reason,
    describe_replies,
    describe_thinking_counts,
    split_model_reply,
)

TEXT, EMPTY, CUT_OFF = AnswerStatus.TEXT, AnswerStatus.EMPTY, AnswerStatus.CUT_OFF
ERROR, REFUSED = AnswerStatus.ERROR, AnswerStatus.REFUSED_GENERATION


@pytest.mark.parametrize(
    ("reason", "meaning"),
    [
        *((one, FinishReason.LENGTH) for one in ("length", "MAX_TOKENS", "max_output_tokens")),
        *((one, FinishReason.REFUSED) for one in ("content_filter", "content-filter", "SAFETY")),
        *((one, FinishReason.REFUSED) for one in ("RECITATION", "PROHIBITED_CONTENT", "BLOCKLIST")),
        *((one, FinishReason.REFUSED) for one in ("refusal", "sensitive", "safety", "SPII")),
        *((one, FinishReason.ERROR) for one in ("error", "insufficient_system_resource")),
        *((one, FinishReason.ERROR) for one in ("network_error", "FINISH_REASON_ERROR", "abort")),
        *((one, FinishReason.OTHER) for one in ("stop", "end_turn", "eos", "", "tool_calls")),
    ],
)
def test_every_provider_has_words_of_its_own(reason, meaning):
    assert classify_finish_reason(reason) is meaning


@pytest.mark.parametrize(
    ("text", "status", "reason", "expected"),
    [
        ("yes", TEXT, "stop", ("yes", TEXT, "")),
        ("yes", TEXT, "length", ("yes", TEXT, "")),
        ("", TEXT, "stop", ("", EMPTY, "")),
        (" \n", TEXT, "", ("", EMPTY, "")),
        ("", TEXT, "length", ("", CUT_OFF, "")),
        ("", EMPTY, "MAX_TOKENS", ("", CUT_OFF, "")),
        ("<think>hm", TEXT, "", ("", CUT_OFF, "hm")),
        ("<think>hm</think>", TEXT, "stop", ("", CUT_OFF, "hm")),
        ("<think>hm</think>yes", TEXT, "stop", ("yes", TEXT, "hm")),
        ("y", TEXT, "network_error", ("y", ERROR, "")),
        ("y", TEXT, "SAFETY", ("y", REFUSED, "")),
        ("", EMPTY, "refusal", ("", REFUSED, "")),
        # What is said of a reply otherwise stays.
        ("<think>hm</think>no", AnswerStatus.REFUSED, "stop", ("no", AnswerStatus.REFUSED, "hm")),
        ("", ERROR, "length", ("", ERROR, "")),
    ],
)
def test_the_status_follows_from_text_and_reason(text, status, reason, expected):
    assert split_model_reply(text, status, reason).parts == expected


def test_thinking_is_kept_where_it_is_wanted():
    found = split_model_reply("<think>hm</think>yes", keep_thinking=True)
    assert found.parts == ("<think>hm</think>yes", TEXT, "")


def test_missing_and_refused_statuses():
    assert [one.value for one in AnswerStatus if one.is_missing] == ["error", "cut_off"]
    assert [one.value for one in AnswerStatus if one.is_refusal] == [
        *("refused", "refused_prompt", "refused_generation"),
    ]


def test_notes_count_thinking_and_replies_that_were_cut_off():
    replies = [split_model_reply(one) for one in ("a", "<think>h</think>b", "<think>c")]
    assert describe_replies(replies) == describe_thinking_counts(2, 1)
    assert len(describe_thinking_counts(2, 1)) == 2
    assert describe_thinking_counts(0) == []
