"""Define the contract of chat back-ends: each request gets one reply, with text or a reason."""

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
    """One conversation to send to a model, with parameters; independent of other requests.

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
    """Why an attempt got no answer: a code, a message for people, whether and when to retry.

    `again` is True if another attempt may succeed; `wait` is the pause in seconds that the server
    asked for.
    """

    code: str
    message: str
    again: bool = False
    wait: float | None = None


@dataclass(frozen=True, slots=True)
class Allowance:
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
        """Return a reply of status ERROR with the given fault."""
        return cls("", AnswerStatus.ERROR, raw=raw, fault=fault)


class ChatModel(ABC):
    """A language model; `async with` keeps its connections or process open for requests.

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
        """Text (SPEC) that names this model on the command line and in a registration."""
        return f"{self.kind}:{self.model}" + (f"@{self.address}" if self.address else "")

    async def open(self, at_once: int) -> None:  # noqa: B027 - most need nothing
        """Prepare for `at_once` concurrent requests. Raises ChatError."""

    async def close(self) -> None:  # noqa: B027
        """Close the connections or the process that `open` started."""

    @abstractmethod
    async def reply(self, request: ChatRequest) -> Reply:
        """Send one request and return the reply; a failure is a reply with a fault."""

    def body(self, request: ChatRequest) -> dict[str, Any]:
        """Return the JSON request body as it is sent and stored, without the API key."""
        messages = [dict(message) for message in request.messages]
        return {"model": self.model, "messages": messages, **request.parameters}
