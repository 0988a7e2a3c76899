"""Estimate tokens, and limit the money that an asking spends."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from evaluation.core.backends.chat.contract import ChatRequest, Reply

PER = 1_000_000
"""Prices are for so many tokens, as providers state them."""

BYTES_A_TOKEN = 4
TOKENS_A_MESSAGE = 4
UNLIMITED_REPLY = 1024
"""Tokens that are reckoned for a reply without max_tokens."""

MAYBE_CHARGED = frozenset(
    {"timeout", "no_reply", "not_json", "wrong_charset", "too_large", "answer_too_long"}
)
"""Faults after which the server may have worked, and asks money for it: what came cannot be read,
or did not come in time."""


@dataclass(frozen=True)
class Prices:
    """Prices of a million prompt tokens and of a million completion tokens, in any currency."""

    prompt: float = 0.0
    completion: float = 0.0

    def cost(self, prompt_tokens: float, completion_tokens: float) -> float:
        """Return the price of numbers of prompt and completion tokens."""
        return (prompt_tokens * self.prompt + completion_tokens * self.completion) / PER


def estimate_prompt_tokens(request: ChatRequest) -> int:
    """Return the estimated tokens of a request's prompt: one per 4 bytes of UTF-8."""
    texts = (message["content"] for message in request.messages)
    return sum(TOKENS_A_MESSAGE + estimate_tokens(text) for text in texts)


def estimate_tokens(text: str) -> int:
    """Return the estimated tokens of a text: one per 4 bytes of UTF-8, rounded up."""
    return math.ceil(len(text.encode(errors="replace")) / BYTES_A_TOKEN)


def find_most_completion_tokens(request: ChatRequest) -> int:
    """Return the reply's token limit in a request; 1,024 if the request sets none."""
    for name in ("max_tokens", "max_completion_tokens"):
        limit = request.parameters.get(name)
        if isinstance(limit, int) and limit > 0:
            return limit
    return UNLIMITED_REPLY


def count_tokens_used(request: ChatRequest, reply: Reply) -> tuple[int, int]:
    """Return prompt and completion tokens of a reply, as the server counted, else estimated."""
    read, written = reply.prompt_tokens, reply.completion_tokens
    return (
        estimate_prompt_tokens(request) if read is None else read,
        estimate_tokens(reply.text + reply.thinking) if written is None else written,
    )


@dataclass
class Purse:
    """Money shared by all models that are asked together; `limit` is None for no limit.

    `spent` may begin above 0 where earlier asking counts.
    """

    limit: float | None = None
    spent: float = 0.0
    reserved: float = field(default=0.0, init=False)
    under_way: int = field(default=0, init=False)


class Budget:
    """Money for one model's requests: the highest price of each is reserved before it is sent.

    So the limit is kept even with many requests at once, as far as tokens are reckoned right.
    Models that are asked together share a `purse`, each with its prices.
    """

    def __init__(
        self,
        prices: Prices,
        limit: float | None = None,
        spent: float = 0.0,
        purse: Purse | None = None,
    ) -> None:
        self.prices = prices
        self.purse = purse or Purse(limit, spent)

    @property
    def spent(self) -> float:
        """Money spent so far by all models that share the purse."""
        return self.purse.spent

    @property
    def under_way(self) -> int:
        """Number of requests that are sent but not paid for yet."""
        return self.purse.under_way

    def most(self, request: ChatRequest) -> float:
        """Return the highest possible price of a request: its prompt and the longest reply."""
        return self.prices.cost(
            estimate_prompt_tokens(request), find_most_completion_tokens(request)
        )

    def can_spend(self, price: float) -> bool:
        """Return whether the budget allows a request of this price now."""
        purse = self.purse
        # A sum of floats that should be the limit may be a hair above it.
        return purse.limit is None or purse.spent + purse.reserved + price <= purse.limit * (
            1 + 1e-9
        )

    def reserve(self, price: float) -> None:
        """Reserve money for a request that is about to be sent."""
        self.purse.reserved += price
        self.purse.under_way += 1

    def settle(self, price: float, request: ChatRequest, reply: Reply) -> float:
        """Replace a request's reserved price by the cost of its reply, and return the cost.

        A request that the server may have answered (`MAYBE_CHARGED`) costs its highest price; one
        that it refused costs nothing.
        """
        purse = self.purse
        purse.under_way -= 1
        # Sums of floats leave a trace behind, and would count it against the limit.
        purse.reserved = purse.reserved - price if purse.under_way else 0.0
        came = reply.fault is None or reply.completion_tokens is not None
        cost = self.prices.cost(*count_tokens_used(request, reply)) if came else 0.0
        if not came and reply.fault is not None and reply.fault.code in MAYBE_CHARGED:
            cost = self.most(request)
        purse.spent += cost
        return cost
