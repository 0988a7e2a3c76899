"""Connections that begin a request and never end it."""

from __future__ import annotations

import socket
import time

from tests.attack.declaration import Attack, Finding, Scale, exactly
from tests.attack.site import Site
from tests.attack.watching import visitor

BEGUN = b"GET /admin/login/ HTTP/1.1\r\nHost: localhost\r\nX-Slow: "


def run(site: Site, scale: Scale) -> list[Finding]:
    """Hold connections open, a byte on each every second, while somebody else looks at pages."""
    wanted = scale.of(300, 2_000)
    opened: list[socket.socket] = []
    with visitor(site) as other:
        try:
            for _ in range(wanted):
                one = socket.create_connection(("127.0.0.1", site.port), timeout=10)
                one.sendall(BEGUN)
                opened.append(one)
            for _ in range(scale.of(15, 120)):
                time.sleep(1)
                opened = [one for one in opened if _still_open(one)]
        finally:
            for one in opened:
                one.close()
    return [exactly("connections begun", wanted, wanted), *other.findings(10)]


def _still_open(one: socket.socket) -> bool:
    try:
        one.sendall(b"a")
    except OSError:
        one.close()
        return False
    return True


ATTACK = Attack(
    "half-open",
    "hundreds of requests that are never ended, kept alive by a byte a second",
    run,
)
