"""A large file of answers comes in while others sign in and write; its worker is killed once."""

from __future__ import annotations

import json
import threading
import time

import httpx

from tests.attack.declaration import Attack, Finding, Scale, at_most, exactly
from tests.attack.sending import new_set, send_lines, stored
from tests.attack.site import Site
from tests.attack.watching import Bystander
from tests.evaluation.runs.background.scratch import wait_until

QUESTIONS = 100


def run(site: Site, scale: Scale) -> list[Finding]:
    """Try it, store it, and kill the site in the middle of another one."""
    workers = scale.of(300, 1_000)
    whole = workers * QUESTIONS
    lines = "\n".join(
        json.dumps({"worker": f"w{w}", "question": f"q{q}", "answer": f"what {w} said of {q}"})
        for w in range(workers)
        for q in range(QUESTIONS)
    ).encode()
    into = new_set(site, "rana", "large")
    findings = []
    for name, options in (("a dry run", {"dry_run": "true"}), ("an import", {})):
        with _writer(site) as writing, Bystander(lambda: _sign_in(site)) as signing_in:
            said = send_lines(
                site.api("rana", 600), into, lines, create_questions="true", **options
            )
        findings.append(exactly(f"{name} of {whole:,} answers: its answer", said.status_code, 200))
        for other, what in ((writing, "another one writes"), (signing_in, "another one signs in")):
            failed = sum(n for status, n in other.statuses.items() if status not in (201, 302))
            findings.append(
                exactly(f"{name}: of {other.statuses.total()} {what}: failed", failed, 0)
            )
            findings.append(
                at_most(f"{name}: {what}, the slowest", round(other.longest, 1), 20, "s")
            )
    findings.append(exactly("answers stored", stored(site, "rana", into), whole))
    findings += _killed(site, lines, whole)
    return findings


def _killed(site: Site, lines: bytes, whole: int) -> list[Finding]:
    into = new_set(site, "rana", "killed in the middle")
    api = site.api("rana", 600)
    sending = threading.Thread(target=_sent, args=(api, into, lines))
    sending.start()
    time.sleep(4)
    site.kill_children()
    sending.join()
    wait_until(site.answers, 90, "the site came back", site.log)
    left = stored(site, "rana", into)
    said = send_lines(api, into, lines, create_questions="true")
    return [
        exactly("killed in the middle: half an import to be seen", left not in (0, whole), False),
        exactly("sent again: its answer", said.status_code, 200),
        exactly("sent again: answers stored", stored(site, "rana", into), whole),
    ]


def _sent(api: httpx.Client, into: str, lines: bytes) -> None:
    try:
        send_lines(api, into, lines, create_questions="true")
    except httpx.HTTPError:
        return  # killed, as was meant


def _writer(site: Site) -> Bystander:
    api, number = site.api("otto"), iter(range(1_000_000))
    mark = time.monotonic()
    return Bystander(
        lambda: api.post("question-sets/", json={"name": f"note {mark} {next(number)}"})
    )


def _sign_in(site: Site) -> httpx.Response:
    from tests.attack.site import PASSWORD, form_token

    with site.visitor() as client:
        token = form_token(client.get("/admin/login/").text)
        return client.post(
            "/admin/login/",
            data={"username": "otto", "password": PASSWORD, "csrfmiddlewaretoken": token},
        )


ATTACK = Attack(
    "large-import",
    "a file of very many answers beside people who write and sign in, and kill -9 in the middle",
    run,
    alone=True,
)
