"""JSON Lines in which every line has a key of its own."""

from __future__ import annotations

import json

from tests.attack.declaration import Attack, Finding, Scale, exactly
from tests.attack.sending import send_lines
from tests.attack.site import Site
from tests.attack.watching import visitor


def run(site: Site, scale: Scale) -> list[Finding]:
    """Send them while somebody else looks at pages."""
    lines = "\n".join(
        json.dumps({"worker": f"w{n}", "question": "q0", "answer": "a", f"key{n}": 1})
        for n in range(scale.of(30_000, 300_000))
    )
    with visitor(site) as other:
        said = send_lines(site.api("rana", 300), site.people["rana"]["set"], lines.encode())
    size = f"{len(lines) / 1e6:.1f} MB"
    return [exactly(f"a file of {size}: its answer", said.status_code, 400), *other.findings(10)]


ATTACK = Attack("many-keys", "JSON Lines with another key in every line", run)
