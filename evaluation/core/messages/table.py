"""Write the document of all message codes: `python -m evaluation.core.messages.table`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pkgutil import resolve_name
from typing import Any

from evaluation.core.messages.catalogue import Catalogue
from evaluation.core.messages.message import SENTENCE, Message
from evaluation.core.messages.reasons import REASONS as EXCLUSION_REASONS
from evaluation.core.messages.reasons import WHY_EMPTY, WHY_NOT_CHOSEN, WHY_UNCHECKED
from evaluation.core.messages.run_sentences import ACROSS, FAILURES, GRADED, WARNINGS

HEAD = """# Messages by code

A message about a grading is stored as a code with values. Each interface builds its sentence. Below
are the sentences of the REST API, with the values in braces. They name options by their keys; the
site uses the labels of its form, the command line and its files use the flags. Written by
`python -m evaluation.core.messages.table`; a test compares.
"""
CODES_BY_TITLE = {
    "Warnings": WARNINGS,
    "Alarms, by kind and case": resolve_name("evaluation.grading.alarms.messages.ALARMS"),
    "What became of an alarm after a remedy": resolve_name(
        "evaluation.grading.remedies.messages.OUTCOMES"
    ),
    "Remedies that have no meaning for a crowd": resolve_name(
        "evaluation.grading.remedies.messages.REMEDIES"
    ),
    "Why a run failed": FAILURES,
    "Can I trust this?": resolve_name("evaluation.trust.messages.TRUST"),
    "Workers to keep and workers to check": resolve_name("evaluation.trust.messages.DECISION"),
    "Deciding about people": resolve_name("evaluation.triage.messages.TRIAGE"),
    "Payments": resolve_name("evaluation.payments.messages.PAYING"),
    "How answers were written": resolve_name("evaluation.grading.results.messages.SIGNALS"),
    "Models compared": resolve_name("evaluation.grading.results.messages.COMPARING"),
    "Panels of people and of models": resolve_name("evaluation.crowd_vs_llm.messages.PANELS"),
    "Questions in other words": resolve_name("evaluation.multiqa.messages.MULTIQA"),
    "How many workers are enough": resolve_name("evaluation.sample_size.messages.CROWD_SIZE"),
    "How many more answers, and what they cost": resolve_name(
        "evaluation.sample_size.messages.PLAN"
    ),
    "Which method to trust in a domain": GRADED,
    "What to know of a judge": resolve_name("evaluation.llm_judge.messages.JUDGE"),
    "All views of models together": resolve_name("evaluation.model_overview.messages.VIEWS"),
    "Workers and models across sets": ACROSS,
}
REASONS = {
    "Why a cell is empty": WHY_EMPTY,
    "Why a statistic of the alarms is undefined": WHY_UNCHECKED,
    "Why a worker is excluded": {code: reason.words for code, reason in EXCLUSION_REASONS.items()},
    "Why anchors choose nothing, or are not suggested": WHY_NOT_CHOSEN,
}


class Placeholder(str):
    """Text in place of a value of a sentence: the value's name in braces, in every format."""

    def __format__(self, spec: str) -> str:
        return str(self)

    # Sentences that are functions compare and multiply their values.
    def __lt__(self, other: Any) -> bool:
        return False

    def __mul__(self, other: Any) -> Placeholder:
        return Placeholder(f"{self} x {other}")


class Placeholders(Mapping[str, Any]):
    """Mapping with a `Placeholder` for every name, to show a sentence without its values."""

    def __getitem__(self, name: str) -> Placeholder:
        return Placeholder(f"{{{name}}}")

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0

    def __contains__(self, name: object) -> bool:
        return name != SENTENCE


def build_document() -> str:
    """Return the text of platform/docs/words.md: tables of all message codes and sentences."""
    return "\n".join([HEAD, *_build_lines()])


def _build_lines() -> Iterator[str]:
    """Yield the lines of the document: the tables of all catalogues."""
    api = Catalogue(option=str)  # it calls options by their keys
    for title, codes in CODES_BY_TITLE.items():
        words = {code: api.format_message(Message(code, Placeholders())) for code in codes}
        yield from _build_table(title, {code: text for code, text in words.items() if text})
    for title, reasons in REASONS.items():
        yield from _build_table(title, reasons)


def _build_table(title: str, words: Mapping[str, str]) -> Iterator[str]:
    """Yield the lines of one table of codes and sentences."""
    yield from (f"## {title}", "", "| code | words |", "|---|---|")
    yield from (f"| `{code}` | {text} |" for code, text in words.items())
    yield ""


if __name__ == "__main__":
    print(build_document(), end="")
