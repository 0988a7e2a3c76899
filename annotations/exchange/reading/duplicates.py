"""A worker who answered a question twice: which of the two answers counts."""

from __future__ import annotations

from argparse import ArgumentParser
from enum import StrEnum


class Duplicates(StrEnum):
    """What becomes of an answer to a question that its worker answered already, otherwise.

    In the order of the rows: an error, or the first of them counts, or the last; an empty last one
    never takes the place of a text. A row that says the same once more is no such answer: it is
    left out and counted in any case.
    """

    REFUSE = "refuse"
    FIRST = "first"
    LAST = "last"


def note_of(n_superseded: int, duplicates: Duplicates | None) -> list[str]:
    """A sentence on the answers that another one of the same worker took the place of; or none."""
    if not n_superseded:
        return []
    rows = f"{n_superseded:,} rows answer" if n_superseded > 1 else "1 row answers"
    return [
        f"{rows} a question that the same worker answered in another row, with another text: "
        f"the {duplicates} answer counts"
    ]


def add_duplicates(parser: ArgumentParser) -> None:
    """Add which of a worker's two answers to a question counts."""
    parser.add_argument(
        "--duplicates",
        type=Duplicates,
        choices=list(Duplicates),
        default=Duplicates.REFUSE,
        metavar="refuse|first|last",
        help="if a worker answered a question twice: refuse the file, or let the first or the "
        "last answer that is not empty count (default: refuse)",
    )
