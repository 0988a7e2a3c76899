"""Table of a chaos run, and its place in the document of reliability."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.chaos.__main__ import Outcome

DOCUMENT = Path(__file__).resolve().parents[2] / "platform/docs/reliability.md"
YES_OR_NO = {True: "yes", False: "**no**"}
MARK = re.compile(r"(?<=<!-- chaos -->\n).*?(?=<!-- end of chaos -->)", re.DOTALL)


def build_report(outcomes: Sequence[Outcome], how: str, most_seconds: float) -> str:
    """Return the outcomes as Markdown: recoveries by fault, then invariants by load."""
    lines = [f"Measured by {how}.", ""]
    for outcome in outcomes:
        verdict = "all invariants hold" if outcome.holds else "**an invariant does not hold**"
        lines += [f"### {outcome.stack}: {verdict} ({outcome.seconds / 60:.0f} minutes)", ""]
        lines += ["| fault | seconds to recovery |", "|---|---|"]
        lines += [
            f"| {name} | {seconds:.1f}{'' if seconds <= most_seconds else ' **late**'} |"
            for name, seconds in outcome.recoveries
        ]
        lines += ["", "| load | invariant or count | figure | holds |", "|---|---|---|---|"]
        lines += [
            f"| {check.load} | {check.what} | {check.figure} | {YES_OR_NO[check.holds]} |"
            for check in outcome.checks
        ]
        lines += ["", *(f"Not run: {reason}." for reason in outcome.left_out), ""]
    return "\n".join(lines)


def write_report(report: str) -> None:
    """Replace the marked part of the document by a report."""
    text = DOCUMENT.read_text("utf-8")
    if MARK.search(text) is None:
        raise SystemExit(f"{DOCUMENT} has no part marked for the report")
    DOCUMENT.write_text(MARK.sub(lambda _: f"\n{report}\n", text), "utf-8")
