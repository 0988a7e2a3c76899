"""Alarms as text for a terminal: what rang, whom it is about, and what it means."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence

from evaluation.flow.alarms import Alarm
from evaluation.words.console import printable
from evaluation.words.terminal import said

# Workers or questions named for an alarm.
SHOWN = 40
# Characters of a line, and of an id in the middle of one.
WIDE = 100
LONGEST_ID = 40


def alarms_text(alarms: Iterable[Alarm], where: str) -> str:
    """Return every alarm, in the order given; `where` has the ids that are left out here."""
    lines = []
    for alarm in alarms:
        lines.append(f"{alarm.severity.upper()} {alarm.kind}: {said(alarm.message)}")
        for what, ids in (("Workers", alarm.workers), ("Questions", alarm.questions)):
            if ids:
                lines.append(f"  {what}: {_named(ids, where)}")
    return "\n".join(textwrap.fill(line, WIDE, subsequent_indent="  ") for line in lines)


def _named(ids: Sequence[object], where: str) -> str:
    more = f" and {len(ids) - SHOWN} more {where}" if len(ids) > SHOWN else ""
    return ", ".join(_short(str(one)) for one in ids[:SHOWN]) + more


def _short(text: str) -> str:
    text = printable(text).replace("\n", " ")
    return text if len(text) <= LONGEST_ID else f"{text[: LONGEST_ID - 3]}..."
