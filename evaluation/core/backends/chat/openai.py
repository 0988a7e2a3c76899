"""Chat with a model behind an OpenAI-compatible server: parameters, requests, replies.

`parse_reply` converts the JSON of a chat completion into a reply: text, thinking, refusal, token
counts. `AdaptedParameters` learns from a server's refusals which parameters it does not accept.

Reasoning models refuse `max_tokens` (they want `max_completion_tokens`) and any `temperature` but
their own; some servers know no `seed`. These three are sent without being asked for, so a request
that is refused because of one of them is sent once more without it. A model that answers by event
streams only gets `stream`; `event_stream` joins the chunks.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import httpx

from annotations.exchange.model_replies import (
    FinishReason,
    classify_finish_reason,
    split_model_reply,
)
from annotations.exchange.reading.answers import LONGEST_ANSWER
from annotations.exchange.records import AnswerStatus
from annotations.outgoing.connections import Vet
from annotations.outgoing.waiting import parse_retry_after
from evaluation.core.backends.chat.contract import (
    ChatModel,
    ChatRequest,
    Fault,
    RateLimits,
    Reply,
    shorten_logprobs,
)
from evaluation.core.backends.errors import ChatError
from evaluation.core.backends.server import (
    AGAIN,
    FaultError,
    OpenAIServer,
    RetryRules,
    find_error_message,
)

# Half a character (a lone surrogate) has no bytes in UTF-8, NUL is refused by readers.
UNWRITABLE = re.compile("[\ud800-\udfff\0]")
# m(?!s): the m of "20ms" is not a minute.
DURATION = re.compile(r"(?:(\d+)h)?(?:(\d+)m(?!s))?(?:([\d.]+)s)?(?:([\d.]+)ms)?")
LONGEST_REASON = 100
# Where servers put the thinking that they have separated themselves.
THINKING_FIELDS = ("reasoning_content", "reasoning", "thinking", "reasoning_details", "thoughts")
THINKING_PARTS = ("reasoning", "thinking", "redacted_thinking", "thought", "reasoning_text")
# Parts of a content that hold no text.
OTHER_PARTS = ("image", "audio", "video", "file", "tool", "function", "refusal", "output_image")
LIMITS = ("max_tokens", "max_completion_tokens")


def parse_reply(payload: Any, parameters: Mapping[str, Any] | None = None) -> Reply:
    """Return the reply in the JSON of a chat completion; one of status ERROR for other JSON.

    `parameters` are those that were sent: a reply without a text that has as many tokens as they
    allow was cut off, whatever its finish reason.
    """
    try:
        choice = payload["choices"][0]
        message = choice["message"]
        content, refusal = message.get("content"), message.get("refusal")
    except (KeyError, TypeError, IndexError, AttributeError):
        return _parse_without_message(payload)
    if choice.get("logprobs"):
        choice["logprobs"] = shorten_logprobs(choice["logprobs"])
    text, separate_thinking = _extract_text(content), _extract_thinking(message, content)
    reason = _find_finish_reason(choice)
    usage = payload.get("usage")
    usage = usage if isinstance(usage, Mapping) else {}
    n_written = _parse_count(usage.get("completion_tokens"))
    tokens = (_parse_count(usage.get("prompt_tokens")), n_written)
    if fault := _find_fault(payload, choice, message, reason):
        return Reply("", AnswerStatus.ERROR, reason, *tokens, None, payload, fault)
    if not (text or separate_thinking or _is_readable_content(content)):
        unknown = Fault("no_reply", "the answer's content is of a kind that is not read")
        return Reply("", AnswerStatus.ERROR, reason, *tokens, None, payload, unknown)
    refusal = refusal or _find_refusal(content)
    read = split_model_reply(text, finish_reason=reason)
    status = read.status
    thinking = "\n\n".join(one for one in (separate_thinking, read.thinking) if one)
    if isinstance(refusal, str) and refusal.strip():
        status = AnswerStatus.REFUSED_GENERATION
    elif status is AnswerStatus.EMPTY and (
        thinking or _has_reached_token_limit(n_written, parameters)
    ):
        status = AnswerStatus.CUT_OFF
    answer = read.text
    if status is AnswerStatus.REFUSED_GENERATION:
        answer = answer or _extract_text(refusal)
    # The limit is that of imported answers.
    if (size := len(answer.encode())) > LONGEST_ANSWER:
        problem = f"the answer has {size:,} bytes, more than {LONGEST_ANSWER:,}"
        answer, status, fault = "", AnswerStatus.ERROR, Fault("answer_too_long", problem)
    logprobs = choice.get("logprobs")
    return Reply(answer, status, reason, *tokens, logprobs, payload, fault, thinking=thinking)


def build_failed_reply(fault: FaultError) -> Reply:
    """Return the reply of a failed attempt: REFUSED_PROMPT for a refused prompt, else ERROR."""
    raw = fault.content.decode(errors="replace") if fault.content else None
    if fault.code == "refused_prompt":
        return Reply("", AnswerStatus.REFUSED_PROMPT, "content_filter", raw=raw)
    message = fault.problem if fault.again else f"{fault.problem}: {fault.remedy}"
    return Reply.from_fault(Fault(fault.code, message, fault.again, fault.wait), raw)


def parse_rate_limits(headers: Mapping[str, str]) -> RateLimits | None:
    """Return the rate limits in a response's x-ratelimit headers; None without such headers."""
    allowance = RateLimits(
        _parse_count(headers.get("x-ratelimit-remaining-requests")),
        parse_seconds(headers.get("x-ratelimit-reset-requests")),
        _parse_count(headers.get("x-ratelimit-remaining-tokens")),
        parse_seconds(headers.get("x-ratelimit-reset-tokens")),
    )
    return None if allowance == RateLimits() else allowance


def parse_seconds(value: str | None) -> float | None:
    """Return the seconds in "6m0s", "20ms", "1.5s", "30" or a date; None for other text."""
    if not value:
        return None
    match = DURATION.fullmatch(value.strip())
    if match is None or not any(match.groups()):
        return parse_retry_after(value)
    try:
        hours, minutes, seconds, thousandths = (float(part or 0) for part in match.groups())
    except ValueError:
        return None
    return hours * 3600 + minutes * 60 + seconds + thousandths / 1000


def _find_finish_reason(choice: Mapping[str, Any]) -> str:
    """Return the finish reason of a reply; that of a gateway's provider if it is more specific."""
    reason = str(choice.get("finish_reason") or choice.get("stop_reason") or "")
    native = choice.get("native_finish_reason")
    if isinstance(native, str) and classify_finish_reason(
        reason
    ) is FinishReason.OTHER != classify_finish_reason(native):
        reason = native
    return reason[:LONGEST_REASON]


def _parse_without_message(payload: Any) -> Reply:
    """Return the reply of a completion without a message: refused, cut off, or an error."""
    if isinstance(payload, Mapping):
        choices = payload.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        if isinstance(choice, Mapping):
            reason = _find_finish_reason(choice)
            if fault := _find_fault(payload, choice, {}, reason):
                return Reply("", AnswerStatus.ERROR, reason, raw=payload, fault=fault)
            if classify_finish_reason(reason) is FinishReason.REFUSED:
                return Reply("", AnswerStatus.REFUSED_GENERATION, reason, raw=payload)
            if classify_finish_reason(reason) is FinishReason.LENGTH:
                return Reply("", AnswerStatus.CUT_OFF, reason, raw=payload)
        feedback = payload.get("promptFeedback") or payload.get("prompt_feedback")
        if isinstance(feedback, Mapping) and feedback.get("blockReason"):
            blocked = str(feedback["blockReason"])[:LONGEST_REASON]
            return Reply("", AnswerStatus.REFUSED_PROMPT, blocked, raw=payload)
        if fault := _find_fault(payload, {}, {}, ""):
            return Reply.from_fault(fault, payload)
    nothing = "the answer holds no reply: check that the model is one for chats"
    return Reply.from_fault(Fault("no_reply", nothing), payload)


def _find_fault(
    payload: Mapping[str, Any],
    choice: Mapping[str, Any],
    message: Mapping[str, Any],
    reason: str,
) -> Fault | None:
    """Return the error that the JSON of a response with status 200 reports; None without one."""
    failed = classify_finish_reason(reason) is FinishReason.ERROR
    error = next((one for part in (choice, payload, message) if (one := part.get("error"))), None)
    if error is None and payload.get("object") == "error":
        error = payload
    if error is None and not failed:
        return None
    message_text = find_error_message(error) or (
        f"finish_reason {reason}" if failed else "without a message"
    )
    code = error.get("code") if isinstance(error, Mapping) else None
    if isinstance(code, str) and code.isdecimal() and len(code) < 6:
        code = int(code)
    may_pass = failed if not isinstance(code, int) else code in AGAIN or 500 <= code < 600
    problem = f"the server answered 200 with an error ({message_text})"
    return Fault("error_in_reply", problem, may_pass)


def _has_reached_token_limit(written: int | None, parameters: Mapping[str, Any] | None) -> bool:
    """Return whether a reply of `written` tokens has as many as the request allowed."""
    limits = [(parameters or {}).get(name) for name in LIMITS]
    most = [limit for limit in limits if isinstance(limit, int) and limit > 0]
    return bool(most) and written is not None and written >= min(most)


def _extract_text(content: Any) -> str:
    """Return the text of a message's content, without thinking; "" if only white space."""
    if isinstance(content, Mapping):
        content = content.get("parts") if "parts" in content else [content]
    if isinstance(content, list):  # parts, of which some are no text
        parts = (_get_part_text(part) for part in content if not _is_thinking_part(part))
        content = "".join(part for part in parts if isinstance(part, str))
    if not isinstance(content, str) or not content.strip():
        return ""
    return UNWRITABLE.sub("\N{REPLACEMENT CHARACTER}", content)


def _is_readable_content(content: Any) -> bool:
    """Return whether a message's content is None, a string, or parts of known types."""
    if isinstance(content, Mapping):
        content = content.get("parts") if "parts" in content else [content]
    if isinstance(content, list):
        return all(map(_is_known_part, content))
    return content is None or isinstance(content, str)


def _is_known_part(part: Any) -> bool:
    """Return whether a part of a message's content is text, thinking, or a known other type."""
    if not isinstance(part, Mapping):
        return isinstance(part, str)
    kind = str(part.get("type") or "").casefold()
    return (
        isinstance(part.get("text"), str) or _is_thinking_part(part) or kind.startswith(OTHER_PARTS)
    )


def _get_part_text(part: Any) -> Any:
    """Return the text of one part of a message's content; a plain string unchanged."""
    return part.get("text") if isinstance(part, Mapping) else part


def _find_refusal(content: Any) -> Any:
    """Return the refusal among the parts of a message's content; None without one."""
    for part in content if isinstance(content, list) else ():
        if isinstance(part, Mapping) and part.get("type") == "refusal":
            return part.get("refusal") or part.get("text") or "refused"
    return None


def _is_thinking_part(part: Any) -> bool:
    """Return whether a part of a message's content is the model's thinking."""
    if not isinstance(part, Mapping):
        return False
    kind = str(part.get("type") or "").casefold()
    return kind.startswith(THINKING_PARTS) or part.get("thought") is True


def _extract_thinking(message: Mapping[str, Any], content: Any) -> str:
    """Return the model's thinking in a message's fields and content parts, without repetitions."""
    texts: list[str] = []
    for name in THINKING_FIELDS:
        texts += _list_texts(message.get(name))
    parts = content.get("parts") if isinstance(content, Mapping) else content
    for part in parts if isinstance(parts, list) else ():
        if _is_thinking_part(part):
            texts += _list_texts(part)
    # Gateways send the same text in two fields.
    distinct_texts = dict.fromkeys(text.strip() for text in texts if text.strip())
    return UNWRITABLE.sub("\N{REPLACEMENT CHARACTER}", "\n\n".join(distinct_texts))


def _list_texts(value: Any, depth: int = 0) -> Iterator[str]:
    """Yield the texts in a message's thinking field: a string, parts, or a summary of parts."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list) and depth < 4:
        for item in value:
            yield from _list_texts(item, depth + 1)
    elif isinstance(value, Mapping) and depth < 4:
        for name in ("text", "thinking", "reasoning", "summary", "content"):
            yield from _list_texts(value.get(name), depth + 1)


def _parse_count(value: Any) -> int | None:
    """Return a value of JSON or of a header as a count; None if it is not one."""
    try:
        number = int(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if 0 <= number < 2**53 and not isinstance(value, bool) else None


OTHER_NAMES = {
    "max_tokens": "max_completion_tokens",
    "max_completion_tokens": "max_tokens",
}
STREAM = {"stream": True, "stream_options": {"include_usage": True}}
OPTIONAL = ("temperature", "seed", "stream_options")
STATUSES = (400, 422)
# How servers say that they do not take a parameter, or not with that value.
_REFUSED = re.compile(
    r"unsupported|not support|does not support|doesn't support|unrecognized|unrecognised|unknown|"
    r"not permitted|not allowed|unexpected|extra (?:inputs|fields)|extra_forbidden|deprecated|"
    r"not accept|only the default|must be (?:1|unset|omitted)\b|only 1 is allowed|not available|"
    r"not compatible|incompatible|instead|invalid parameter|invalid argument",
    re.IGNORECASE,
)
# How servers say that they answer by event streams only.
_ONLY_STREAMS = re.compile(
    r"only supports? stream|enable the stream|stream(?:ing)?[`'\" ]+(?:mode )?(?:is )?required|"
    r"stream[`'\" ]+(?:parameter )?must be (?:set to )?true",
    re.IGNORECASE,
)
# A value that is too high is no refusal of its parameter.
_TOO_HIGH = re.compile(r"at most|maximum|less than|greater than|too large|too high|exceed|<=")


class AdaptedParameters:
    """Request parameters to rename, drop or add for one server, in the order of its refusals."""

    def __init__(self) -> None:
        self._changes: dict[str, str] = {}
        self._streams = False

    @property
    def notes(self) -> tuple[str, ...]:
        """The learnt changes of requests as phrases, such as "seed left out"."""
        changes = [
            f"{name} sent as {other}" if other else f"{name} left out"
            for name, other in self._changes.items()
        ]
        return (*changes, "stream sent as true") if self._streams else tuple(changes)

    def adapt_body(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Return the request body with all learnt changes applied."""
        adapted = {**body, **STREAM} if self._streams else dict(body)
        for name, other in self._changes.items():
            if name not in adapted:
                continue
            value = adapted.pop(name)
            if other:
                adapted.setdefault(other, value)
        return adapted

    def learn_from_refusal(self, fault: FaultError, body: Mapping[str, Any]) -> bool:
        """Learn a change from a server's refusal of `body`; return whether to try again."""
        if fault.status not in STATUSES or fault.code == "refused_prompt":
            return False
        named, message = _find_named_parameter(fault.content)
        if _ONLY_STREAMS.search(message):
            self._streams = True
            return self.adapt_body(body) != dict(body)
        if not _REFUSED.search(message) or _TOO_HIGH.search(message):
            return False
        for name in (*OTHER_NAMES, *OPTIONAL):
            is_meant = name == named or (named is None and _is_mentioned(message, name))
            if name not in body or not is_meant:
                continue
            if name not in self._changes:
                self._changes[name] = self._find_other_name(name)
            # Another request may have learnt it meanwhile.
            return self.adapt_body(body) != dict(body)
        return False

    def _find_other_name(self, name: str) -> str:
        """Return a parameter's alternative name; "" if it has none, or that was tried already."""
        other = OTHER_NAMES.get(name, "")
        # Where both names were refused, leave the parameter out instead of renaming it back.
        return "" if other in self._changes else other


def _find_named_parameter(content: bytes) -> tuple[str | None, str]:
    """Return the parameter that a server's error body names (or None), and the error's message."""
    text = content.decode(errors="replace")
    try:
        payload = json.loads(text)
    except (ValueError, RecursionError):
        return None, text[:2000]
    error = payload.get("error") if isinstance(payload, Mapping) else None
    error = error if isinstance(error, Mapping) else payload
    named = error.get("param") if isinstance(error, Mapping) else None
    message = " ".join([find_error_message(payload), str(error.get("code") or "") if named else ""])
    if not find_error_message(payload):
        message = text[:2000]
    # Validators say which field by its place: {"loc": ["body", "seed"], "msg": ...}.
    detail = payload.get("detail") if isinstance(payload, Mapping) else None
    for entry in detail if isinstance(detail, list) else ():
        place = entry.get("loc") if isinstance(entry, Mapping) else None
        if isinstance(place, list) and place:
            named, message = str(place[-1]), f"{message} {entry.get('type') or ''}"
    return (named if isinstance(named, str) else None), message


def _is_mentioned(message: str, name: str) -> bool:
    """Return whether an error message contains a parameter's name as a whole word."""
    return re.search(rf"(?<![\w]){re.escape(name)}(?![\w])", message) is not None


PATH = "chat/completions"


class OpenAIChat(ChatModel):
    """Chat model behind an OpenAI-compatible server; see `OpenAIServer` for the API key.

    Of `patience` only `timeout` and `longest_wait` are used: `reply` does not retry. Raises
    ChatError for an invalid address.
    """

    kind = "openai"

    def __init__(
        self,
        model: str,
        url: str,
        *,
        what: str = "model",
        api_key_env: str = "OPENAI_API_KEY",
        patience: RetryRules | None = None,
        vet: Vet | None = None,
    ) -> None:
        self.server = OpenAIServer(
            what,
            f"openai:{model}@{url}",
            url,
            PATH,
            api_key_env=api_key_env,
            patience=patience or RetryRules(),
            error=ChatError,
            vet=vet,
        )
        self.model = self.name = model
        self.address = self.server.url
        self._client: httpx.AsyncClient | None = None
        self._adapted = AdaptedParameters()

    @property
    def adaptations(self) -> tuple[str, ...]:  # type: ignore[override]
        """Request parameters that this client changed because the server refused them."""
        return self._adapted.notes

    async def open(self, at_once: int) -> None:
        """Create the pool of connections to the server."""
        self._client = self.server.create_async_client(at_once)

    async def close(self) -> None:
        """Close all connections to the server."""
        if self._client is not None:
            await self._client.aclose()
            self._client = None

    async def reply(self, request: ChatRequest) -> Reply:
        """Send one request to the server, between `open` and `close`.

        Where the server refuses one of our parameters, the request is sent once more without it,
        or with it under its other name, and further requests are sent so (`adaptations`).
        """
        assert self._client is not None
        # Ends: a retry needs a further change of the body, and there are six parameters to change.
        while True:
            body = self.build_request_body(request)
            try:
                payload, headers = await self.server.post_once(self._client, body)
            except FaultError as fault:
                if self._adapted.learn_from_refusal(fault, body):
                    continue
                allowance = None if fault.headers is None else parse_rate_limits(fault.headers)
                return replace(build_failed_reply(fault), allowance=allowance)
            reply = parse_reply(payload, body)
            return replace(reply, allowance=parse_rate_limits(headers))

    def build_request_body(self, request: ChatRequest) -> dict[str, Any]:
        """Return the request body as sent and stored: adapted to the server, without the key."""
        return self._adapted.adapt_body(super().build_request_body(request))
