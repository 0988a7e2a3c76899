"""What every chat back-end promises: one request in, one reply out, and never a lost reason."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from annotations.exchange.records import AnswerStatus

Message = Mapping[str, str]
"""`role` (system, user, assistant) and `content`."""


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One fresh conversation.

    Attributes
    ----------
    id : of the item that is asked about; scripted replies go by it, servers never see it.
    messages : from the first to the one to reply to.
    parameters : sent as they are: temperature, max_tokens, seed, logprobs ...
    sample : counts repetitions of the same request from 0.
    """

    id: str
    messages: tuple[Message, ...]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    sample: int = 0


@dataclass(frozen=True, slots=True)
class Fault:
    """Why there is no answer. `message` is for people, `code` for programs.

    `again` says that it may pass, `wait` how many seconds the server wants to be left alone.
    """

    code: str
    message: str
    again: bool = False
    wait: float | None = None


@dataclass(frozen=True, slots=True)
class Allowance:
    """What a server says it will still take: requests and tokens left, seconds until more come.

    None where it says nothing.
    """

    requests: int | None = None
    requests_reset: float | None = None
    tokens: int | None = None
    tokens_reset: float | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back of one attempt.

    Attributes
    ----------
    text : the answer, without thinking and special tokens; else as it came, except that half
        characters and NUL, which no file can hold, are replaced by U+FFFD; "" where nothing but
        white space came.
    status : TEXT, EMPTY, CUT_OFF (its length was used up, or it only thought), REFUSED_PROMPT,
        REFUSED_GENERATION (REFUSED where only a script knows which) or ERROR.
    thinking : what was put aside of the reply, or came beside it; "" without any.
    fault : with ERROR why; else None.
    logprobs : where asked for and offered, in the server's own form.
    raw : the whole answer as it came: JSON, else text; None where there was none.
    """

    text: str
    status: AnswerStatus
    finish_reason: str = ""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    logprobs: Any = None
    raw: Any = None
    fault: Fault | None = None
    allowance: Allowance | None = None
    thinking: str = ""

    @classmethod
    def failed(cls, fault: Fault, raw: Any = None) -> Self:
        """Return the reply that says why there is none."""
        return cls("", AnswerStatus.ERROR, raw=raw, fault=fault)


class ChatModel(ABC):
    """A language model; used inside `async with`, where its connections or process live.

    Attributes
    ----------
    kind, address, model : which back-end, where, and which model there: parts of a cache key.
    name : what the model is called in tables where nobody named it.
    at_once : requests that make sense at the same time; None for as many as wanted.
    by_id : whether replies depend on the id of the item, too.
    adaptations : what was changed in requests because the server refused them as they were, such
        as "temperature left out"; in the order of the changes.
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
        """The SPEC that names this model."""
        return f"{self.kind}:{self.model}" + (f"@{self.address}" if self.address else "")

    async def open(self, at_once: int) -> None:  # noqa: B027 - most need nothing
        """Get ready for so many requests at once. ChatError: the back-end cannot be had."""

    async def close(self) -> None:  # noqa: B027
        """End what `open` began."""

    @abstractmethod
    async def reply(self, request: ChatRequest) -> Reply:
        """Ask once. Whatever a server does is a reply, if only one with a fault."""

    def body(self, request: ChatRequest) -> dict[str, Any]:
        """Return the request as it is sent and stored: without a key."""
        messages = [dict(message) for message in request.messages]
        return {"model": self.model, "messages": messages, **request.parameters}
