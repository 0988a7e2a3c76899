"""Faults of a chaos run: what is broken, for how long, and how it is mended."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass

from tests.chaos.proxy import Mode, Proxy
from tests.chaos.services import Service
from tests.chaos.site import ChaosSite
from tests.disks import Disk

OUTAGE = (3.0, 12.0)
"""Shortest and longest time of an outage, in seconds."""
JUMP = 3600
"""Seconds that the clock jumps, forwards and back."""


@dataclass(frozen=True)
class Fault:
    """One kind of fault.

    Attributes
    ----------
    begin, end : break it and mend it. The supervisor mends a killed process by starting it again.
    lasts : whether the fault lasts for a while between them.
    """

    name: str
    begin: Callable[[], None]
    end: Callable[[], None] = lambda: None
    lasts: bool = True

    def happen(self, drawn: random.Random) -> None:
        """Break it, wait for a drawn time, mend it."""
        self.begin()
        try:
            if self.lasts:
                time.sleep(drawn.uniform(*OUTAGE))
        finally:
            self.end()


def list_site_faults(site: ChaosSite) -> list[Fault]:
    """Return the faults of every installation: its processes and its clock."""
    faults = [
        Fault("kill -9 background process", lambda: site.kill_children_with("celery"), lasts=False),
        Fault("kill -9 web server", lambda: site.kill_children_with("web_server"), lasts=False),
        Fault("power failure of the site", site.kill_all, site.start),
    ]
    if site.has_clock:
        faults += [
            Fault("clock jumps forwards", lambda: site.set_clock(JUMP), lambda: site.set_clock(0)),
            Fault("clock jumps back", lambda: site.set_clock(-JUMP), lambda: site.set_clock(0)),
        ]
    return faults


def list_disk_faults(disk: Disk) -> list[Fault]:
    """Return the faults of a disk of its own."""
    return [Fault("disk full", disk.fill, disk.clear)]


def list_service_faults(name: str, service: Service, proxy: Proxy) -> list[Fault]:
    """Return the faults of a server and of the network to it."""

    def pass_again() -> None:
        proxy.set_mode(Mode.PASS)

    return [
        Fault(f"kill -9 {name}", service.kill, service.start),
        Fault(f"{name} unreachable", lambda: proxy.set_mode(Mode.CUT), pass_again),
        Fault(f"{name} slow", lambda: proxy.set_mode(Mode.DELAY), pass_again),
        Fault(f"{name} silent", lambda: proxy.set_mode(Mode.SWALLOW), pass_again),
    ]
