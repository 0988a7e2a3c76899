"""What somebody can do who has nothing but a link to a study."""

from __future__ import annotations

from collections import Counter
from urllib.parse import urlsplit

import httpx

from tests.attack.declaration import Attack, Finding, Scale, at_most, exactly
from tests.attack.sending import new_set
from tests.attack.site import Site

SESSIONS = 30
MOST_SESSIONS = 20
MOST_OTHERS = 20
CHOICES = ["red", "blue"]
STORED = """
from annotations.models import OtherText, Response, Submission
submissions = Submission.objects.filter(version__question_set__public_id=SET)
responses = Response.objects.filter(submission__in=submissions)
result = {
    "submissions": submissions.count(),
    "sessions": sum(one.panel_sessions.count() for one in submissions),
    "others": OtherText.objects.filter(response__in=responses).count(),
    "foreign": responses.filter(question__kind="choice").exclude(
        text__in=["", *CHOICES]).count(),
    "chosen": responses.filter(question__kind="choice", text__in=CHOICES).count(),
}
"""


def run(site: Site, scale: Scale) -> list[Finding]:
    """Fill the disk with drafts and sessions, and answer a choice with what is no choice."""
    ours, link = _study(site)
    client, tabs = site.visitor(), scale.of(150, 1_500)
    came = client.post(link, params={"id": "somebody"}, data={"agree": "yes"})
    place = came.headers["location"]
    for number in range(SESSIONS):
        client.get(link, params={"id": "somebody", "session": f"made-up-{number}"})
    page = client.get(place, follow_redirects=True)
    why, which = [str(one["id"]) for one in _questions(site, ours)]

    def draft(question: str, text: str, tab: str) -> httpx.Response:
        sent = {"question": question, "text": text, "revision": "0", "tab": tab}
        return client.post(f"{place}draft/", data=sent)

    drafts = Counter(
        draft(why, f"{number} " + "so " * 1_000, f"tab{number}").status_code
        for number in range(tabs)
    )
    foreign = draft(which, "<script>", "a").status_code
    client.post(str(page.url), data={f"answer-{which}": "<script>", "do": "next"})
    chosen = draft(which, CHOICES[0], "a").status_code
    found = site.python(STORED, SET=ours, CHOICES=CHOICES)
    return [
        exactly("one person: the page of questions", page.status_code, 200),
        exactly("one person: submissions", found["submissions"], 1),
        at_most(f"{SESSIONS} made-up sessions: stored", found["sessions"], MOST_SESSIONS),
        exactly(
            f"{tabs} tabs send a draft of one answer: saved or kept",
            _taken(drafts),
            1 + MOST_OTHERS,
        ),
        exactly(f"{tabs} tabs: refused", drafts[413], tabs - 1 - MOST_OTHERS),
        at_most(f"{tabs} tabs: texts stored beside the answer", found["others"], MOST_OTHERS),
        exactly("a draft that is no choice of its question: its answer", foreign, 400),
        exactly("what is no choice, as a draft and as a form: texts stored", found["foreign"], 0),
        exactly("a draft that is a choice: its answer", chosen, 200),
        exactly("a choice: texts stored", found["chosen"], 1),
    ]


def _study(site: Site) -> tuple[str, str]:
    """Return the id of a published set, and the path of its link."""
    ours, api = new_set(site, "rana", "linked"), site.api("rana")
    rows = [
        {"question": "q1", "text": "Why?"},
        {"question": "q2", "text": "Which?", "kind": "choice", "choices": CHOICES},
    ]
    api.post(f"question-sets/{ours}/questions/", json={"rows": rows}).raise_for_status()
    settings = {
        "places": 5,
        "protocol": "open",
        "worker_parameter": "id",
        "session_parameter": "session",
    }
    made = api.post(f"question-sets/{ours}/collection/", json=settings)
    made.raise_for_status()
    return ours, urlsplit(str(made.json()["link"])).path


def _questions(site: Site, ours: str) -> list[dict[str, object]]:
    found: list[dict[str, object]] = (
        site.api("rana").get(f"question-sets/{ours}/questions/").json()["results"]
    )
    return found


def _taken(drafts: Counter[int]) -> int:
    return drafts[200] + drafts[409]


ATTACK = Attack("worker-links", "drafts, sessions and answers by a study's link alone", run)
