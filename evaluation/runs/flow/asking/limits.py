"""Limit the pace of requests: limits per minute, and pauses of all requests."""

from __future__ import annotations

import asyncio
import time

from evaluation.core.backends.chat.contract import Allowance

MINUTE = 60.0
LONGEST_PAUSE = 300.0
"""Seconds; a server that asks for a longer pause is tried again after it all the same."""


class Pace:
    """Limiter of requests and tokens per minute, which also pauses when the server demands it.

    Requests and tokens are spread evenly over the minute, without bursts. What the server tells
    of its limits (x-ratelimit headers, Retry-After) and a server that is down hold up everybody.
    """

    def __init__(
        self, requests_a_minute: float | None = None, tokens_a_minute: float | None = None
    ) -> None:
        self._request = MINUTE / requests_a_minute if requests_a_minute else 0.0
        self._token = MINUTE / tokens_a_minute if tokens_a_minute else 0.0
        self._next = 0.0
        self._open_at = 0.0

    def pause(self, seconds: float) -> None:
        """Let no request start for `seconds` from now, at most 300."""
        until = time.monotonic() + min(seconds, LONGEST_PAUSE)
        self._open_at = max(self._open_at, until)

    def heed(self, allowance: Allowance | None, tokens: int) -> None:
        """Pause if the server's remaining allowance is too small for a request of `tokens`."""
        if allowance is None:
            return
        if allowance.requests is not None and allowance.requests <= 0:
            self.pause(allowance.requests_reset or 0.0)
        if allowance.tokens is not None and allowance.tokens < tokens:
            self.pause(allowance.tokens_reset or 0.0)

    @property
    def is_open(self) -> bool:
        """Whether a request may start at once, so that `turn` does not wait."""
        return not (self._request or self._token) and self._open_at <= time.monotonic()

    async def turn(self, tokens: int) -> None:
        """Wait until a request of this many tokens may be sent."""
        if self._request or self._token:
            now = time.monotonic()
            mine = max(self._next, now)
            self._next = mine + max(self._request, tokens * self._token)
            if mine > now:
                await asyncio.sleep(mine - now)
        while (wait := self._open_at - time.monotonic()) > 0:
            await asyncio.sleep(wait)
