"""Rules that select the counting answer when a worker answered a question twice."""

from __future__ import annotations

from argparse import ArgumentParser
from enum import StrEnum


class Duplicates(StrEnum):
    """Rule for two different answers of one worker to one question: refuse, first or last.

    REFUSE: an error. FIRST or LAST in the order of the rows: that answer counts; an empty answer
    never replaces a text. A row that repeats the same text is left out and counted in any
    case.
    """

    REFUSE = "refuse"
    FIRST = "first"
    LAST = "last"


def replaces(later: str, earlier: str, duplicates: Duplicates) -> bool:
    """Return whether a worker's later answer counts in place of the earlier one.

    A text counts in place of an empty answer, and an empty answer never in place of a text.
    """
    if bool(later) != bool(earlier):
        return bool(later)
    return duplicates == Duplicates.LAST


def describe_superseded(n_superseded: int, duplicates: Duplicates | None) -> list[str]:
    """Return a sentence on the number of answers replaced by the same worker's other; [] if 0."""
    if not n_superseded:
        return []
    rows = f"{n_superseded:,} rows answer" if n_superseded > 1 else "1 row answers"
    return [
        f"{rows} a question that the same worker answered in another row, with another text: "
        f"the {duplicates} answer counts"
    ]


def add_duplicates(parser: ArgumentParser) -> None:
    """Add the option --duplicates (refuse, first or last) to a command line parser."""
    parser.add_argument(
        "--duplicates",
        type=Duplicates,
        choices=list(Duplicates),
        default=Duplicates.REFUSE,
        metavar="refuse|first|last",
        help="if a worker answered a question twice: refuse the file, or let the first or the "
        "last answer that is not empty count (default: refuse)",
    )
