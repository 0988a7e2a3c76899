"""Somebody else who uses the site while it is attacked."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable
from types import TracebackType
from typing import Self

import httpx

from tests.attack.declaration import Finding, at_most, exactly
from tests.attack.site import Site

EVERY = 0.25


class Bystander:
    """Does the same again and again from a thread of its own while a block lasts.

    `statuses` counts the answers by their code, 0 for none; `longest` are the seconds of the
    slowest.
    """

    def __init__(self, act: Callable[[], httpx.Response]) -> None:
        self.statuses: Counter[int] = Counter()
        self.longest = 0.0
        self._act = act
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._go_on, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stop.set()
        self._thread.join()

    def _go_on(self) -> None:
        while True:
            began = time.monotonic()
            try:
                status = self._act().status_code
            except httpx.HTTPError:
                status = 0
            self.longest = max(self.longest, time.monotonic() - began)
            self.statuses[status] += 1
            if self._stop.wait(EVERY):
                return

    @property
    def failed(self) -> int:
        """How many pages were errors of the site, or never came."""
        return sum(n for status, n in self.statuses.items() if status == 0 or status >= 500)

    def findings(self, most: float, what: str = "another visitor's page") -> list[Finding]:
        """Return that no page failed and none took longer than `most` seconds."""
        return [
            exactly(f"of {self.statuses.total()} times {what}: failed", self.failed, 0),
            at_most(f"{what}, the slowest", round(self.longest, 1), most, "s"),
        ]


def visitor(site: Site) -> Bystander:
    """Return somebody who looks at the page to log in, each time over a new connection."""

    def look() -> httpx.Response:
        with site.visitor() as client:
            return client.get("/admin/login/")

    return Bystander(look)
