"""The table of what was tried, for the terminal and for platform/docs/SECURITY.md."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from datetime import date
from pathlib import Path

from tests.attack.declaration import Attack, Finding

BEGIN, END = "<!-- make attack: begin -->", "<!-- make attack: end -->"
HEAD = "| attack | what was checked | found | must be |\n|---|---|---|---|\n"


def table(
    found: Mapping[str, Sequence[Finding]], attacks: Mapping[str, Attack], when: str = ""
) -> str:
    """Return the rows as Markdown, those that do not hold marked; `when` beside each attack."""
    after = f" ({when})" if when else ""
    rows = []
    for name, findings in found.items():
        for number, one in enumerate(findings):
            first = f"**{name}**: {attacks[name].about}{after}" if number == 0 else ""
            figure = one.figure if one.met else f"**{one.figure}**"
            cells = (first, one.what, figure, one.claim)
            rows.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n")
    return HEAD + "".join(rows)


def write(document: Path, rows: str, day: date, how: str, attacks: Collection[str]) -> None:
    """Put the table between the marks of a document.

    Attacks that were not run keep their rows, with the day of their own last run; those that are
    no longer in `attacks` lose theirs.
    """
    text = document.read_text(encoding="utf-8")
    before, begin, rest = text.partition(BEGIN)
    old, end, after = rest.partition(END)
    if not begin or not end or BEGIN in after:
        raise ValueError(f"{document} has not one place for the table")
    groups = _groups(old) | _groups(rows)
    body = HEAD + "".join(groups[name] for name in sorted(groups) if name in attacks)
    inner = f"{BEGIN}\n\nLast run: {day.isoformat()}, {how}.\n\n{body}\n{END}"
    document.write_text(before + inner + after, encoding="utf-8")


def _groups(rows: str) -> dict[str, str]:
    """Return the rows of each attack by its name; the first row of an attack names it."""
    groups: dict[str, str] = {}
    name = None
    for row in rows.splitlines(keepends=True):
        if found := re.match(r"\| \*\*([a-z-]+)\*\*: ", row):
            name = found[1]
        if name is not None and row.startswith("|"):
            groups[name] = groups.get(name, "") + row
    return groups
