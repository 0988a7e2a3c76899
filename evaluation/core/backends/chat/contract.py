"""Contract of chat back-ends, and the token probabilities of a reply.

Each request gets one reply, with a text or a fault.

Token probabilities have the OpenAI form: `choices[0].logprobs.content` has an entry for each token
of the reply: the token, its natural log-probability, and the likeliest tokens at its position
(`top_logprobs`). A server on this machine returns the whole vocabulary, some megabytes for each
position; of such a list the likeliest tokens are stored, with three numbers on the others, from
which the entropy is exact.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from annotations.exchange.records import AnswerStatus

Message = Mapping[str, str]
"""`role` (system, user, assistant) and `content`."""


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One conversation to send to a model, with its parameters, id and sample number.

    Attributes
    ----------
    id : id of the item that is asked about; it selects scripted replies and is not sent to servers.
    messages : the conversation in order; the reply is to the last message.
    parameters : request parameters, sent unchanged: temperature, max_tokens, seed, logprobs ...
    sample : number of the repetition of this request, from 0.
    """

    id: str
    messages: tuple[Message, ...]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    sample: int = 0


@dataclass(frozen=True, slots=True)
class Fault:
    """Reason why a request got no reply, with whether and when another attempt makes sense.

    `again` is True if another attempt may succeed; `wait` is the pause in seconds that the server
    asked for.
    """

    code: str
    message: str
    again: bool = False
    wait: float | None = None


@dataclass(frozen=True, slots=True)
class RateLimits:
    """Requests and tokens that a server still accepts, and seconds until these limits reset.

    None where the server reports nothing.
    """

    requests: int | None = None
    requests_reset: float | None = None
    tokens: int | None = None
    tokens_reset: float | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """Result of one attempt to get a reply: text and status, or a fault.

    Attributes
    ----------
    text : the answer without thinking and special tokens, otherwise unchanged, except that NUL and
        lone surrogates, which no file can hold, are replaced by U+FFFD; "" for white space only.
    status : TEXT, EMPTY, CUT_OFF (token limit reached, or thinking only), REFUSED_PROMPT,
        REFUSED_GENERATION, REFUSED (of a scripted reply) or ERROR.
    thinking : the model's thinking, cut from the reply or sent in its own field; "" for none.
    fault : why the status is ERROR; else None.
    logprobs : in the server's own form, if requested and supported.
    raw : the server's whole response: JSON, else text; None without a response.
    """

    text: str
    status: AnswerStatus
    finish_reason: str = ""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    logprobs: Any = None
    raw: Any = None
    fault: Fault | None = None
    allowance: RateLimits | None = None
    thinking: str = ""

    @classmethod
    def from_fault(cls, fault: Fault, raw: Any = None) -> Self:
        """Return a reply of status ERROR with the given fault."""
        return cls("", AnswerStatus.ERROR, raw=raw, fault=fault)


class ChatModel(ABC):
    """A language model; `async with` keeps its connections or process open for requests.

    Attributes
    ----------
    kind, address, model : back-end, server address and model name; parts of a request's key.
    name : default name of the model in tables.
    at_once : largest useful number of concurrent requests; None for no limit.
    by_id : whether replies also depend on the item's id.
    adaptations : changes made to requests because the server refused them, in the order of the
        changes, such as "temperature left out".
    """

    kind: str
    address: str
    model: str
    name: str
    at_once: int | None = None
    by_id = False
    adaptations: tuple[str, ...] = ()

    @property
    def spec(self) -> str:
        """Text (SPEC) that names this model on the command line and in a registration."""
        return f"{self.kind}:{self.model}" + (f"@{self.address}" if self.address else "")

    async def open(self, at_once: int) -> None:  # noqa: B027 - most need nothing
        """Prepare for `at_once` concurrent requests: open connections or start a process.

        Raises ChatError if the model is not available.
        """

    async def close(self) -> None:  # noqa: B027
        """Close the connections or the process that `open` started."""

    @abstractmethod
    async def reply(self, request: ChatRequest) -> Reply:
        """Send one request and return the reply; a failure is a reply with a fault."""

    def build_request_body(self, request: ChatRequest) -> dict[str, Any]:
        """Return the JSON request body as it is sent and stored, without the API key."""
        messages = [dict(message) for message in request.messages]
        return {"model": self.model, "messages": messages, **request.parameters}


OTHERS = "others"
# Of a longer list the others are summed up.
MAX_DETAIL = 100


@dataclass(frozen=True, slots=True)
class UnlistedTokens:
    """Summary of the tokens missing from a list of the likeliest: number, probability, entropy.

    `entropy` is their part of the entropy, -sum p ln p.
    """

    tokens: int
    probability: float
    entropy: float


@dataclass(frozen=True, slots=True)
class TokenLogprob:
    """A token of a reply with its log-probability and the likeliest alternatives.

    Attributes
    ----------
    data : bytes of the token, possibly a part of a character.
    logprob : natural log-probability of the token; NaN if it is not a number.
    top : (bytes, log-probability) of the likeliest tokens at this position, as sent.
    others : summary of the tokens at this position that are not in `top`; None without one.
    """

    data: bytes
    logprob: float
    top: tuple[tuple[bytes, float], ...]
    others: UnlistedTokens | None = None


def shorten_logprobs(logprobs: Any) -> Any:
    """Return a reply's logprobs with at most 100 alternatives a token; other values unchanged."""
    if not isinstance(logprobs, dict) or not isinstance(logprobs.get("content"), list):
        return logprobs
    return {**logprobs, "content": [_shorten_entry(token) for token in logprobs["content"]]}


def _shorten_entry(entry: Any) -> Any:
    """Return a token's entry with at most 100 alternatives and a summary of the others."""
    listed = entry.get("top_logprobs") if isinstance(entry, dict) else None
    if not isinstance(listed, list) or len(listed) <= MAX_DETAIL:
        return entry
    logs = np.array([_get_logprob(one) for one in listed])
    if np.isnan(logs).any():  # no distribution: it stays as it came, to be refused
        return entry
    order = np.argsort(-logs, kind="stable")
    # Bounded, because exp of a large number from a faulty server overflows.
    p = np.exp(np.minimum(logs[order[MAX_DETAIL:]], 1.0))
    # p log p is 0 at p = 0, where numpy gives NaN.
    positive = p[p > 0]
    others = UnlistedTokens(len(p), float(p.sum()), -float((positive * np.log(positive)).sum()))
    return {
        **entry,
        "top_logprobs": [listed[place] for place in order[:MAX_DETAIL].tolist()],
        OTHERS: {
            "tokens": others.tokens,
            "probability": others.probability,
            "entropy": others.entropy,
        },
    }


def parse_token_logprobs(logprobs: Any) -> list[TokenLogprob] | None:
    """Return the tokens in a reply's logprobs; None if the logprobs are missing or malformed."""
    content = logprobs.get("content") if isinstance(logprobs, Mapping) else None
    if not isinstance(content, list) or not content:
        return None
    if not all(isinstance(planned, Mapping) for planned in content):
        return None
    return [_parse_token(part) for part in content]


def _parse_token(entry: Mapping[str, Any]) -> TokenLogprob:
    """Return the token of one logprobs entry: its bytes, log-probability and alternatives."""
    listed = entry.get("top_logprobs")
    top = [one for one in listed if isinstance(one, Mapping)] if isinstance(listed, list) else []
    return TokenLogprob(
        _get_bytes(entry),
        _get_logprob(entry),
        tuple((_get_bytes(token), _get_logprob(token)) for token in top),
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
    """Return the log-probability of an entry; NaN if it is not a number."""
    value = entry.get("logprob") if isinstance(entry, Mapping) else None
    # JSON true is a bool, which Python counts among the ints.
    if isinstance(value, bool) or not isinstance(value, int | float):
        return math.nan
    return float(value)


def _parse_others(value: Any) -> UnlistedTokens | None:
    """Return the stored summary of unlisted tokens; None without a valid one."""
    if not isinstance(value, Mapping):
        return None
    try:
        return UnlistedTokens(
            int(value["tokens"]), float(value["probability"]), float(value["entropy"])
        )
    except (KeyError, TypeError, ValueError, OverflowError):
        return None
