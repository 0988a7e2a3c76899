"""Parse and shorten the token probabilities of a reply in the OpenAI form.

`choices[0].logprobs.content` has an entry for each token of the reply: the token, its natural
log-probability, and the likeliest tokens at its place (`top_logprobs`). A server on this machine
gives all tokens there are, some megabytes for each place; what is kept of such a list are the
likeliest ones and three numbers of the others, from which the entropy is exact.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

OTHERS = "others"
# Of a longer list the others are summed up.
KEPT = 100


@dataclass(frozen=True, slots=True)
class Others:
    """Summary of the tokens that a list leaves out: number, total probability, -sum p ln p."""

    tokens: int
    probability: float
    entropy: float


@dataclass(frozen=True, slots=True)
class TokenLogprob:
    """A token of a reply with its log-probability and the likeliest alternatives.

    Attributes
    ----------
    data : its bytes, which may be a part of a character. logprob : its own; NaN where it is none.
    top : the likeliest tokens at its place, bytes and log-probability, as they were sent. others :
        those that are known but not listed.
    """

    data: bytes
    logprob: float
    top: tuple[tuple[bytes, float], ...]
    others: Others | None = None


def shorten_logprobs(logprobs: Any) -> Any:
    """Return logprobs with each token's alternatives cut to 100; other values unchanged."""
    if not isinstance(logprobs, dict) or not isinstance(logprobs.get("content"), list):
        return logprobs
    return {**logprobs, "content": [_shorten_entry(one) for one in logprobs["content"]]}


def _shorten_entry(entry: Any) -> Any:
    """Return one token's entry with its 100 likeliest alternatives and a summary of the others."""
    listed = entry.get("top_logprobs") if isinstance(entry, dict) else None
    if not isinstance(listed, list) or len(listed) <= KEPT:
        return entry
    logs = np.array([_get_logprob(one) for one in listed])
    if np.isnan(logs).any():  # no distribution: it stays as it came, to be refused
        return entry
    order = np.argsort(-logs, kind="stable")
    p = np.exp(np.minimum(logs[order[KEPT:]], 1.0))
    positive = p[p > 0]
    others = Others(len(p), float(p.sum()), -float((positive * np.log(positive)).sum()))
    return {
        **entry,
        "top_logprobs": [listed[place] for place in order[:KEPT].tolist()],
        OTHERS: {
            "tokens": others.tokens,
            "probability": others.probability,
            "entropy": others.entropy,
        },
    }


def parse_tokens(logprobs: Any) -> list[TokenLogprob] | None:
    """Return a reply's tokens with log-probabilities; None without usable logprobs."""
    content = logprobs.get("content") if isinstance(logprobs, Mapping) else None
    if not isinstance(content, list) or not content:
        return None
    if not all(isinstance(one, Mapping) for one in content):
        return None
    return [_parse_token(one) for one in content]


def _parse_token(entry: Mapping[str, Any]) -> TokenLogprob:
    """Return the token of one logprobs entry: its bytes, log-probability and alternatives."""
    listed = entry.get("top_logprobs")
    top = [one for one in listed if isinstance(one, Mapping)] if isinstance(listed, list) else []
    return TokenLogprob(
        _get_bytes(entry),
        _get_logprob(entry),
        tuple((_get_bytes(one), _get_logprob(one)) for one in top),
        _parse_others(entry.get(OTHERS)),
    )


def _get_bytes(entry: Mapping[str, Any]) -> bytes:
    """Return the bytes of a token; the UTF-8 of its text if the server sent no bytes."""
    data = entry.get("bytes")
    if isinstance(data, list):
        try:
            return bytes(data)
        except (TypeError, ValueError):
            pass  # no bytes: the text will do
    text = entry.get("token")
    return text.encode("utf-8", "replace") if isinstance(text, str) else b""


def _get_logprob(entry: Any) -> float:
    """Return the log-probability of an entry; NaN if it is no number."""
    value = entry.get("logprob") if isinstance(entry, Mapping) else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return math.nan
    return float(value)


def _parse_others(value: Any) -> Others | None:
    """Return the stored summary of unlisted tokens; None without a valid one."""
    if not isinstance(value, Mapping):
        return None
    try:
        return Others(int(value["tokens"]), float(value["probability"]), float(value["entropy"]))
    except (KeyError, TypeError, ValueError, OverflowError):
        return None
