"""All codes with their words, for platform/docs/words.md: `python -m evaluation.words.table`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from evaluation.words.alarms import ALARMS
from evaluation.words.api import said
from evaluation.words.blanks import Blanks
from evaluation.words.comparing import COMPARING
from evaluation.words.crowd_size import CROWD_SIZE
from evaluation.words.decision import DECISION
from evaluation.words.judge import JUDGE
from evaluation.words.message import Message
from evaluation.words.panels import PANELS
from evaluation.words.reasons import WHY_EMPTY, WHY_NOT_CHOSEN, WHY_UNCHECKED
from evaluation.words.remedies import REMEDIES
from evaluation.words.trust import TRUST
from evaluation.words.views import VIEWS
from evaluation.words.warnings import WARNINGS

HEAD = """# Codes and their words

What is told of a grading is stored as a code with values; each door says it. Below are the words of
the API, with the values in braces: it calls options by their keys, the site by the labels of its
form, the command line and its files by their switches. Written by
`python -m evaluation.words.table`; a test compares.
"""
SAID = {
    "Warnings": WARNINGS,
    "Alarms, by kind and case": ALARMS,
    "Remedies that have no meaning for a crowd": REMEDIES,
    "Can I trust this?": TRUST,
    "Whom to keep and whom to look at": DECISION,
    "Models compared": COMPARING,
    "Panels of people and of models": PANELS,
    "How many workers are enough": CROWD_SIZE,
    "What to know of a judge": JUDGE,
    "All views of models together": VIEWS,
}
REASONS = {
    "Why a cell is empty": WHY_EMPTY,
    "Why a statistic of the alarms is undefined": WHY_UNCHECKED,
    "Why anchors choose nothing, or are not suggested": WHY_NOT_CHOSEN,
}


def document() -> str:
    """Return the page."""
    return "\n".join([HEAD, *_lines()])


def _lines() -> Iterator[str]:
    for title, codes in SAID.items():
        words = {code: said(Message(code, Blanks())) for code in codes}
        yield from _table(title, {code: text for code, text in words.items() if text})
    for title, reasons in REASONS.items():
        yield from _table(title, reasons)


def _table(title: str, words: Mapping[str, str]) -> Iterator[str]:
    yield from (f"## {title}", "", "| code | words |", "|---|---|")
    yield from (f"| `{code}` | {text} |" for code, text in words.items())
    yield ""


if __name__ == "__main__":
    print(document(), end="")
