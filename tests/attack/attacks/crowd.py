"""Fifty people read and twenty write at once, each a click a second."""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import httpx

from tests.attack.declaration import Attack, Finding, Scale, at_most, exactly
from tests.attack.site import Site

READERS, WRITERS = 50, 20
PAUSE = 1.0
"""Seconds between an answer and the next click, on average: ten times as fast as people read."""
SLOW = 20.0
"""Seconds that 95 of 100 requests may take, whatever else the machine does."""
PROCESSOR = 160.0
"""Milliseconds of the site's processor time for a request: what decides how long a crowd waits."""


class Person(threading.Thread):
    """Clicks until the time is over; keeps the seconds of every answer, and what failed."""

    def __init__(self, clicks: list[Callable[[], httpx.Response]], seed: str, until: float) -> None:
        super().__init__(daemon=True)
        self.clicks, self.random, self.until = clicks, random.Random(seed), until
        self.seconds: list[float] = []
        self.failed: list[str] = []

    def run(self) -> None:
        """Click, wait, click."""
        time.sleep(self.random.uniform(0, PAUSE))
        while time.monotonic() < self.until:
            click, began = self.random.choice(self.clicks), time.monotonic()
            try:
                status = click().status_code
            except httpx.HTTPError as error:
                self.failed.append(type(error).__name__)
            else:
                if status >= 400:
                    self.failed.append(str(status))
            self.seconds.append(time.monotonic() - began)
            time.sleep(self.random.uniform(0.5, 1.5) * PAUSE)


def run(site: Site, scale: Scale) -> list[Finding]:
    """Read and write for a while; returns failures, and the median and 95% of each group."""
    with closing(site.browser("rana", 120)) as one:
        login = dict(one.cookies)
    clients: list[httpx.Client] = []
    until = time.monotonic() + 3 + scale.of(20, 60)

    def person(number: int, clicks: Callable[[int], list[Callable[[], httpx.Response]]]) -> Person:
        return Person(clicks(number), f"{scale.random.random()}", until)

    def reader(number: int) -> list[Callable[[], httpx.Response]]:
        pages, api = site.visitor(120), site.api("rana", 120)
        pages.cookies.update(login)
        clients.extend((pages, api))
        ours = site.people["rana"]["set"]
        return [
            lambda: pages.get("/admin/"),
            lambda: pages.get(f"/admin/question-sets/{ours}/"),
            lambda: api.get("question-sets/"),
            lambda: api.get(f"question-sets/{ours}/answers/"),
        ]

    def writer(number: int) -> list[Callable[[], httpx.Response]]:
        api = site.api("otto", 120)
        clients.append(api)
        ours, names = site.people["otto"]["set"], iter(range(1_000_000))
        answers = f"question-sets/{ours}/answers/"

        def row() -> dict[str, str]:
            return {"worker": f"c{number}-{next(names)}", "question": "q1", "answer": "so"}

        return [
            lambda: api.post("question-sets/", json={"name": f"c{number} {next(names)}"}),
            lambda: api.post(answers, json={"rows": [row()]}),
        ]

    groups = {
        f"{READERS} readers": [person(number, reader) for number in range(READERS)],
        f"{WRITERS} writers": [person(number, writer) for number in range(WRITERS)],
    }
    people = [one for group in groups.values() for one in group]
    before = _processor(site)
    for one in people:
        one.start()
    for one in people:
        one.join()
    spent = _processor(site) - before
    for client in clients:
        client.close()
    findings = []
    for name, group in groups.items():
        seconds = sorted(second for one in group for second in one.seconds)
        failed = [reason for one in group for reason in one.failed]
        findings += [
            exactly(f"{name}, {len(seconds):,} requests: failed", len(failed), 0),
            at_most(f"{name}: half of them within", _quantile(seconds, 0.5), SLOW, "s"),
            at_most(f"{name}: 95% of them within", _quantile(seconds, 0.95), SLOW, "s"),
        ]
    each = 1000 * spent / max(1, sum(len(one.seconds) for one in people))
    findings.append(at_most("processor time of the site for a request", each, PROCESSOR, "ms"))
    return findings


def _processor(site: Site) -> float:
    """Return the seconds of processor time that web server and worker have used so far."""
    ticks = 0
    for pid in site.children():
        # After the name in brackets: utime and stime are the 12th and 13th.
        told = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        ticks += int(told[11]) + int(told[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def _quantile(ordered: list[float], share: float) -> float:
    return round(ordered[min(len(ordered) - 1, int(share * len(ordered)))], 2)


ATTACK = Attack(
    "crowd",
    "fifty people who read and twenty who write at once, each a click a second",
    run,
    alone=True,
)
