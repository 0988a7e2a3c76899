"""One requester asks a model whose server never answers, as often as they may."""

from __future__ import annotations

import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import httpx

from tests.attack.declaration import Attack, Finding, Scale, at_most, exactly
from tests.attack.sending import new_set
from tests.attack.site import Site, form_token
from tests.attack.watching import visitor
from tests.evaluation.core.backends.chat.fake import Answer, FakeChat, fake_chat
from tests.evaluation.runs.background.scratch import wait_until

RUNS = 20
"""RUNS_PER_USER: so many unfinished runs a requester may have."""
TRIES = 20
"""“Ask it now”, pressed so often: more than all threads of two web processes."""
SECONDS = 60
"""For a run of the other requester: it took 233 s where such a run held the only worker."""


def run(site: Site, scale: Scale) -> list[Finding]:
    """Let Rana ask a silent server, and Otto grade his answers and ask a server that answers."""
    go_on = threading.Event()

    def silent(body: dict[str, object]) -> Answer:
        go_on.wait(600)
        return Answer(503)

    with fake_chat(silent) as never, fake_chat() as quick:
        try:
            return _attacked(site, scale, never, quick)
        finally:
            go_on.set()
            for one in _unfinished(site, "rana"):
                site.api("rana").post(f"runs/{one}/cancel/")


def _attacked(site: Site, scale: Scale, never: FakeChat, quick: FakeChat) -> list[Finding]:
    rana, otto = site.api("rana"), site.api("otto")
    ours, theirs = _questions(site, "rana"), _questions(site, "otto")
    slow, fast = _register(rana, "silent", never), _register(otto, "quick", quick)
    began = Counter(
        rana.post("runs/", json=_asking(ours, slow)).status_code for _ in range(RUNS + 5)
    )
    wait_until(lambda: never.at_once > 0, 60, "the silent server was asked", site.log)
    with visitor(site) as other:
        with ThreadPoolExecutor(TRIES) as several:
            pressed = time.monotonic()
            tries = Counter(several.map(lambda _: _asked_now(site, slow), range(TRIES)))
            answered = round(time.monotonic() - pressed, 1)
        times, states = {}, {}
        for what, body in (
            ("grading", {"question_set": site.people["otto"]["set"], "parameters": GRADING}),
            ("asking", _asking(theirs, fast)),
        ):
            start = time.monotonic()
            states[what] = _end_of(otto, body)
            times[what] = round(time.monotonic() - start, 1)
        still = never.at_once
    return [
        exactly("runs that ask a silent server: begun", began[202], RUNS),
        exactly("further ones: refused", began[409], 5),
        exactly(f"{TRIES} times “Ask it now”: begun", tries[302], 1),
        exactly(f"{TRIES} times “Ask it now”: refused", tries[429], TRIES - 1),
        at_most("all of these answered within", answered, SECONDS, "s"),
        exactly("another requester's grading", states["grading"], "done"),
        at_most("another requester's grading took", times["grading"], SECONDS, "s"),
        exactly("another requester's asking", states["asking"], "done"),
        at_most("another requester's asking took", times["asking"], SECONDS, "s"),
        Finding("silent requests meanwhile", f"{still}", "at least 1", still > 0),
        *other.findings(10),
    ]


GRADING = {"embedder": "tfidf-word", "bootstrap": 10}


def _questions(site: Site, who: str) -> str:
    """Return the id of a new set with two questions to ask a model."""
    ours = new_set(site, who, "to be asked")
    rows = [{"question": f"q{n}", "text": f"Where is river {n}?"} for n in range(2)]
    made = site.api(who).post(f"question-sets/{ours}/questions/", json={"rows": rows})
    made.raise_for_status()
    return ours


def _register(api: httpx.Client, name: str, chat: FakeChat) -> str:
    made = api.post("language-models/", json={"name": name, "spec": chat.spec})
    made.raise_for_status()
    return str(made.json()["id"])


def _asking(question_set: str, model: str) -> dict[str, object]:
    return {"question_set": question_set, "kind": "ask", "parameters": {"models": [model]}}


def _asked_now(site: Site, model: str) -> int:
    """Press “Ask it now” on the page of a model; returns the status of the answer."""
    address = f"/admin/models/{model}/"
    with closing(site.browser("rana")) as browser:
        token = form_token(browser.get(address).text)
        fields = {"question": "Why?", "prompt": "closed", "passage": ""}
        return browser.post(
            f"{address}try/", data=fields | {"csrfmiddlewaretoken": token}
        ).status_code


def _end_of(api: httpx.Client, body: dict[str, object]) -> str:
    """Start a run and return the state in which it ends, or the one after some minutes."""
    started = api.post("runs/", json=body)
    started.raise_for_status()
    address, until = f"runs/{started.json()['id']}/", time.monotonic() + 300
    while True:
        state = str(api.get(address).json()["state"])
        if state in ("done", "failed", "cancelled") or time.monotonic() > until:
            return state
        time.sleep(0.25)


def _unfinished(site: Site, who: str) -> list[str]:
    listed = site.api(who).get("runs/", params={"page_size": 200}).json()["results"]
    return [one["id"] for one in listed if one["state"] in ("queued", "running")]


ATTACK = Attack(
    "asking-beside-others",
    "runs and trials of one requester at a model server that never answers",
    run,
)
