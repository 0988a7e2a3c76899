"""Plan the requests: one conversation for each item and sample, with its own seed and key."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evaluation.core.backends.chat.contract import ChatModel, ChatRequest, Message

MOST_SEEDS = 2**31
# What the asking itself says in every request; no parameter of a model.
FIXED = frozenset({"model", "prompt", "messages", "stream", "n"})


@dataclass(frozen=True, slots=True)
class Item:
    """What to ask a model once or several times: an id, a conversation, number of samples."""

    id: str
    messages: tuple[Message, ...]
    samples: int = 1


@dataclass(frozen=True, slots=True)
class Planned:
    """A planned request, with the key of its reply and the index of its item, from 0."""

    key: str
    request: ChatRequest
    place: int


def plan_requests(
    model: ChatModel,
    items: Sequence[Item],
    parameters: Mapping[str, Any],
    seed: int | None = 0,
) -> list[Planned]:
    """Return the requests for all items and samples, all items' first samples first.

    A parameter that is None is left out. With `seed` None no seed is sent; else sample 0 has it
    and each further one a seed derived from it.
    """
    given = {name: value for name, value in parameters.items() if value is not None}
    planned = []
    # All first samples come before second ones: a run that ends early has each question once.
    for sample in range(max((item.samples for item in items), default=0)):
        seeds = {} if seed is None else {"seed": derive_seed(seed, sample)}
        sent = {**given, **seeds}
        for place, item in enumerate(items):
            if sample < item.samples:
                request = ChatRequest(item.id, item.messages, sent, sample)
                planned.append(Planned(compute_key(model, request), request, place))
    return planned


def derive_seed(seed: int, sample: int) -> int:
    """Return a sample's seed: `seed` for sample 0, else a hash of both, 0 to 2^31 - 1."""
    if not sample:
        return seed
    digest = hashlib.sha256(f"{seed}:{sample}".encode()).digest()
    return int.from_bytes(digest[:8], "big") % MOST_SEEDS


def compute_key(model: ChatModel, request: ChatRequest) -> str:
    """Return a request's key: the SHA-256 of all that its reply may depend on.

    Back-end, address, model, messages, every parameter (the seed is one) and the sample; where
    replies go by it, the item's id as well.
    """
    parts: list[Any] = [model.kind, model.address, model.model]
    parts += [[dict(message) for message in request.messages], dict(request.parameters)]
    parts += [request.sample, *([request.id] if model.by_id else [])]
    return hashlib.sha256(_serialize(parts).encode()).hexdigest()


def group_by_key(planned: Sequence[Planned]) -> Iterator[list[Planned]]:
    """Yield groups of requests with the same key, which are asked only once."""
    groups: dict[str, list[Planned]] = {}
    for one in planned:
        groups.setdefault(one.key, []).append(one)
    yield from groups.values()


def _serialize(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))
