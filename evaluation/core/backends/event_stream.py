"""Parse the body of a server's answer: plain JSON, or an event stream of chunks."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

DONE = "[DONE]"
_AFTER_JSON = re.compile(r"\s*(?:data:\s*\[DONE\]\s*)*")
# Gateways send comments to keep a connection open.
_COMMENTS = re.compile(r"(?:\s*:[^\n]*(?:\n|\Z))*\s*")
# Not str.splitlines, which also divides a text of JSON at U+2028, U+0085 and form feeds.
_LINE_END = re.compile(r"\r\n|\n|\r")
_JOINED = ("content", "reasoning_content", "reasoning", "thinking", "refusal")


class CutStreamError(ValueError):
    """The body of a server's answer ends before the reply is complete."""


def parse_body(text: str) -> Any:
    """Return the JSON in a response's body; chunks of a streamed completion are joined into one.

    Raises ValueError for what is neither JSON nor such a stream, CutStreamError for either of them
    that ends in the middle, RecursionError for JSON that is nested beyond reason.
    """
    try:
        return json.loads(text)
    except ValueError:
        begin = _COMMENTS.match(text)
        text = text[begin.end() if begin else 0 :]
    if text.startswith(("{", "[")):
        # Some servers end a plain JSON answer with "data: [DONE]", which json.loads refuses.
        try:
            value, end = json.JSONDecoder().raw_decode(text)
        except json.JSONDecodeError as error:
            if _ends_early(error):
                raise CutStreamError("the answer ends in the middle of its JSON") from None
            raise
        if _AFTER_JSON.fullmatch(text, end):
            return value
        raise ValueError("there is something after the JSON")
    return _join_chunks(text)


def _ends_early(error: json.JSONDecodeError) -> bool:
    """Return whether a JSON error means that the text's end is missing."""
    return error.msg.startswith("Unterminated string") or error.pos >= len(error.doc.rstrip())


def _split_events(text: str) -> Iterator[str]:
    """Yield the data of each event of a server-sent event stream."""
    lines: list[str] = []
    # The empty line ends a last event that no blank line follows.
    for line in [*_LINE_END.split(text), ""]:
        if line.startswith("data:"):
            lines.append(line.removeprefix("data:").removeprefix(" "))
        elif not line.strip() and lines:
            yield "\n".join(lines)
            lines = []


def _join_chunks(text: str) -> Any:
    """Return the chunks of an event stream joined into one chat completion."""
    message: dict[str, Any] = {"role": "assistant", "content": None}
    choice: dict[str, Any] = {"index": 0, "message": message, "finish_reason": None}
    fields: dict[str, Any] = {}
    n_chunks, is_done = 0, False
    events = list(_split_events(text))
    for number, data in enumerate(events, 1):
        if data.strip() == DONE:
            is_done = True
            continue
        # Without the empty line after it, the last event may be the beginning of one.
        is_whole = number < len(events) or text.endswith(("\n", "\r"))
        for chunk in _parse_chunks(data, is_whole):
            n_chunks += 1
            if not isinstance(chunk, Mapping):
                raise ValueError("a chunk of the stream is no object")
            fields |= {k: v for k, v in chunk.items() if k != "choices" and v is not None}
            for choice_chunk in chunk.get("choices") or ():
                if isinstance(choice_chunk, Mapping) and not choice_chunk.get("index"):
                    _add_chunk(choice, message, choice_chunk)
    if not n_chunks:
        raise ValueError("there is no chunk in the stream")
    if "data" in fields and "id" not in fields and choice["finish_reason"] is None:
        return fields  # one event with an answer of another kind
    if choice["finish_reason"] is None and not is_done and not fields.get("error"):
        raise CutStreamError("the event stream ends before the reply does")
    return {**fields, "object": "chat.completion", "choices": [choice]}


def _parse_chunks(data: str, is_whole: bool) -> Iterator[Any]:
    """Yield the parsed JSON of an event, or of each line if no blank line separates the events.

    Raises CutStreamError for JSON without its end in an event that is not whole.
    """
    try:
        yield json.loads(data)
    except json.JSONDecodeError as error:
        if not is_whole and _ends_early(error):
            raise CutStreamError("the event stream ends in the middle of a chunk") from None
        for line in _LINE_END.split(data):
            if line.strip() and line.strip() != DONE:
                yield json.loads(line)


def _add_chunk(choice: dict[str, Any], message: dict[str, Any], chunk: Mapping[str, Any]) -> None:
    """Append a chunk's text, thinking and logprobs to the joined completion, in place."""
    delta = chunk.get("delta") or chunk.get("message")
    for name, value in delta.items() if isinstance(delta, Mapping) else ():
        # The role is fixed, and a null must not replace what came in an earlier chunk.
        if value is None or name == "role":
            continue
        known = message.get(name)
        are_texts = isinstance(known, str) and isinstance(value, str)
        if name in _JOINED and (are_texts or (isinstance(known, list) and isinstance(value, list))):
            message[name] = known + value
        elif name in _JOINED and known is not None:
            message[name] = [*_convert_to_parts(known), *_convert_to_parts(value)]
        elif name == "reasoning_details" and isinstance(known, list) and isinstance(value, list):
            message[name] = known + value
        else:
            message[name] = value
    logprobs, known = chunk.get("logprobs"), choice.get("logprobs")
    if isinstance(logprobs, Mapping):
        content = logprobs.get("content")
        if isinstance(known, dict) and isinstance(known.get("content"), list):
            known["content"] += content if isinstance(content, list) else []
        else:
            choice["logprobs"] = dict(logprobs)
    merged_keys = ("delta", "message", "logprobs", "index")
    choice |= {k: v for k, v in chunk.items() if k not in merged_keys and v is not None}


def _convert_to_parts(value: Any) -> list[Any]:
    """Return a message's content as a list of parts; a string becomes one part."""
    return value if isinstance(value, list) else [{"type": "text", "text": value}]
