"""What a chat completion of the OpenAI form says: text, refusal, tokens, limits."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from annotations.exchange.reading.answers import LONGEST_ANSWER
from annotations.exchange.records import AnswerStatus
from annotations.outgoing.waiting import retry_after
from evaluation.backends.chat.contract import Allowance, Fault, Reply
from evaluation.backends.chat.distributions import shortened
from evaluation.backends.server import FaultError

# Half a character (a lone surrogate) has no bytes in UTF-8, NUL is refused by readers.
UNWRITABLE = re.compile("[\ud800-\udfff\0]")
DURATION = re.compile(r"(?:(\d+)h)?(?:(\d+)m(?!s))?(?:([\d.]+)s)?(?:([\d.]+)ms)?")
LONGEST_REASON = 100


def reply_of(payload: Any) -> Reply:
    """Return the reply in the JSON of a chat completion; any other JSON is an ERROR."""
    try:
        choice = payload["choices"][0]
        message = choice["message"]
        content, refusal = message.get("content"), message.get("refusal")
    except (KeyError, TypeError, IndexError, AttributeError):
        return Reply.failed(Fault("no_reply", _why_none(payload)), payload)
    if choice.get("logprobs"):
        choice["logprobs"] = shortened(choice["logprobs"])
    text = _text(content)
    reason = str(choice.get("finish_reason") or "")[:LONGEST_REASON]
    usage = payload.get("usage")
    usage = usage if isinstance(usage, Mapping) else {}
    status = AnswerStatus.TEXT if text else AnswerStatus.EMPTY
    if reason == "content_filter" or (isinstance(refusal, str) and refusal.strip()):
        status = AnswerStatus.REFUSED_GENERATION
        text = text or _text(refusal)
    fault = None
    if (size := len(text.encode())) > LONGEST_ANSWER:
        problem = f"the answer has {size:,} bytes, more than {LONGEST_ANSWER:,}"
        text, status, fault = "", AnswerStatus.ERROR, Fault("answer_too_long", problem)
    return Reply(
        text,
        status,
        reason,
        _count(usage.get("prompt_tokens")),
        _count(usage.get("completion_tokens")),
        choice.get("logprobs"),
        payload,
        fault,
    )


def reply_without(fault: FaultError) -> Reply:
    """Return the reply of an attempt that came to nothing, or was refused before it began."""
    raw = fault.content.decode(errors="replace") if fault.content else None
    if fault.code == "refused_prompt":
        return Reply("", AnswerStatus.REFUSED_PROMPT, "content_filter", raw=raw)
    message = fault.problem if fault.again else f"{fault.problem}: {fault.remedy}"
    return Reply.failed(Fault(fault.code, message, fault.again, fault.wait), raw)


def allowance_of(headers: Mapping[str, str]) -> Allowance | None:
    """Return what the x-ratelimit headers say; None where there are none."""
    found = Allowance(
        _count(headers.get("x-ratelimit-remaining-requests")),
        seconds_of(headers.get("x-ratelimit-reset-requests")),
        _count(headers.get("x-ratelimit-remaining-tokens")),
        seconds_of(headers.get("x-ratelimit-reset-tokens")),
    )
    return None if found == Allowance() else found


def seconds_of(value: str | None) -> float | None:
    """Return the seconds in "6m0s", "20ms", "1.5s", "30" or a date; None for anything else."""
    if not value:
        return None
    found = DURATION.fullmatch(value.strip())
    if found is None or not any(found.groups()):
        return retry_after(value)
    try:
        hours, minutes, seconds, thousandths = (float(part or 0) for part in found.groups())
    except ValueError:
        return None
    return hours * 3600 + minutes * 60 + seconds + thousandths / 1000


def _why_none(payload: Any) -> str:
    error = payload.get("error") if isinstance(payload, Mapping) else None
    said = error.get("message") if isinstance(error, Mapping) else error
    if isinstance(said, str) and said.strip():
        return f"the server answered 200 with an error ({' '.join(said.split())[:200]})"
    return "the answer holds no reply: check that the model is one for chats"


def _text(content: Any) -> str:
    if isinstance(content, list):  # parts, of which some are no text
        parts = (part.get("text") for part in content if isinstance(part, Mapping))
        content = "".join(part for part in parts if isinstance(part, str))
    if not isinstance(content, str) or not content.strip():
        return ""
    return UNWRITABLE.sub("\N{REPLACEMENT CHARACTER}", content)


def _count(value: Any) -> int | None:
    try:
        number = int(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if 0 <= number < 2**53 and not isinstance(value, bool) else None
