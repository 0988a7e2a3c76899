"""Read the body of an answer: JSON, JSON with marks of a stream around it, or an event stream."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

DONE = "[DONE]"
_AFTER_JSON = re.compile(r"\s*(?:data:\s*\[DONE\]\s*)*")
# Gateways send comments to keep a connection open.
_COMMENTS = re.compile(r"(?:\s*:[^\n]*(?:\n|\Z))*\s*")
_JOINED = ("content", "reasoning_content", "reasoning", "thinking", "refusal")


class CutStreamError(ValueError):
    """An event stream that ends before the reply does."""


def json_in(text: str) -> Any:
    """Return the JSON of an answer; chunks of a streamed chat completion are joined to one.

    Raises ValueError for what is neither JSON nor such a stream, CutStreamError for a stream that
    ends in the middle, RecursionError for JSON that is nested beyond reason.
    """
    try:
        return json.loads(text)
    except ValueError:
        begin = _COMMENTS.match(text)
        text = text[begin.end() if begin else 0 :]
    if text.startswith(("{", "[")):
        value, end = json.JSONDecoder().raw_decode(text)
        if _AFTER_JSON.fullmatch(text, end):
            return value
        raise ValueError("there is something after the JSON")
    return _completion(text)


def _events(text: str) -> Iterator[str]:
    """Yield the data of each event."""
    lines: list[str] = []
    for line in [*text.splitlines(), ""]:
        if line.startswith("data:"):
            lines.append(line.removeprefix("data:").removeprefix(" "))
        elif not line.strip() and lines:
            yield "\n".join(lines)
            lines = []


def _completion(text: str) -> Any:
    """Return a stream of chunks as one chat completion."""
    message: dict[str, Any] = {"role": "assistant", "content": None}
    choice: dict[str, Any] = {"index": 0, "message": message, "finish_reason": None}
    whole: dict[str, Any] = {}
    n_chunks, is_done = 0, False
    for data in _events(text):
        if data.strip() == DONE:
            is_done = True
            continue
        for chunk in _chunks(data):
            n_chunks += 1
            if not isinstance(chunk, Mapping):
                raise ValueError("a chunk of the stream is no object")
            whole |= {k: v for k, v in chunk.items() if k != "choices" and v is not None}
            for one in chunk.get("choices") or ():
                if isinstance(one, Mapping) and not one.get("index"):
                    _add(choice, message, one)
    if not n_chunks:
        raise ValueError("there is no chunk in the stream")
    if "data" in whole and "id" not in whole and choice["finish_reason"] is None:
        return whole  # one event with an answer of another kind
    if choice["finish_reason"] is None and not is_done and not whole.get("error"):
        raise CutStreamError("the event stream ends before the reply does")
    return {**whole, "object": "chat.completion", "choices": [choice]}


def _chunks(data: str) -> Iterator[Any]:
    """Yield the JSON of an event, or of each of its lines where no blank line parts events."""
    try:
        yield json.loads(data)
    except ValueError:
        for line in data.splitlines():
            if line.strip() and line.strip() != DONE:
                yield json.loads(line)


def _add(choice: dict[str, Any], message: dict[str, Any], chunk: Mapping[str, Any]) -> None:
    delta = chunk.get("delta") or chunk.get("message")
    for name, value in delta.items() if isinstance(delta, Mapping) else ():
        if value is None or name == "role":
            continue
        known = message.get(name)
        both = isinstance(known, str) and isinstance(value, str)
        if name in _JOINED and (both or (isinstance(known, list) and isinstance(value, list))):
            message[name] = known + value
        elif name in _JOINED and known is not None:
            message[name] = [*_parts(known), *_parts(value)]
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
    others = ("delta", "message", "logprobs", "index")
    choice |= {k: v for k, v in chunk.items() if k not in others and v is not None}


def _parts(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [{"type": "text", "text": value}]
