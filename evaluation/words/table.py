"""All codes with their words, for platform/docs/words.md: `python -m evaluation.words.table`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from evaluation.words.across import ACROSS
from evaluation.words.alarms import ALARMS
from evaluation.words.catalogue import Catalogue
from evaluation.words.comparing import COMPARING
from evaluation.words.crowd_size import CROWD_SIZE
from evaluation.words.decision import DECISION
from evaluation.words.failures import FAILURES
from evaluation.words.graded import GRADED
from evaluation.words.judge import JUDGE
from evaluation.words.message import SENTENCE, Message
from evaluation.words.multiqa import MULTIQA
from evaluation.words.outcomes import OUTCOMES
from evaluation.words.panels import PANELS
from evaluation.words.paying import PAYING
from evaluation.words.plan import PLAN
from evaluation.words.reasons import WHY_EMPTY, WHY_NOT_CHOSEN, WHY_UNCHECKED
from evaluation.words.remedies import REMEDIES
from evaluation.words.signals import SIGNALS
from evaluation.words.triage import REASONS as EXCLUDED_FOR
from evaluation.words.triage import TRIAGE
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
    "What became of an alarm after a remedy": OUTCOMES,
    "Remedies that have no meaning for a crowd": REMEDIES,
    "Why a run failed": FAILURES,
    "Can I trust this?": TRUST,
    "Whom to keep and whom to look at": DECISION,
    "Deciding about people": TRIAGE,
    "The payment desk": PAYING,
    "How answers were written": SIGNALS,
    "Models compared": COMPARING,
    "Panels of people and of models": PANELS,
    "Questions in other words": MULTIQA,
    "How many workers are enough": CROWD_SIZE,
    "How many more answers, and what they cost": PLAN,
    "Which method to trust in a domain": GRADED,
    "What to know of a judge": JUDGE,
    "All views of models together": VIEWS,
    "Workers and models across sets": ACROSS,
}
REASONS = {
    "Why a cell is empty": WHY_EMPTY,
    "Why a statistic of the alarms is undefined": WHY_UNCHECKED,
    "Why somebody is excluded": {code: one.words for code, one in EXCLUDED_FOR.items()},
    "Why anchors choose nothing, or are not suggested": WHY_NOT_CHOSEN,
}


class Blank(str):
    """A value called by its name in braces, whatever a sentence does with it."""

    def __format__(self, spec: str) -> str:
        return str(self)

    def __lt__(self, other: Any) -> bool:
        return False

    def __mul__(self, other: Any) -> Blank:
        return Blank(f"{self} x {other}")


class Blanks(Mapping[str, Any]):
    """A blank for every name."""

    def __getitem__(self, name: str) -> Blank:
        return Blank(f"{{{name}}}")

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0

    def __contains__(self, name: object) -> bool:
        return name != SENTENCE


def document() -> str:
    """Return the page."""
    return "\n".join([HEAD, *_lines()])


def _lines() -> Iterator[str]:
    api = Catalogue(option=str)  # it calls options by their keys
    for title, codes in SAID.items():
        words = {code: api.said(Message(code, Blanks())) for code in codes}
        yield from _table(title, {code: text for code, text in words.items() if text})
    for title, reasons in REASONS.items():
        yield from _table(title, reasons)


def _table(title: str, words: Mapping[str, str]) -> Iterator[str]:
    yield from (f"## {title}", "", "| code | words |", "|---|---|")
    yield from (f"| `{code}` | {text} |" for code, text in words.items())
    yield ""


if __name__ == "__main__":
    print(document(), end="")
