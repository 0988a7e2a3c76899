"""Prompts, planned requests, and stores of replies.

Define prompts: a system text and a template with named fields, identified by a hash. Plan the
requests: one conversation for each item and sample, with its own seed and key. Define the protocol
of reply stores, and a store in memory.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Awaitable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from string import Formatter
from typing import Any, Protocol

from evaluation.core.backends.chat.contract import ChatModel, ChatRequest, Message, Reply

SYSTEM = "You answer questions in one or two short sentences."
CLOSED = "closed"
PASSAGE = "passage"
TEMPLATES = {
    CLOSED: "Question: {question}{choices}\nAnswer in one or two short sentences.",
    PASSAGE: (
        "Read this text.\n\n{passage}\n\nQuestion: {question}{choices}\n"
        "Answer in one or two short sentences."
    ),
}
FIELDS = {
    CLOSED: ("question", "choices", "category", "language"),
    PASSAGE: ("question", "choices", "category", "language", "passage", "title"),
}
NEEDED = {CLOSED: ("question",), PASSAGE: ("question", "passage")}


def hash_prompt(system: str, template: str) -> str:
    """Return the SHA-256 of a system text and a template, as hexadecimal digits."""
    # As a JSON list, so that moving text from one part to the other changes the hash.
    both = json.dumps([system, template], ensure_ascii=False)
    return hashlib.sha256(both.encode()).hexdigest()


class TemplateError(ValueError):
    """Error: a prompt template cannot be used; the message states why and what to do.

    `code` and `values` identify it for pages and the REST API: "braces", "bare" (a field
    with more than its name), "unknown", "of_passage" (a field that only a passage has), "missing".
    """

    def __init__(self, message: str, code: str, **values: str) -> None:
        super().__init__(message)
        self.code, self.values = code, values


@dataclass(frozen=True)
class Prompt:
    """A prompt: system text ("" for none), template, and strategy ("closed" or "passage").

    A template is text with names in braces, `{question}`; a brace itself is written twice. Raises
    TemplateError for an unknown or missing field of the strategy, and for braces that do not match.
    """

    strategy: str
    template: str
    system: str = SYSTEM

    def __post_init__(self) -> None:
        """Raise TemplateError if the template has an unknown field, or lacks a required one."""
        known, used = FIELDS[self.strategy], [name for _, name in parse_template(self.template)]
        for name in used:
            if name is None or name in known:
                continue
            elsewhere = name in FIELDS[PASSAGE]
            raise TemplateError(
                f"the field {{{name}}} "
                + (f"needs the strategy {PASSAGE}" if elsewhere else "is unknown")
                + f": the template may use {', '.join(f'{{{field}}}' for field in known)}",
                "of_passage" if elsewhere else "unknown",
                field=f"{{{name}}}",
                known=", ".join(f"{{{field}}}" for field in known),
            )
        for name in NEEDED[self.strategy]:
            if name not in used:
                raise TemplateError(
                    f"the field {{{name}}} is missing, which the strategy {self.strategy} needs",
                    "missing",
                    field=f"{{{name}}}",
                )

    @property
    def hash(self) -> str:
        """Version of the prompt: SHA-256 of the system text and the template."""
        return hash_prompt(self.system, self.template)

    def build_messages(self, fields: Mapping[str, str]) -> tuple[Message, ...]:
        """Return the messages to send about one item; fields that are not given stay empty."""
        content = "".join(
            text + (fields.get(name, "") if name else "")
            for text, name in parse_template(self.template)
        )
        user = {"role": "user", "content": content}
        return ({"role": "system", "content": self.system}, user) if self.system else (user,)


def build_item_fields(
    question: str,
    choices: Sequence[str] = (),
    category: str = "",
    language: str = "",
    passage: str = "",
    title: str = "",
) -> dict[str, str]:
    """Return the values of a template's fields for a question, by field name."""
    return {
        "question": question,
        "choices": "".join(
            ["\nChoices:", *(f"\n- {choice}" for choice in choices)] if choices else ""
        ),
        "category": category,
        "language": language,
        "passage": passage,
        "title": title,
    }


def parse_template(template: str) -> list[tuple[str, str | None]]:
    """Return a template's parts as (text, name of the field after it or None) pairs."""
    try:
        parts = list(Formatter().parse(template))
    except ValueError as error:
        raise TemplateError(
            f"the braces of the template do not match ({error}): write {{{{ for a brace", "braces"
        ) from error
    for _, name, form, conversion in parts:
        if form or conversion:
            raise TemplateError(
                f"the field {{{name}}} may hold its name only", "bare", field=f"{{{name}}}"
            )
    return [(text, name) for text, name, _, _ in parts]


MOST_SEEDS = 2**31
# What the asking itself says in every request; no parameter of a model.
FIXED = frozenset({"model", "prompt", "messages", "stream", "n"})


@dataclass(frozen=True, slots=True)
class Item:
    """One item to ask a model: an id, a conversation, and the number of samples.

    `parameters` are sent for this item alone, over those of all items.
    """

    id: str
    messages: tuple[Message, ...]
    samples: int = 1
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PlannedRequest:
    """A planned request, with its key and the index (`place`) of its item, from 0."""

    key: str
    request: ChatRequest
    place: int


def plan_requests(
    model: ChatModel,
    items: Sequence[Item],
    parameters: Mapping[str, Any],
    seed: int | None = 0,
) -> list[PlannedRequest]:
    """Return the requests for all items and samples, all items' first samples first.

    Parameters set to None are left out. With `seed` None no seed is sent; else sample 0 has this
    seed, and each further sample a seed derived from it.
    """
    values = {name: value for name, value in parameters.items() if value is not None}
    planned = []
    # All first samples come before second ones: a run that ends early has each question once.
    for sample in range(max((item.samples for item in items), default=0)):
        seeds = {} if seed is None else {"seed": derive_sample_seed(seed, sample)}
        sent = {**values, **seeds}
        for place, item in enumerate(items):
            if sample < item.samples:
                own = {**sent, **item.parameters}
                request = ChatRequest(item.id, item.messages, own, sample)
                planned.append(PlannedRequest(compute_request_key(model, request), request, place))
    return planned


def derive_sample_seed(seed: int, sample: int) -> int:
    """Return a sample's seed: `seed` for sample 0, else a hash of both, 0 to 2^31 - 1."""
    if not sample:
        return seed
    # Not seed + sample: runs with neighbouring seeds would then share most of their seeds.
    digest = hashlib.sha256(f"{seed}:{sample}".encode()).digest()
    return int.from_bytes(digest[:8], "big") % MOST_SEEDS


def compute_request_key(model: ChatModel, request: ChatRequest) -> str:
    """Return a request's key: the SHA-256 of all that its reply may depend on.

    It covers back-end, address, model, messages, all parameters (with the seed) and the sample; for
    back-ends that look replies up by id, the item's id as well.
    """
    parts: list[Any] = [model.kind, model.address, model.model]
    parts += [[dict(message) for message in request.messages], dict(request.parameters)]
    parts += [request.sample, *([request.id] if model.by_id else [])]
    return hashlib.sha256(_serialize(parts).encode()).hexdigest()


def group_by_key(planned: Sequence[PlannedRequest]) -> Iterator[list[PlannedRequest]]:
    """Yield groups of requests with equal keys (equal content), which are sent only once."""
    groups: dict[str, list[PlannedRequest]] = {}
    for entry in planned:
        groups.setdefault(entry.key, []).append(entry)
    yield from groups.values()


def _serialize(value: Any) -> str:
    """Return a value as compact JSON with sorted keys, for hashing."""
    # Sorted, because equal parameters in another order must have the same key.
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


@dataclass(frozen=True, slots=True)
class RecordedReply:
    """A model's reply as it is stored, with attempts, seconds and cost.

    `attempts` is 0 for a request that was not sent, because the model was given up. `cost` is in
    the currency of the prices, `seconds` is the duration of the last attempt.
    """

    reply: Reply
    attempts: int = 1
    seconds: float = 0.0
    cost: float = 0.0


class ReplyStore(Protocol):
    """Protocol of a store of models' replies; a stored reply is never lost.

    A store that works asynchronously returns an awaitable in place of None.
    """

    def has_reply(self, planned: PlannedRequest) -> bool:
        """Return whether the request has a stored reply (an ERROR does not count)."""

    def knows_key(self, key: str) -> bool:
        """Return whether a reply to a request with this key is stored for any item."""

    def copy_known_reply(self, planned: PlannedRequest) -> Awaitable[None] | None:
        """Store the known reply of the request's key for the request's own item, too."""

    def store_reply(self, planned: PlannedRequest, kept: RecordedReply) -> Awaitable[None] | None:
        """Store a reply; raises OSError if it cannot be stored, which ends the asking."""


class MemoryStore:
    """A reply store in memory, by item index and sample."""

    def __init__(self) -> None:
        self.kept: dict[tuple[int, int], RecordedReply] = {}
        self._by_key: dict[str, RecordedReply] = {}

    def has_reply(self, planned: PlannedRequest) -> bool:
        """Return False: replies in memory are only found by their keys (`knows_key`)."""
        return False

    def knows_key(self, key: str) -> bool:
        """Return whether a reply to a request with this key is stored for any item."""
        return key in self._by_key

    def copy_known_reply(self, planned: PlannedRequest) -> None:
        """Store the known reply of the request's key for the request's own item, too."""
        self.kept[planned.place, planned.request.sample] = self._by_key[planned.key]

    def store_reply(self, planned: PlannedRequest, kept: RecordedReply) -> None:
        """Store a reply; one without a fault can be copied by its key."""
        self.kept[planned.place, planned.request.sample] = kept
        if kept.reply.fault is None:
            self._by_key[planned.key] = kept
