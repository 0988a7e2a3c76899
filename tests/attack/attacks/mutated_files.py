"""Files of answers with bytes changed, cut out, doubled and moved at random."""

from __future__ import annotations

import random

from tests.attack.attacks.workbook_bombs import workbook
from tests.attack.declaration import Attack, Finding, Scale, exactly
from tests.attack.sending import new_set, send_lines, stored, upload
from tests.attack.site import Site

CSV = b"worker,question,answer\r\n" + b"".join(
    b'w%d,q%d,"answer, %d ""so"" to %d"\r\n' % (w, q, w, q) for w in range(9) for q in range(3)
)
LINES = b"".join(
    b'{"worker": "w%d", "question": "q%d", "answer": "a\\u00e9 %d"}\n' % (w, q, w)
    for w in range(9)
    for q in range(3)
)
NASTY = (b"\0", b"\xff", b"\xed\xa0\x80", b'"', b"\r", b"=1+1", b"\xef\xbb\xbf", b"\\ud800", b"%00")


def mutated(content: bytes, drawn: random.Random) -> bytes:
    """Return the bytes after some changes."""
    changed = bytearray(content)
    for _ in range(drawn.randint(1, 8)):
        at = drawn.randrange(len(changed) or 1)
        end = min(len(changed), at + drawn.randint(1, 40))
        kind = drawn.randrange(5)
        if kind == 0:
            changed[at:end] = drawn.randbytes(end - at)
        elif kind == 1:
            del changed[at:end]
        elif kind == 2:
            changed[at:at] = changed[at:end]
        elif kind == 3:
            changed[at:at] = drawn.choice(NASTY)
        else:
            del changed[at:]
    return bytes(changed)


def run(site: Site, scale: Scale) -> list[Finding]:
    """Send them by the form and by REST; the answer to each is a page, never an error of ours."""
    kinds = {"a.csv": CSV, "a.jsonl": LINES, "a.xlsx": workbook("none", b"-", b"")}
    into = new_set(site, "rana", f"mutated {scale.random.random()}")
    browser, api = site.browser("rana"), site.api("rana")
    wrong: list[str] = []
    tried = 0
    for number in range(scale.of(25, 1_500)):
        for name, content in kinds.items():
            tried += 1
            said = upload(browser, into, name, mutated(content, scale.random))
            if said.status_code >= 500:
                wrong.append(f"{name} {number}: {said.status_code}")
        tried += 1
        before = None if number % 10 else stored(site, "rana", into)
        said = send_lines(api, into, mutated(LINES, scale.random), create_questions="true")
        if said.status_code >= 500:
            wrong.append(f"REST {number}: {said.status_code}")
        if before is not None and said.status_code != 200 and stored(site, "rana", into) != before:
            wrong.append(f"REST {number}: refused, and yet something is stored")
    return [exactly(f"of {tried:,} files: errors of the site", "; ".join(wrong) or "none", "none")]


ATTACK = Attack("mutated-files", "CSV, JSON Lines and workbooks with bytes changed at random", run)
