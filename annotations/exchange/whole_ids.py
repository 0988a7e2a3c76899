"""Read ids that a spreadsheet or pandas stored as decimals, such as 101.0 for 101."""

from __future__ import annotations

import re
from argparse import ArgumentParser
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from annotations.exchange.problem_messages import PROBLEM_MESSAGES
from annotations.exchange.problems import Problems

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

RecordT = TypeVar("RecordT", bound="DataclassInstance")

_WHOLE = re.compile(r"0|[1-9]\d{0,14}")
_DECIMAL = re.compile(rf"({_WHOLE.pattern})[.,]0")

Cells = Sequence[str]


def is_decimal_id(typed: str) -> bool:
    """Return whether an id is a whole number with “.0” or “,0” at its end."""
    # Most ids end otherwise, and need no search.
    return typed[-2:] in (".0", ",0") and _DECIMAL.fullmatch(typed) is not None


def add_keep_ids_argument(parser: ArgumentParser) -> None:
    """Add the option --keep-ids to a command line parser."""
    parser.add_argument(
        "--keep-ids",
        action="store_true",
        help="read 101 and 101.0 as two ids; without it both are read as 101 if all ids of the "
        "column are whole numbers, and the rows are counted",
    )


@dataclass
class _IdColumn:
    """Counts of the ids in one column: with “.0”, whole numbers without it, and others."""

    n_decimal: int = 0
    n_whole: int = 0
    n_other: int = 0
    example: str = ""

    def count_cell(self, cell: str) -> None:
        """Count the id in the cell of one row."""
        if is_decimal_id(cell):
            self.n_decimal += 1
            self.example = self.example or cell
        elif _WHOLE.fullmatch(cell):
            self.n_whole += 1
        else:
            self.n_other += 1

    @property
    def is_mixed(self) -> bool:
        """Whether some whole numbers are typed with “.0” and others without."""
        return bool(self.n_decimal and self.n_whole)


class WholeIdReader:
    """Reader of ids that drops the ending “.0” in columns of whole numbers only.

    `columns` are the positions of the columns of ids, by name. `read_rows` reads all rows of the
    file once more, which is done at the first id with “.0”. Rows that `is_skipped` hold no ids.
    With `keeps` all ids stay as typed; that a column mixes 101 and 101.0 is reported all the same.
    """

    def __init__(
        self,
        columns: dict[str, int],
        read_rows: Callable[[], Iterable[Cells]],
        is_skipped: Callable[[Cells], bool] = lambda cells: False,
        *,
        keeps: bool = False,
    ) -> None:
        self._names = {position: name for name, position in columns.items()}
        self._read_rows, self._is_skipped, self._keeps = read_rows, is_skipped, keeps
        self._columns: dict[int, _IdColumn] = {}
        self._read: dict[int, dict[str, str]] = {}

    def _count_ids(self) -> None:
        """Count the ids of all rows, and select the columns that are read without “.0”."""
        self._columns = {position: _IdColumn() for position in self._names}
        for cells in self._read_rows():
            if not self._is_skipped(cells):
                for position, column in self._columns.items():
                    if cell := cells[position].strip():
                        column.count_cell(cell)
        if not self._keeps:
            self._read = {
                position: {}
                for position, column in self._columns.items()
                if column.n_decimal and not column.n_other
            }

    def read_id(self, cells: Cells, position: int) -> str:
        """Return the id in a cell of a row, without “.0” if its column holds whole numbers."""
        cell = cells[position]
        if position not in self._names or not is_decimal_id(typed := cell.strip()):
            return cell
        if not self._columns:
            self._count_ids()
        if position not in self._read:
            return cell
        return self._read[position].setdefault(typed, typed[:-2])

    @property
    def notes(self) -> list[str]:
        """A sentence for each column with ids such as 101.0, complete when all were read.

        A column without such ids has none, nor has one in which each other id is a text.
        """
        return [
            self._describe_column(position, column)
            for position, column in self._columns.items()
            if column.is_mixed or self._read.get(position)
        ]

    def _describe_column(self, position: int, column: _IdColumn) -> str:
        """Return a sentence on how a column's ids were read and, if mixed, how to change that."""
        name, typed = self._names[position], column.example
        if not column.is_mixed:
            n_ids = len(self._read[position])
            return (
                f"Ids of {name} that were stored as decimals: {n_ids:,}, "
                f"such as {typed}, read as {typed[:-2]}"
            )
        code = "ids_mixed"
        if position not in self._read:
            code = "ids_mixed_as_typed" if self._keeps else "ids_mixed_with_texts"
        reason, remedy, _ = PROBLEM_MESSAGES[code].texts(
            self._collect_message_values(position, column)
        )
        return f"{reason}. {remedy}"

    def insert_mixed_column_problems(self, problems: Problems) -> None:
        """Insert a problem for each column that mixes 101 and 101.0, before all other problems.

        A worker may have two answers to a question only because two ids became one.
        """
        for position in self._read if problems.total else ():
            column = self._columns[position]
            if column.is_mixed:
                problems.insert_file_problem(
                    "ids_mixed", **self._collect_message_values(position, column)
                )

    def _collect_message_values(self, position: int, column: _IdColumn) -> dict[str, Any]:
        """Return the values that fill the message about a column with mixed ids."""
        return {
            "column": self._names[position],
            "n_decimal": column.n_decimal,
            "n_whole": column.n_whole,
            "n_other": column.n_other,
            "typed": column.example,
            "whole": column.example[:-2],
        }


class KnownIdReader:
    """Reader of a joined file's ids in the spelling that the answers have, such as 101 for 101.0.

    `pairs` are the workers and questions of the answers. An id such as 101.0 that is there only
    as 101 is read as 101, and the reverse, unless `keeps`.
    """

    def __init__(self, pairs: Iterable[tuple[str, str]], *, keeps: bool) -> None:
        self._workers: set[str] = set()
        self._questions: set[str] = set()
        for worker, question in () if keeps else pairs:
            self._workers.add(worker)
            self._questions.add(question)

    def read_worker_id(self, typed: str) -> str:
        """Return a worker's id as the answers have it; unchanged if they have no such id."""
        return _read_known_id(typed, self._workers)

    def read_question_id(self, typed: str) -> str:
        """Return a question's id as the answers have it; unchanged if they have no such id."""
        return _read_known_id(typed, self._questions)

    def match_record_ids(self, records: Iterable[RecordT]) -> list[RecordT]:
        """Return the records with their question and worker ids as the answers have them."""
        readers = {"worker": self.read_worker_id, "question": self.read_question_id}
        matched = []
        for record in records:
            ids = {name: getattr(record, name) for name in readers if hasattr(record, name)}
            read = {name: readers[name](typed) for name, typed in ids.items()}
            matched.append(record if read == ids else replace(record, **read))
        return matched


def _read_known_id(typed: str, known: Collection[str]) -> str:
    """Return an id without “.0”, or with it, if only this form is known; else unchanged."""
    cleaned = typed.strip()
    if cleaned in known:
        return typed
    other_forms: tuple[str, ...]
    if is_decimal_id(cleaned):
        other_forms = (cleaned[:-2],)
    elif _WHOLE.fullmatch(cleaned):
        other_forms = (f"{cleaned}.0", f"{cleaned},0")
    else:
        return typed
    return next((form for form in other_forms if form in known), typed)
