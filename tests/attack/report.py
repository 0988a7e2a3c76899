"""The table of what was tried, for the terminal and for platform/docs/SECURITY.md."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path

from tests.attack.declaration import Attack, Finding

BEGIN, END = "<!-- make attack: begin -->", "<!-- make attack: end -->"
HEAD = "| attack | what was looked at | found | must be |\n|---|---|---|---|\n"


def table(found: Mapping[str, Sequence[Finding]], attacks: Mapping[str, Attack]) -> str:
    """Return the rows as Markdown, those that do not hold marked."""
    rows = []
    for name, findings in found.items():
        for number, one in enumerate(findings):
            first = f"**{name}**: {attacks[name].about}" if number == 0 else ""
            figure = one.figure if one.met else f"**{one.figure}**"
            cells = (first, one.what, figure, one.claim)
            rows.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n")
    return HEAD + "".join(rows)


def write(document: Path, rows: str, day: date, how: str) -> None:
    """Put the table between the marks of a document."""
    text = document.read_text(encoding="utf-8")
    inner = f"{BEGIN}\n\n{day.isoformat()}, {how}:\n\n{rows}\n{END}"
    changed, n = re.subn(
        f"{re.escape(BEGIN)}.*{re.escape(END)}", lambda _: inner, text, flags=re.DOTALL
    )
    if n != 1:
        raise ValueError(f"{document} has not one place for the table")
    document.write_text(changed, encoding="utf-8")
