"""Which `Answer.` columns of a batch of Mechanical Turk are answers, and which say something else.

A form sends every field it has: what was answered, but also hidden fields that repeat an Input
cell, the worker's age, a browser. A form of Crowd HTML elements sends all fields in one column,
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

from annotations.exchange.column_names import is_demographic, is_personal, plain_name
from annotations.exchange.header import Column
from annotations.exchange.problems import InputError, Problems
from annotations.exchange.reading.source import Readable, source_of
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
whom each gave one value before it counts as theirs."""


@dataclass(slots=True)
class AnswerColumn:
    """A field of the form, named without `Answer.`, and what was seen of it.

    `samples` are its first different values, three at most. `echoes` is the Input column whose cell
    it repeats in every row, "" if there is none; `of_worker` says that each worker who did several
    assignments gave it one value, `of_person` that its name is that of a fact about the person.
    """

    name: str
    samples: list[str] = field(default_factory=list)
    echoes: str = ""
    of_worker: bool = False
    of_person: bool = False

    @property
    def is_answer(self) -> bool:
        """Whether it is proposed as an answer."""
        return not (self.echoes or self.of_worker or self.of_person)

    @property
    def reason(self) -> str:
        """Why it is not, in a few words."""
        if self.echoes:
            return f"the same as {INPUT}{self.echoes}"
        if self.of_person:
            return "a fact about the worker"
        return "one value for each worker" if self.of_worker else ""


def spelled(names: Iterable[str]) -> list[str]:
    """The names of a header as Mechanical Turk spells them, whatever case they stand in."""
    return [_spelled(name) for name in names]


_PREFIX = re.compile(r"\s*(answer|input)\s*\.\s*(?=\S)", re.IGNORECASE)
_OWN = {plain_name(name): name for name in (*TAKEN_BACK, TASK_ANSWERS)}


@lru_cache(1024)  # asked of each row anew, as files of JSON Lines name more columns on their way
def _spelled(name: str) -> str:
    if (own := _OWN.get(plain_name(name))) is not None:
        return own
    if prefix := _PREFIX.match(name):
        return f"{prefix[1].capitalize()}.{name[prefix.end() :]}"
    return name


def fields_of(aside: dict[str, str]) -> dict[str, str]:
    """The fields of an assignment by their names without `Answer.`, in the order of the file.

    Those that stand in `Answer.taskAnswers` as JSON come one by one; what is no such JSON stays a
    field of that name.
    """
    found: dict[str, str] = {}
    for name, cell in aside.items():
        if not name.startswith(ANSWER):
            continue
        if name == TASK_ANSWERS and (several := _task_answers(cell)) is not None:
            found |= {key: _written(value) for key, value in several.items()}
        else:
            found[name.removeprefix(ANSWER)] = cell
    return found


def columns_of(path: Readable, wanted: Sequence[Column] = ()) -> list[AnswerColumn]:
    """The fields of a batch with what they hold, in the order of the file.

    Rows that cannot be read are passed over: who imports the file is told of them. Where nothing
    would be left to be an answer, every field is proposed. Raises `InputError` for a file that is
    none.
    """
    table = open_table(path, wanted, Problems(source_of(path).name), MAY_LACK)
    seen: dict[str, _Seen] = {}
    n_of_worker: dict[str, int] = {}
    for n_before, (_, cells, extra) in enumerate(table.rows):
        aside = dict(zip(spelled(table.kept_aside), extra, strict=False))
        worker = cells[1].strip() if len(cells) > 1 else ""
        n_of_worker[worker] = n_of_worker.get(worker, 0) + 1
        for name, text in fields_of(aside).items():
            # A field that only some forms sent was empty in the others.
            seen.setdefault(name, _Seen(AnswerColumn(name), n_before)).learn(worker, text, aside)
    repeating = {worker for worker, number in n_of_worker.items() if worker and number > 1}
    found = [one.judged(repeating) for one in seen.values()]
    if found and not any(column.is_answer for column in found):
        for column in found:
            column.echoes, column.of_worker, column.of_person = "", False, False
    return found


def chosen(columns: Sequence[AnswerColumn], globs: Collection[str], file: str) -> list[str]:
    """The names of the answers: those that a glob names, or without globs those proposed.

    A glob is of the name as it stands in the file, with `Answer.`, or without. Raises `InputError`
    for one that names no field.
    """
    if not globs:
        return [column.name for column in columns if column.is_answer]
    for glob in globs:
        if not any(_matches(column.name, [glob]) for column in columns):
            listed = ", ".join(ANSWER + column.name for column in columns[:20])
            raise InputError.from_code(file, "answer_column_unknown", glob=glob, found=listed)
    return [column.name for column in columns if _matches(column.name, globs)]


def _matches(name: str, globs: Iterable[str]) -> bool:
    spellings = (ANSWER + name, name)
    return any(
        fnmatchcase(one, spelling)
        for one in spellings
        for g in globs
        for spelling in (g, _spelled(g))
    )


class _Seen:
    """What is known of a field while the rows go by."""

    def __init__(self, column: AnswerColumn, n_before: int) -> None:
        self.column = column
        self.inputs: set[str] | None = set() if n_before else None
        self.of_workers: dict[str, str | None] = {}
        self.n_filled = 0

    def learn(self, worker: str, text: str, aside: dict[str, str]) -> None:
        value = text.strip()
        same = {
            name for name, cell in aside.items() if name.startswith(INPUT) and cell.strip() == value
        }
        self.inputs = same if self.inputs is None else self.inputs & same
        if not value:
            return
        self.n_filled += 1
        if value not in self.column.samples and len(self.column.samples) < SAMPLES:
            self.column.samples.append(value)
        if self.of_workers.setdefault(worker, value) != value:
            self.of_workers[worker] = None

    def judged(self, repeating: set[str]) -> AnswerColumn:
        """The column, with what all rows together say of it."""
        name = self.column.name
        if self.n_filled >= REPEATING:
            self.column.echoes = min(self.inputs or {""}).removeprefix(INPUT)
            self.column.of_person = is_demographic(name) or is_personal(name)
            values = [self.of_workers.get(worker, "") for worker in repeating]
            self.column.of_worker = len(values) >= REPEATING and all(values)
        return self.column


def _task_answers(cell: str) -> dict[str, Any] | None:
    """The fields in a cell of JSON: a list of one object, or an object; None for anything else."""
    if not cell.strip():
        return {}
    try:
        value = json.loads(cell)
    except (ValueError, RecursionError):
        return None
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    return value if isinstance(value, dict) else None


def _written(value: Any) -> str:
    """A value of JSON as text: a label of a classifier, the buttons that are on, else JSON."""
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
