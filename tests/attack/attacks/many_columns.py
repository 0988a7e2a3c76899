"""Tables with very many columns, sent into the import wizard."""

from __future__ import annotations

import time

from tests.attack.declaration import Attack, Finding, Scale, at_most, exactly
from tests.attack.sending import upload
from tests.attack.site import Site
from tests.attack.watching import visitor

SECONDS = 30
PROBLEMS = """
from annotations.models import Upload
upload = Upload.objects.filter(name=NAME, question_set__public_id=SET).latest("pk")
result = ", ".join(one["code"] for one in upload.problems) or upload.state
"""


def run(site: Site, scale: Scale) -> list[Finding]:
    """Send each as a requester does, while somebody else looks at pages."""
    ours, browser, findings = site.people["rana"]["set"], site.browser("rana", 300), []
    n = scale.of(200_000, 1_000_000)
    names = ",".join(f"c{number}" for number in range(n))
    files = {"names.csv": f"{names}\n{',' * (n - 1)}\n"}
    for name, content in files.items():
        with visitor(site) as other:
            began = time.monotonic()
            status = upload(browser, ours, name, content.encode()).status_code
            seconds = round(time.monotonic() - began, 1)
        what = f"{name} of {n:,} columns"
        findings += [
            exactly(f"{what}: errors of the site", status >= 500, False),
            exactly(
                f"{what}: problem", site.python(PROBLEMS, NAME=name, SET=ours), "too_many_columns"
            ),
            at_most(f"{what}: answered within", seconds, SECONDS, "s"),
            *other.findings(10),
        ]
    return findings


ATTACK = Attack("many-columns", "tables with hundreds of thousands of columns", run)
