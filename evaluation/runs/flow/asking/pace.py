"""Limit the pace of requests: limits per minute, and pauses of all requests."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

from evaluation.core.backends.chat.contract import RateLimits

MINUTE = 60.0
LONGEST_PAUSE = 300.0
"""Seconds; a server that asks for a longer pause is tried again after it all the same."""


Reserve = Callable[[int, float], Awaitable[float]]
"""Function that reserves n turns of some seconds each among all processes that ask a model.

Returns the seconds until the first one.
"""


class Pace:
    """Limits requests and tokens per minute, and pauses when the server demands it.

    Requests and tokens are spread evenly over the minute, without bursts. Limits that the server
    reports (x-ratelimit headers, Retry-After) and a server that is down delay all requests. With
    `reserve`, all processes that ask the same model share the requests per minute.
    """

    def __init__(
        self,
        requests_a_minute: float | None = None,
        tokens_a_minute: float | None = None,
        reserve: Reserve | None = None,
    ) -> None:
        self._request = MINUTE / requests_a_minute if requests_a_minute else 0.0
        self._token = MINUTE / tokens_a_minute if tokens_a_minute else 0.0
        self._reserve = reserve if self._request else None
        self._reserving = asyncio.Lock()
        self._reserved: list[float] = []
        self._next = 0.0
        self._open_at = 0.0

    def pause_requests(self, seconds: float) -> None:
        """Delay new requests by `seconds`, at most 300."""
        until = time.monotonic() + min(seconds, LONGEST_PAUSE)
        self._open_at = max(self._open_at, until)

    def pause_if_exhausted(self, allowance: RateLimits | None, tokens: int) -> None:
        """Pause new requests if the server's allowance is too small for one of `tokens` tokens."""
        if allowance is None:
            return
        if allowance.requests is not None and allowance.requests <= 0:
            self.pause_requests(allowance.requests_reset or 0.0)
        if allowance.tokens is not None and allowance.tokens < tokens:
            self.pause_requests(allowance.tokens_reset or 0.0)

    @property
    def is_open(self) -> bool:
        """Whether a request may be sent at once, so that `wait_for_turn` does not wait."""
        return not (self._request or self._token) and self._open_at <= time.monotonic()

    async def wait_for_turn(self, tokens: int) -> None:
        """Wait until a request of this many tokens may be sent."""
        if self._request or self._token:
            shared = await self._take_reserved_time()
            now = time.monotonic()
            mine = max(self._next, shared, now)
            # Reserved before the wait, so that tasks that come meanwhile queue up behind this
            # request.
            self._next = mine + max(self._request, tokens * self._token)
            if mine > now:
                await asyncio.sleep(mine - now)
        # A loop: another task may have prolonged the pause during the sleep.
        while (wait := self._open_at - time.monotonic()) > 0:
            await asyncio.sleep(wait)

    async def _take_reserved_time(self) -> float:
        """Return the time at which this process may send next; 0 if processes share no limit."""
        if self._reserve is None:
            return 0.0
        # Those of a second at once: a fast model would need a transaction for each request.
        count = max(1, int(1.0 / self._request))
        async with self._reserving:
            # A turn that was not used in its time is lost: sent later, beside the turns of the
            # other processes, it would exceed the limit.
            late = time.monotonic() - self._request
            self._reserved = [turn for turn in self._reserved if turn >= late]
            if not self._reserved:
                wait = await self._reserve(count, self._request)
                first = time.monotonic() + wait
                self._reserved = [first + place * self._request for place in range(count)]
            return self._reserved.pop(0)
