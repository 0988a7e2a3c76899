"""Web server and worker are killed while answers are sent and a run is computed."""

from __future__ import annotations

import json
import time

import httpx

from tests.attack.declaration import Attack, Finding, Scale, exactly
from tests.attack.sending import new_set, send_lines, stored
from tests.attack.site import Site
from tests.evaluation.runs.background.scratch import wait_until

ROWS = 400


def run(site: Site, scale: Scale) -> list[Finding]:
    """Kill both again and again; whoever sends tries again until it is acknowledged."""
    into = new_set(site, "rana", "killed")
    api = site.api("rana")
    kills = scale.of(1, 25)
    for number in range(kills):
        body = "\n".join(
            json.dumps({"worker": f"w{number}-{w}", "question": f"q{q}", "answer": f"{w} to {q}"})
            for w in range(ROWS // 20)
            for q in range(20)
        ).encode()
        site.kill_children()
        wait_until(lambda body=body: _acknowledged(api, into, body), 90, "the answers came in")
    started = api.post(
        "runs/", json={"question_set": into, "parameters": {"embedder": "tfidf-word"}}
    )
    started.raise_for_status()
    address = f"runs/{started.json()['id']}/"
    site.kill_children()
    end = wait_until(lambda: _ended(api, address), 120, "the run ended", site.log)
    return [
        exactly("kills of web server and worker", kills + 1, kills + 1),
        exactly("answers stored of those acknowledged", stored(site, "rana", into), kills * ROWS),
        exactly("the run that lost its worker", end, "done"),
    ]


def _acknowledged(api: httpx.Client, into: str, body: bytes) -> bool:
    try:
        return send_lines(api, into, body, create_questions="true").status_code == 200
    except httpx.HTTPError:
        time.sleep(0.5)
        return False


def _ended(api: httpx.Client, address: str) -> str | None:
    try:
        state = api.get(address).json()["state"]
    except httpx.HTTPError:
        return None
    return state if state in ("done", "failed", "cancelled") else None


ATTACK = Attack(
    "kills",
    "kill -9 of web server and worker while answers come in and a run works",
    run,
    alone=True,
)
