"""How a published table came about: who, when, how many, by which method, within which limits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from evaluation.consensus.parameters import AqerParameters

UNKNOWN = "not stated"


@dataclass(frozen=True)
class PanelCount:
    """A panel ("" where nobody said) and how many workers are from it."""

    panel: str
    n_workers: int


@dataclass(frozen=True)
class Datasheet:
    """What whoever uses a consensus needs to know; `as_dict` for programs, `markdown` for people.

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
        """The fields as plain values, ready for JSON; times in ISO 8601, in UTC."""
        return {
            name: value.astimezone(UTC).isoformat() if isinstance(value, datetime) else value
            for name, value in asdict(self).items()
        }

    def markdown(self) -> str:
        """The same as a page."""
        return "\n".join(self._lines()) + "\n"

    def _lines(self) -> Iterator[str]:
        yield f"# {_line(self.name)}, version {self.version}: what the crowd answers"
        for text in (self.description, self.notice):
            if text.strip():
                yield from ("", _line(text))
        panels = ", ".join(f"{_line(p.panel) or UNKNOWN} ({p.n_workers:,})" for p in self.panels)
        yield from _section(
            "People and answers",
            {
                "Workers": f"{self.n_workers:,}, of whom {self.n_supported:,} have enough answers "
                "to be ranked",
                "Panels": panels or UNKNOWN,
                "Answers": f"{self.n_answers:,} to {self.n_questions:,} questions; "
                f"{self.n_empty:,} empty, {self.n_rejected:,} rejected ones left out",
                "Language": _line(self.language) or UNKNOWN,
                "Answered": f"{_day(self.first_answer_at)} to {_day(self.last_answer_at)}",
                "Stored": _day(self.stored_at),
                "Wording frozen": _day(self.published_at),
                "Licence": _line(self.licence) or UNKNOWN,
            },
        )
        ceiling = self.ceiling.get("score")
        yield from _section(
            "Method",
            {
                "Method": self.method,
                "Signature": f"`{self.signature}`",
                "Run": f"{_line(self.run_name)} ({self.run}), {_day(self.graded_at)}",
                "Input": f"SHA-256 {self.input_hash}",
                "Settings": _settings(self.parameters),
                "Embedding": _pairs(self.embedding),
                "Human ceiling": UNKNOWN if ceiling is None else f"{ceiling:.3f}",
                "Two camps of answers": _camps(self.camps),
                "Versions": _pairs(self.versions),
            },
        )
        for title, sentences in (("Warnings of the run", self.warnings), ("Limits", self.limits)):
            if sentences:
                yield from ("", f"## {title}", "", *(f"- {_line(entry)}" for entry in sentences))


def _section(title: str, facts: dict[str, str]) -> Iterator[str]:
    yield from ("", f"## {title}", "", *(f"- {name}: {fact}" for name, fact in facts.items()))


def _camps(found: dict[str, Any] | None) -> str:
    if found is None:
        return "not looked for: the run was computed before Crowdgrade did"
    undivided = found["tested"] - found["listed"]
    return (
        f"on {found['listed']:,} of {found['tested']:,} questions with {found['fewest_answers']} "
        f"answers or more (separation above {found['threshold']}); {undivided:,} undivided; "
        f"{found['too_few']:,} with fewer answers, not looked at"
    )


def _settings(parameters: dict[str, Any]) -> str:
    """What differs from the defaults, in words; the JSON form has every parameter."""
    differing = AqerParameters.differences(parameters)
    told = "; ".join(f"{one.label}: {_line(one.value)}" for one in differing)
    return f"{told}; all else by default" if told else "all by default"


def _pairs(values: dict[str, Any]) -> str:
    return ", ".join(f"{name} {_line(str(value))}" for name, value in values.items()) or UNKNOWN


def _line(text: str) -> str:
    return " ".join(text.split())


def _day(value: datetime | None) -> str:
    return UNKNOWN if value is None else f"{value.astimezone(UTC):%Y-%m-%d}"
