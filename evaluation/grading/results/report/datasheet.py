"""Datasheet of a published consensus: workers, answers, method and limits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from evaluation.consensus.parameters import AqerParameters

UNKNOWN = "not stated"


@dataclass(frozen=True)
class PanelCount:
    """Number of workers from one panel; the panel is "" if unknown."""

    panel: str
    n_workers: int


@dataclass(frozen=True)
class Datasheet:
    """Description of a published consensus: its source, method, settings and limits.

    Attributes
    ----------
    first_answer_at, last_answer_at : None where nobody took the times; `stored_at` is when the
        last answer came into the database.
    n_empty, n_rejected : answers without a text, and those left out because they were refused
        where they were collected.
    ceiling : mean leave-one-out score of the best quarter of the workers, as in the run's summary.
    camps : how many questions were looked at for two camps of answers (`tested`), had them
        (`listed`) or too few answers (`too_few`), with the thresholds; None if the run did not
        look.
    """

    name: str
    description: str
    notice: str
    version: int
    licence: str
    language: str
    published_at: datetime | None
    first_answer_at: datetime | None
    last_answer_at: datetime | None
    stored_at: datetime | None
    panels: list[PanelCount]
    n_workers: int
    n_supported: int
    n_questions: int
    n_answers: int
    n_empty: int
    n_rejected: int
    run: str
    run_name: str
    graded_at: datetime | None
    method: str
    signature: str
    input_hash: str
    parameters: dict[str, Any]
    embedding: dict[str, Any]
    ceiling: dict[str, Any]
    camps: dict[str, Any] | None
    versions: dict[str, str]
    warnings: list[str]
    limits: list[str]

    def as_dict(self) -> dict[str, Any]:
        """Return the datasheet's fields as plain values for JSON; times in ISO 8601, UTC."""
        return {
            name: value.astimezone(UTC).isoformat() if isinstance(value, datetime) else value
            for name, value in asdict(self).items()
        }

    def markdown(self) -> str:
        """Return the datasheet as a Markdown page."""
        return "\n".join(self._iterate_lines()) + "\n"

    def _iterate_lines(self) -> Iterator[str]:
        """Yield the lines of the datasheet as a Markdown page."""
        yield f"# {_join_lines(self.name)}, version {self.version}: what the crowd answers"
        for text in (self.description, self.notice):
            if text.strip():
                yield from ("", _join_lines(text))
        panels = ", ".join(
            f"{_join_lines(p.panel) or UNKNOWN} ({p.n_workers:,})" for p in self.panels
        )
        yield from _iterate_section(
            "People and answers",
            {
                "Workers": f"{self.n_workers:,}, of whom {self.n_supported:,} have enough answers "
                "to be ranked",
                "Panels": panels or UNKNOWN,
                "Answers": f"{self.n_answers:,} to {self.n_questions:,} questions; "
                f"{self.n_empty:,} empty, {self.n_rejected:,} rejected ones left out",
                "Language": _join_lines(self.language) or UNKNOWN,
                "Answered": f"{_format_day(self.first_answer_at)} to "
                f"{_format_day(self.last_answer_at)}",
                "Stored": _format_day(self.stored_at),
                "Wording frozen": _format_day(self.published_at),
                "Licence": _join_lines(self.licence) or UNKNOWN,
            },
        )
        ceiling = self.ceiling.get("score")
        yield from _iterate_section(
            "Method",
            {
                "Method": self.method,
                "Signature": f"`{self.signature}`",
                "Run": f"{_join_lines(self.run_name)} ({self.run}), {_format_day(self.graded_at)}",
                "Input": f"SHA-256 {self.input_hash}",
                "Settings": _describe_settings(self.parameters),
                "Embedding": _format_pairs(self.embedding),
                "Human ceiling": UNKNOWN if ceiling is None else f"{ceiling:.3f}",
                "Two camps of answers": _describe_camps(self.camps),
                "Versions": _format_pairs(self.versions),
            },
        )
        for title, sentences in (("Warnings of the run", self.warnings), ("Limits", self.limits)):
            if sentences:
                yield from (
                    "",
                    f"## {title}",
                    "",
                    *(f"- {_join_lines(entry)}" for entry in sentences),
                )


def _iterate_section(title: str, facts: dict[str, str]) -> Iterator[str]:
    """Yield the Markdown lines of a section: heading, and a list item for each fact."""
    yield from ("", f"## {title}", "", *(f"- {name}: {fact}" for name, fact in facts.items()))


def _describe_camps(counts: dict[str, Any] | None) -> str:
    """Return the numbers of questions with and without two camps of answers, as text."""
    if counts is None:
        return "not looked for: the run was computed before Crowdgrade did"
    undivided = counts["tested"] - counts["listed"]
    return (
        f"on {counts['listed']:,} of {counts['tested']:,} questions with "
        f"{counts['fewest_answers']} answers or more (separation above {counts['threshold']}); "
        f"{undivided:,} undivided; {counts['too_few']:,} with fewer answers, not looked at"
    )


def _describe_settings(parameters: dict[str, Any]) -> str:
    """Return the run options that differ from their defaults, as text."""
    differing = AqerParameters.differences(parameters)
    settings = "; ".join(f"{one.label}: {_join_lines(one.value)}" for one in differing)
    return f"{settings}; all else by default" if settings else "all by default"


def _format_pairs(values: dict[str, Any]) -> str:
    """Return names and their values as text, separated by commas."""
    return (
        ", ".join(f"{name} {_join_lines(str(value))}" for name, value in values.items()) or UNKNOWN
    )


def _join_lines(text: str) -> str:
    """Return a text on one line, with single spaces."""
    return " ".join(text.split())


def _format_day(value: datetime | None) -> str:
    """Return the date of a time in UTC, "not stated" for None."""
    return UNKNOWN if value is None else f"{value.astimezone(UTC):%Y-%m-%d}"
