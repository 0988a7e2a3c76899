"""Tokens and money: what a request may cost at most, and what is left."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from evaluation.backends.chat.contract import ChatRequest, Reply

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
    """Money for a million tokens read and a million written, in any currency."""

    prompt: float = 0.0
    completion: float = 0.0

    def cost(self, prompt_tokens: float, completion_tokens: float) -> float:
        """Return the price of so many tokens."""
        return (prompt_tokens * self.prompt + completion_tokens * self.completion) / PER


def prompt_tokens(request: ChatRequest) -> int:
    """Return the tokens of a request, reckoned: a token for every 4 bytes of UTF-8."""
    texts = (message["content"] for message in request.messages)
    return sum(TOKENS_A_MESSAGE + tokens_of(text) for text in texts)


def tokens_of(text: str) -> int:
    """Return the tokens of a text, reckoned as `prompt_tokens` does."""
    return math.ceil(len(text.encode(errors="replace")) / BYTES_A_TOKEN)


def most_completion_tokens(request: ChatRequest) -> int:
    """Return how many tokens the reply may have."""
    for name in ("max_tokens", "max_completion_tokens"):
        limit = request.parameters.get(name)
        if isinstance(limit, int) and limit > 0:
            return limit
    return UNLIMITED_REPLY


def tokens_used(request: ChatRequest, reply: Reply) -> tuple[int, int]:
    """Return the tokens read and written: as the server counted them, else reckoned."""
    read, written = reply.prompt_tokens, reply.completion_tokens
    return (
        prompt_tokens(request) if read is None else read,
        tokens_of(reply.text + reply.thinking) if written is None else written,
    )


@dataclass
class Purse:
    """What may be spent, by all who share it; `limit` None for no limit.

    `spent` may begin above 0 where earlier asking counts.
    """

    limit: float | None = None
    spent: float = 0.0
    reserved: float = field(default=0.0, init=False)
    under_way: int = field(default=0, init=False)


class Budget:
    """What may be spent. Each request is reserved for at its highest price before it is sent.

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
        """What was spent."""
        return self.purse.spent

    @property
    def under_way(self) -> int:
        """How many requests were sent and not settled yet."""
        return self.purse.under_way

    def most(self, request: ChatRequest) -> float:
        """Return the highest price of a request."""
        return self.prices.cost(prompt_tokens(request), most_completion_tokens(request))

    def fits(self, price: float) -> bool:
        """Whether a request of this price may be sent now."""
        purse = self.purse
        # A sum of floats that should be the limit may be a hair above it.
        return purse.limit is None or purse.spent + purse.reserved + price <= purse.limit * (
            1 + 1e-9
        )

    def reserve(self, price: float) -> None:
        """Keep the price of a request that is sent now."""
        self.purse.reserved += price
        self.purse.under_way += 1

    def settle(self, price: float, request: ChatRequest, reply: Reply) -> float:
        """Give a reservation back and return what the reply cost.

        A request that the server may have answered (`MAYBE_CHARGED`) costs its highest price; one
        that it refused costs nothing.
        """
        purse = self.purse
        purse.under_way -= 1
        # Sums of floats leave a trace behind, and would count it against the limit.
        purse.reserved = purse.reserved - price if purse.under_way else 0.0
        came = reply.fault is None or reply.completion_tokens is not None
        cost = self.prices.cost(*tokens_used(request, reply)) if came else 0.0
        if not came and reply.fault is not None and reply.fault.code in MAYBE_CHARGED:
            cost = self.most(request)
        purse.spent += cost
        return cost
