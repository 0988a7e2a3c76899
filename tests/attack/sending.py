"""Files that are sent to a site as a requester does: by the form for imports and by REST."""

from __future__ import annotations

import httpx

from tests.attack.site import Site, form_token

LINES = "application/x-ndjson"


def upload(browser: httpx.Client, question_set: str, name: str, content: bytes) -> httpx.Response:
    """Send a file into "Import answers", as far as the page of its columns or what is wrong."""
    address = f"/admin/question-sets/{question_set}/import/"
    token = form_token(browser.get(address).text)
    sent = browser.post(
        address, data={"csrfmiddlewaretoken": token}, files={"file": (name, content)}
    )
    return browser.get(sent.headers["location"]) if sent.status_code == 302 else sent


def send_lines(api: httpx.Client, question_set: str, body: bytes, **options: str) -> httpx.Response:
    """Send JSON Lines of answers."""
    return api.post(
        f"question-sets/{question_set}/answers/",
        content=body,
        headers={"Content-Type": LINES},
        params=options,
    )


def new_set(site: Site, who: str, name: str) -> str:
    """Return the id of a new question set."""
    made = site.api(who).post("question-sets/", json={"name": name})
    made.raise_for_status()
    return str(made.json()["id"])


def stored(site: Site, who: str, question_set: str) -> int:
    """Return how many answers of a set there are, as its list tells them page by page."""
    api, count = site.api(who), 0
    address: str | None = f"question-sets/{question_set}/answers/?page_size=200"
    while address is not None:
        page = api.get(address).json()
        count, address = count + len(page["results"]), page["next"]
    return count
