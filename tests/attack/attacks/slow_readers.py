"""Clients that ask for a large export and take a kilobyte of it a second."""

from __future__ import annotations

import json
import socket
import time

from tests.attack.declaration import Attack, Finding, Scale, exactly
from tests.attack.sending import new_set, send_lines
from tests.attack.site import Site
from tests.attack.watching import visitor

READERS = 20
"""More than all threads of two web processes."""


def run(site: Site, scale: Scale) -> list[Finding]:
    """Read slowly while somebody else looks at pages."""
    into, api = new_set(site, "rana", "large"), site.api("rana", 300)
    lines = "\n".join(
        json.dumps({"worker": f"w{w}", "question": f"q{q}", "answer": f"{w} {q} " + "so " * 1_000})
        for w in range(scale.of(200, 1_000))
        for q in range(10)
    )
    send_lines(api, into, lines.encode(), create_questions="true").raise_for_status()
    asked = (
        f"GET /api/v1/question-sets/{into}/exports/answers/ HTTP/1.1\r\nHost: localhost\r\n"
        f"Authorization: {api.headers['Authorization']}\r\n\r\n"
    ).encode()
    readers: list[socket.socket] = []
    try:
        for _ in range(READERS):
            one = socket.socket()
            one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            one.settimeout(30)
            one.connect(("127.0.0.1", site.port))
            one.sendall(asked)
            readers.append(one)
        began = sum(b"200" in one.recv(1024) for one in readers)
        with visitor(site) as other:
            for _ in range(scale.of(15, 120)):
                for one in readers:
                    one.recv(1024)
                time.sleep(1)
    finally:
        for one in readers:
            one.close()
    size = f"{len(lines) / 1e6:.0f} MB"
    return [exactly(f"slow readers of {size}", began, READERS), *other.findings(10)]


ATTACK = Attack("slow-readers", "large exports that are taken a kilobyte a second", run)
