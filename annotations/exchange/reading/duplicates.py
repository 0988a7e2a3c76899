"""Rules that select the counting answer when a worker answered a question twice."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from annotations.exchange.ids import clean_id

MOST_NAMED = 5
"""Workers with a rule of their own that a report names."""


class Duplicates(StrEnum):
    """Rule for two different answers of one worker to one question: refuse, first or last.

    REFUSE: an error. FIRST or LAST in the order of the rows: that answer counts; an empty answer
    never replaces a text. A row that repeats the same text is left out and counted in any
    case.
    """

    REFUSE = "refuse"
    FIRST = "first"
    LAST = "last"

    def get_rule(self, worker: str) -> Duplicates:
        """Return the rule for a worker, which is the same for all workers."""
        return self

    def as_json(self) -> Any:
        """Return the rule as a JSON value, which `parse_duplicate_rule` reads back."""
        return self.value


@dataclass(frozen=True, slots=True)
class DuplicatesByWorker:
    """Rules for workers who answered a question twice: own rules of some, one for all others."""

    default: Duplicates = Duplicates.REFUSE
    workers: Mapping[str, Duplicates] = field(default_factory=dict)

    def get_rule(self, worker: str) -> Duplicates:
        """Return the rule for a worker: the worker's own or the default."""
        return self.workers.get(worker, self.default)

    def as_json(self) -> Any:
        """Return the rules as a JSON value, which `parse_duplicate_rule` reads back."""
        return {"default": self.default.value, "workers": dict(self.workers)}


DuplicateRule = Duplicates | DuplicatesByWorker
"""The rule of a file: one for all workers, or some workers' own ones."""


def parse_duplicate_rule(value: Any) -> DuplicateRule:
    """Return the rule for repeated answers from its JSON value (see `as_json`)."""
    return (
        build_duplicate_rule(value["default"], value["workers"])
        if isinstance(value, dict)
        else (Duplicates(value))
    )


def build_duplicate_rule(default: str, workers: Mapping[str, str]) -> DuplicateRule:
    """Return the rule `default` for all workers, with the own rules of some workers if any."""
    if not workers:
        return Duplicates(default)
    own = {name: Duplicates(rule) for name, rule in workers.items()}
    return DuplicatesByWorker(Duplicates(default), own)


def should_replace(later: str, earlier: str, duplicates: Duplicates) -> bool:
    """Return whether a worker's later answer counts in place of the earlier one.

    A text counts in place of an empty answer, and an empty answer never in place of a text.
    """
    if bool(later) != bool(earlier):
        return bool(later)
    return duplicates == Duplicates.LAST


def describe_superseded(n_superseded: int, duplicates: DuplicateRule | None) -> list[str]:
    """Return a sentence on the answers that gave way to another of the same worker; [] for 0."""
    if not n_superseded:
        return []
    rows = f"{n_superseded:,} rows answer" if n_superseded > 1 else "1 row answers"
    counting = f"the {duplicates} answer counts"
    if isinstance(duplicates, DuplicatesByWorker):
        rules = [f"the {rule} one of {name}" for name, rule in duplicates.workers.items()]
        more = f" and {len(rules) - MOST_NAMED} more" if len(rules) > MOST_NAMED else ""
        if duplicates.default != Duplicates.REFUSE:
            more += f"; of all others the {duplicates.default} one"
        counting = f"there counts {', '.join(rules[:MOST_NAMED])}{more}"
    return [
        f"{rows} a question that the same worker answered in another row, with another text: "
        f"{counting}"
    ]


def add_duplicates_arguments(parser: ArgumentParser, *, by_worker: bool = False) -> None:
    """Add the option --duplicates (refuse, first or last) to a command line parser.

    `by_worker` adds --duplicates-of, the rule for one worker.
    """
    parser.add_argument(
        "--duplicates",
        type=Duplicates,
        choices=list(Duplicates),
        default=Duplicates.REFUSE,
        metavar="refuse|first|last",
        help="if a worker answered a question twice: refuse the file, or let the first or the "
        "last answer that is not empty count (default: refuse)",
    )
    if by_worker:
        parser.add_argument(
            "--duplicates-of",
            type=_parse_worker_rule,
            action="append",
            default=[],
            metavar="WORKER=first|last",
            help="the same for one worker, in place of --duplicates; may come several times",
        )


def _parse_worker_rule(text: str) -> tuple[str, Duplicates]:
    """Return (worker, rule) of WORKER=first or WORKER=last; ArgumentTypeError for other text."""
    worker, _, rule = text.rpartition("=")
    if not worker.strip() or rule not in tuple(Duplicates):
        raise ArgumentTypeError(f"{text!r} is no WORKER=first or WORKER=last")
    return clean_id(worker), Duplicates(rule)


def build_rule_from_options(
    default: Duplicates, workers: Iterable[tuple[str, Duplicates]]
) -> DuplicateRule:
    """Return the rule that the options --duplicates and --duplicates-of state."""
    return build_duplicate_rule(default, dict(workers))
