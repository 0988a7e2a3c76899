"""Decide which `Answer.` columns of a Mechanical Turk batch hold answers to questions.

A form sends every field it has: the answers, but also hidden fields that repeat an Input cell, the
worker's age, the browser. A form of Crowd HTML elements sends all fields in one column,
`Answer.taskAnswers`, as JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any

from annotations.exchange.column_names import (
    is_demographic_heading,
    is_personal_heading,
    is_remark_heading,
    normalise_name,
)
from annotations.exchange.header import Column
from annotations.exchange.problems import InputError, Problems
from annotations.exchange.reading.source import Readable, make_source
from annotations.exchange.reading.tables import open_table

ANSWER, INPUT = "Answer.", "Input."
TASK_ANSWERS = "Answer.taskAnswers"
MAY_LACK = ("Approve", "Reject")
"""The header of a batch ends in these, for the requester to fill in; its rows end before them."""
TAKEN_BACK = ("HITId", "AssignmentId", "WorkerId", "AssignmentStatus", *MAY_LACK)
"""The columns by which the site knows a batch again that is sent back to it."""

SAMPLES = 3
REPEATING = 2
"""Cells that must agree before a field counts as an echo, and workers with several assignments of
which each gave one value before the field counts as one value for each worker."""


@dataclass(slots=True)
class AnswerColumn:
    """A form field of a batch, without the prefix `Answer.`, with evidence of what it holds.

    `samples` are its first different values, three at most. `echoes` is the Input column whose cell
    it repeats in every row, "" if there is none; `of_worker` is true if each worker with several
    assignments has one value in it, `of_person` if its name is that of a fact about the person,
    `is_remark` if it is named like a remark on the task, such as feedback.
    """

    name: str
    samples: list[str] = field(default_factory=list)
    echoes: str = ""
    of_worker: bool = False
    of_person: bool = False
    is_remark: bool = False

    @property
    def is_answer(self) -> bool:
        """Whether the field is proposed as an answer to a question."""
        return not (self.echoes or self.of_worker or self.of_person or self.is_remark)

    @property
    def reason(self) -> str:
        """Short reason why the field is not proposed as an answer; "" if it is proposed."""
        if self.echoes:
            return f"the same as {INPUT}{self.echoes}"
        if self.of_person:
            return "a fact about the worker"
        if self.is_remark:
            return "a remark on the task"
        return "one value for each worker" if self.of_worker else ""


def restore_spelling(names: Iterable[str]) -> list[str]:
    """Return header names in Mechanical Turk's spelling, such as "WorkerId" for "workerid"."""
    return [_restore_name(name) for name in names]


_PREFIX = re.compile(r"\s*(answer|input)\s*\.\s*(?=\S)", re.IGNORECASE)
_OWN = {normalise_name(name): name for name in (*TAKEN_BACK, TASK_ANSWERS)}


@lru_cache(1024)  # called for each row, because JSON Lines may add columns in any line
def _restore_name(name: str) -> str:
    """Return a column name in Mechanical Turk's spelling; other names unchanged."""
    if (own := _OWN.get(normalise_name(name))) is not None:
        return own
    if prefix := _PREFIX.match(name):
        return f"{prefix[1].capitalize()}.{name[prefix.end() :]}"
    return name


def read_form_fields(further_cells: dict[str, str]) -> dict[str, str]:
    """Return the form fields of an assignment by name, without the prefix `Answer.`.

    The fields of a JSON cell `Answer.taskAnswers` are listed one by one, those of a second form
    under the names of the first with their number; a cell that is no such JSON remains a field of
    that name.
    """
    fields: dict[str, str] = {}
    for name, cell in further_cells.items():
        if not name.startswith(ANSWER):
            continue
        if name == TASK_ANSWERS and (task_answers := _parse_task_answers(cell)) is not None:
            fields |= {key: _format_form_value(value) for key, value in task_answers.items()}
        else:
            fields[name.removeprefix(ANSWER)] = cell
    return fields


def describe_form_fields(path: Readable, wanted: Sequence[Column] = ()) -> list[AnswerColumn]:
    """Return the form fields of a batch, each with sample cells and whether it is an answer.

    Fields are in the order of the file. Unreadable rows are skipped: the import reports them. If no
    field would be proposed as an answer, every field is. Raises `InputError` for a file that is no
    table.
    """
    table = open_table(path, wanted, Problems(make_source(path).name), MAY_LACK)
    observers: dict[str, _ColumnObserver] = {}
    n_of_worker: dict[str, int] = {}
    for n_before, (_, cells, extra) in enumerate(table.rows):
        further_cells = dict(zip(restore_spelling(table.kept_aside), extra, strict=False))
        worker = cells[1].strip() if len(cells) > 1 else ""
        n_of_worker[worker] = n_of_worker.get(worker, 0) + 1
        for name, text in read_form_fields(further_cells).items():
            # A field that only some forms sent was empty in the others.
            observers.setdefault(name, _ColumnObserver(AnswerColumn(name), n_before)).add_cell(
                worker, text, further_cells
            )
    repeating = {worker for worker, number in n_of_worker.items() if worker and number > 1}
    columns = [observed.conclude_column(repeating) for observed in observers.values()]
    # Without a proposed field nothing would be imported; the user can still choose.
    if columns and not any(column.is_answer for column in columns):
        for column in columns:
            column.echoes, column.of_worker, column.of_person = "", False, False
            column.is_remark = False
    return columns


def choose_answer_fields(
    columns: Sequence[AnswerColumn], globs: Collection[str], file: str
) -> list[str]:
    """Return the names of the fields that match a glob; without globs, of the proposed ones.

    A glob matches a name with or without `Answer.`. Raises `InputError` for one that matches no
    field.
    """
    if not globs:
        return [column.name for column in columns if column.is_answer]
    for glob in globs:
        if not any(_matches_a_glob(column.name, [glob]) for column in columns):
            listed = ", ".join(ANSWER + column.name for column in columns[:20])
            raise InputError.from_code(file, "answer_column_unknown", glob=glob, found=listed)
    return [column.name for column in columns if _matches_a_glob(column.name, globs)]


def _matches_a_glob(name: str, globs: Iterable[str]) -> bool:
    """Return whether a field name matches one of the globs, with or without `Answer.`."""
    spellings = (ANSWER + name, name)
    return any(
        fnmatchcase(name_spelling, spelling)
        for name_spelling in spellings
        for glob in globs
        for spelling in (glob, _restore_name(glob))
    )


class _ColumnObserver:
    """Collector, row by row, of the evidence of whether a form field is an answer."""

    def __init__(self, column: AnswerColumn, n_before: int) -> None:
        self.column = column
        self.inputs: set[str] | None = set() if n_before else None
        self.of_workers: dict[str, str | None] = {}
        self.n_filled = 0

    def add_cell(self, worker: str, text: str, aside: dict[str, str]) -> None:
        """Add the evidence of one row: the field's cell, the worker and the other cells."""
        value = text.strip()
        same = {
            name for name, cell in aside.items() if name.startswith(INPUT) and cell.strip() == value
        }
        # Empty cells count, too: a field that is empty where the Input cell is not is no echo.
        self.inputs = same if self.inputs is None else self.inputs & same
        if not value:
            return
        self.n_filled += 1
        if value not in self.column.samples and len(self.column.samples) < SAMPLES:
            self.column.samples.append(value)
        if self.of_workers.setdefault(worker, value) != value:
            self.of_workers[worker] = None

    def conclude_column(self, repeating: set[str]) -> AnswerColumn:
        """Return the field with the evidence from all rows for or against being an answer."""
        name = self.column.name
        # A field "comment" is as often the task itself.
        self.column.is_remark = is_remark_heading(name) and normalise_name(name) != "comment"
        if self.n_filled >= REPEATING:
            # Of several equal columns the first in the alphabet, so that the result is always the
            # same.
            self.column.echoes = min(self.inputs or {""}).removeprefix(INPUT)
            self.column.of_person = is_demographic_heading(name) or is_personal_heading(name)
            values = [self.of_workers.get(worker, "") for worker in repeating]
            self.column.of_worker = len(values) >= REPEATING and all(values)
        return self.column


def _parse_task_answers(cell: str) -> dict[str, Any] | None:
    """Return the form fields in the JSON cell of Crowd HTML elements; None for other text."""
    if not cell.strip():
        return {}
    try:
        value = json.loads(cell)
    except (ValueError, RecursionError):
        return None
    # Crowd HTML elements send a list with one object, for several forms one for each.
    forms = value if isinstance(value, list) and value else [value]
    if not all(isinstance(form, dict) for form in forms):
        return None
    fields: dict[str, Any] = {}
    for number, form in enumerate(forms, 1):
        for name, cell_value in form.items():
            fields[name if name not in fields else f"{name} [{number}]"] = cell_value
    return fields


def _format_form_value(value: Any) -> str:
    """Return a JSON form value as text: a classifier's label, checked boxes, else JSON."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, dict):
        if set(value) == {"label"} and isinstance(value["label"], str):
            return value["label"]
        if value and all(isinstance(on, bool) for on in value.values()):
            return ", ".join(str(key) for key, on in value.items() if on)
    return json.dumps(value, ensure_ascii=False)
