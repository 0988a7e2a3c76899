"""Requests that are well formed and that nobody's client sends."""

from __future__ import annotations

import json
import socket
from collections import Counter
from collections.abc import Iterator

import httpx

from tests.attack.declaration import Attack, Finding, Scale, exactly
from tests.attack.sending import LINES, new_set
from tests.attack.site import Site

HALF = ("\\ud800", "\\udfff", "a\\udc00b")
"""Halves of surrogate pairs, as JSON writes them: no text."""
ROWS: dict[str, tuple[dict[str, str], tuple[str, ...]]] = {
    "passages": ({"passage": "p", "text": "So."}, ("passage", "text", "format", "title", "any")),
    "questions": ({"question": "q", "text": "Why?"}, ("question", "text", "kind", "role", "any")),
    "answers": (
        {"worker": "w", "question": "q", "answer": "a"},
        (
            *("worker", "question", "answer", "panel", "status", "rejected", "started_at"),
            *("submitted_at", "first_draft_at", "work_seconds", "paste_count", "language", "any"),
        ),
    ),
}
"""By the end of the address: a row that is taken, and the columns that get a half."""
HEADS = ("/admin/login/", "/api/v1/", "/static/none.js", "/answer/none/")
SERVERS = {
    "https://api.example.com": 201,
    "https://API.example.com:443": 201,
    "http://api.example.com": 400,
    "https://api.example.com:8443": 400,
    "https://api.example.com.evil.example": 400,
    "https://api.example.com@evil.example": 400,
}
"""Where a key that is bound to api.example.com may be sent, by the answer to who registers it."""


def run(site: Site, scale: Scale) -> list[Finding]:
    """Send half surrogate pairs, HEAD on connections that stay open, and keys elsewhere."""
    api, into = site.api("rana"), new_set(site, "rana", "odd")
    halves = Counter(_halves(api, into))
    whole = [_send(api, into, end, json.dumps(row), LINES) for end, (row, _) in ROWS.items()]
    heads = [_head(site, path) for path in HEADS]
    keys = {server: _register(api, server) for server in SERVERS}
    wrong = [server for server, wanted in SERVERS.items() if keys[server] != wanted]
    return [
        exactly(
            f"{halves.total()} rows with half a surrogate pair: refused",
            halves[400],
            halves.total(),
        ),
        exactly("the same rows without: taken", whole.count(200), len(ROWS)),
        exactly(
            f"HEAD of {len(HEADS)} addresses: bytes of a body", sum(body for body, _ in heads), 0
        ),
        exactly(
            "GET after each on the same connection: answered",
            sum(ok for _, ok in heads),
            len(HEADS),
        ),
        exactly(
            f"a bound key for {len(SERVERS)} servers: wrongly decided",
            ", ".join(wrong) or "none",
            "none",
        ),
    ]


def _halves(api: httpx.Client, into: str) -> Iterator[int]:
    """Yield the answers to rows, each with half a pair in one column, as both kinds of JSON."""
    for end, (row, columns) in ROWS.items():
        for column in columns:
            for half in HALF:
                line = json.dumps(row | {column: "HALF"}).replace("HALF", half)
                yield _send(api, into, end, line, LINES)
                yield _send(api, into, end, f'{{"rows": [{line}]}}', "application/json")


def _send(api: httpx.Client, into: str, end: str, body: str, media_type: str) -> int:
    return api.post(
        f"question-sets/{into}/{end}/",
        content=body,
        headers={"Content-Type": media_type},
        params={"create_questions": "true"} if end == "answers" else {},
    ).status_code


def _register(api: httpx.Client, server: str) -> int:
    model = {"name": f"at {server}", "spec": f"openai:a@{server}/v1", "key_variable": "BOUND_KEY"}
    return api.post("language-models/", json=model).status_code


def _head(site: Site, path: str) -> tuple[int, bool]:
    """Ask for HEAD and then GET on one connection.

    Returns the bytes between both answers, and whether the second one is whole.
    """
    ask = f"{path} HTTP/1.1\r\nHost: localhost\r\n".encode()
    with socket.create_connection(("127.0.0.1", site.port), timeout=30) as one:
        one.sendall(b"HEAD " + ask + b"\r\n")
        came = b""
        while b"\r\n\r\n" not in came:
            came += one.recv(65536)
        one.sendall(b"GET " + ask + b"Connection: close\r\n\r\n")
        while piece := one.recv(65536):
            came += piece
    after = came.partition(b"\r\n\r\n")[2]
    body, mark, rest = after.partition(b"HTTP/1.1 ")
    return len(body), bool(mark) and b"\r\n\r\n" in rest


ATTACK = Attack(
    "odd-requests",
    "half surrogate pairs, HEAD on open connections, keys for other servers",
    run,
    alone=True,
    environment=(("CROWDGRADE_KEY_VARIABLES", "BOUND_KEY@api.example.com"), ("BOUND_KEY", "x")),
)
