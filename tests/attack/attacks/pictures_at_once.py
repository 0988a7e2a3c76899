"""Many requesters send large pictures for their passages at the same time."""

from __future__ import annotations

import io
import re
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import TypeVar

import httpx
import PIL.Image

from tests.attack.declaration import Attack, Finding, Scale, at_most, exactly
from tests.attack.sending import new_set
from tests.attack.site import Site, form_token
from tests.attack.watching import Bystander, visitor

ArgumentT, ResultT = TypeVar("ArgumentT"), TypeVar("ResultT")
LARGE, PHOTO = (6_300, 6_300), (4_000, 3_000)
MOST_MB = 800
"""Memory beyond that of the idle site: one decoded picture, a part of it, and what was sent."""
WORDS = "A river from above."
TAKEN, LATER = (200, 302), (429, 503)


@dataclass(frozen=True)
class Place:
    """A passage that gets a picture: its set and its own id."""

    question_set: str
    passage: str


def run(site: Site, scale: Scale) -> list[Finding]:
    """Send four photographs at once, then many of the largest pictures, by REST and by the editor.

    Photographs are sent again where that is asked for. Meanwhile somebody looks at pages and
    somebody else writes.
    """
    n = scale.of(12, 40)
    places = [_place(site, f"pictures {number}") for number in range(n)]
    large = [jpeg(LARGE, seed) for seed in range(4)]
    photographs = [jpeg(PHOTO, seed) for seed in range(4)]
    first = _at_once(
        lambda at: _until_taken(lambda: by_rest(site, places[at], photographs[at])), range(4)
    )
    with visitor(site) as other, _writer(site) as writing:
        before = _memory(site)
        sent = _at_once(
            lambda at: (by_editor if at % 3 == 0 else by_rest)(site, places[at], large[at % 4]),
            range(n),
        )
        after = _memory(site, peak=True)
        again = _at_once(
            lambda at: _until_taken(lambda: by_rest(site, places[at], large[at % 4])),
            [at for at, one in enumerate(sent) if one.status_code not in TAKEN],
        )
    statuses = Counter(one.status_code for one in sent)
    told = [one for one in sent if one.status_code in LATER and one.headers.get("Retry-After")]
    taken = sum(statuses[status] for status in TAKEN)
    failed = sum(times for status, times in writing.statuses.items() if status != 201)
    size = f"{len(large[0]) / 1e6:.1f} MB, {LARGE[0] * LARGE[1] / 1e6:.0f} million pixels"
    return [
        exactly("four photographs at once: taken", first.count(True), 4),
        exactly(f"{n} pictures of {size} at once: taken, or told when again", taken + len(told), n),
        Finding("of these taken the first time", f"{taken}", "at least 1", taken >= 1),
        exactly("the others, sent again after that time: taken", again.count(True), len(again)),
        at_most("memory of the site beyond that before", after - before, MOST_MB, "MB"),
        *other.findings(10),
        exactly(f"of {writing.statuses.total()} times another one writes: failed", failed, 0),
        at_most("another one writes, the slowest", round(writing.longest, 1), 10, "s"),
    ]


def jpeg(size: tuple[int, int], seed: int) -> bytes:
    """Return a photograph: noise in large grains."""
    written = io.BytesIO()
    grains = PIL.Image.effect_noise((300, 300), 50 + seed)
    grains.resize(size).convert("RGB").save(written, "JPEG", quality=60)
    return written.getvalue()


def by_rest(site: Site, place: Place, content: bytes) -> httpx.Response:
    """Send a picture as a program does."""
    with closing(site.api("rana", timeout=120)) as api:
        return api.put(
            f"question-sets/{place.question_set}/passages/{place.passage}/image/",
            files={"picture": ("a.jpg", content)},
            data={"image_alt": WORDS},
        )


def by_editor(site: Site, place: Place, content: bytes) -> httpx.Response:
    """Send a picture in the form of the passage's page."""
    address = f"/admin/question-sets/{place.question_set}/editor/passages/{place.passage}/"
    with closing(site.browser("rana", timeout=120)) as browser:
        page = browser.get(address).text
        seen = re.search(r'name="seen" value="([^"]*)"', page)
        assert seen is not None, "the page of the passage has no form"
        fields = {"text": "So.", "format": "simple", "external_id": "p", "image_alt": WORDS}
        return browser.post(
            address,
            data=fields | {"csrfmiddlewaretoken": form_token(page), "seen": seen[1]},
            files={"picture": ("a.jpg", content)},
        )


def _place(site: Site, name: str) -> Place:
    ours, api = new_set(site, "rana", name), site.api("rana")
    rows = [{"passage": "p", "text": "So.", "format": "simple"}]
    api.post(f"question-sets/{ours}/passages/", json={"rows": rows}).raise_for_status()
    (passage,) = api.get(f"question-sets/{ours}/passages/").json()["results"]
    return Place(ours, passage["id"])


def _at_once(act: Callable[[ArgumentT], ResultT], arguments: range | list[int]) -> list[ResultT]:
    if not arguments:
        return []
    with ThreadPoolExecutor(len(arguments)) as several:
        return list(several.map(act, arguments))


def _until_taken(send: Callable[[], httpx.Response]) -> bool:
    """Send a picture again as often as the answers ask for it, for some minutes."""
    until = time.monotonic() + 240
    while time.monotonic() < until:
        response = send()
        if response.status_code not in LATER:
            return response.status_code in TAKEN
        time.sleep(float(response.headers["Retry-After"]))
    return False


def _memory(site: Site, *, peak: bool = False) -> int:
    """Return the resident memory of all processes of the site in MB, or its peak since then."""
    total = 0
    for pid in site.children():
        folder = Path(f"/proc/{pid}")
        if not peak:
            (folder / "clear_refs").write_text("5")  # the peak counts from here on
        name = "VmHWM" if peak else "VmRSS"
        found = re.search(rf"{name}:\s+(\d+) kB", (folder / "status").read_text())
        total += int(found[1]) if found else 0
    return total // 1024


def _writer(site: Site) -> Bystander:
    api, numbers = site.api("otto"), count()
    mark = time.monotonic()
    return Bystander(
        lambda: api.post("question-sets/", json={"name": f"beside {mark} {next(numbers)}"})
    )


ATTACK = Attack(
    "pictures-at-once", "large pictures of passages that many requesters send at once", run
)
