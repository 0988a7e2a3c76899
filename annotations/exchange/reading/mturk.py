"""Read batch results of Mechanical Turk: a row per assignment, an answer per Answer column.

A HIT with its `Answer.` column is a question, named HITID:COLUMN; its wording is made of the
`Input.` columns by a template in the syntax of Python's `string.Template`. Which columns are
answers, `mturk_columns` finds out.
"""

from __future__ import annotations

import re
import string
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from functools import partial
from itertools import chain, islice

from annotations.exchange.facts import read_seconds
from annotations.exchange.header import Column
from annotations.exchange.ids import IdCleaner, is_blank
from annotations.exchange.problems import InputError, Problems
from annotations.exchange.reading.answers import LONGEST_ANSWER, report_damaged_ids
from annotations.exchange.reading.duplicates import DuplicateRule
from annotations.exchange.reading.mturk_columns import (
    ANSWER,
    INPUT,
    MAY_LACK,
    AnswerColumn,
    choose_answer_fields,
    describe_form_fields,
    read_form_fields,
    restore_spelling,
)
from annotations.exchange.reading.source import Readable, make_source
from annotations.exchange.reading.tables import open_table
from annotations.exchange.records import AnswerFacts, AnswerRecord

PANEL = "MTurk"
STATUSES = ("submitted", "approved", "rejected")
REJECTED = "rejected"
OF_ASSIGNMENT = ("AssignmentId", "AssignmentStatus", "ApprovalTime", "RejectionTime")
FEEDBACK = "RequesterFeedback"
"""Kept with each answer, where they are not empty."""

COLUMNS = (
    *(Column(name, (name,), renamed_by="", any_case=True) for name in ("HITId", "WorkerId")),
    *(
        Column(name, (name,), required=False, renamed_by="", any_case=True)
        for name in ("AcceptTime", "SubmitTime", "WorkTimeInSeconds", *OF_ASSIGNMENT, FEEDBACK)
    ),
)

ANSWER_FIELD = "Answer"
"""In a template: the name of the Answer column, without its prefix."""

# Wed Nov 15 09:11:32 PST 2023; the site writes no other zones.
_TIME = re.compile(r"[A-Za-z]{3} ([A-Za-z]{3}) +(\d{1,2}) (\d\d:\d\d:\d\d) ([A-Z]{3}) (\d{4})")
_ZONES = {"PST": -8, "PDT": -7, "UTC": 0, "GMT": 0}
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


class QuestionTemplate(string.Template):
    """Template of a question's text with fields such as ${sentence}, filled from Input cells."""

    braceidpattern = "[^{}]+"

    @classmethod
    def parse(cls, text: str) -> QuestionTemplate:
        """Parse a question template; ValueError, with a sentence for the user, for a bad one."""
        template = cls(text)
        if not template.is_valid():
            raise ValueError(
                f"{text[:80]!r} is no template: write ${{name}} for a field, and $$ for a dollar"
            )
        return template


@dataclass(frozen=True, slots=True)
class MturkQuestion:
    """A question of a HIT (task) or survey: its text, the HIT's Input cells, its first line.

    An attention check has its `right` answer.
    """

    text: str
    inputs: dict[str, str]
    line: int
    right: str = ""


class MturkRows:
    """Reader of a Mechanical Turk batch; it yields answer records like `AnswerRows`.

    `answers` are globs of the Answer columns that are answers; the others stay with the assignment.
    Without any, columns that echo an Input column or hold one value for each worker are no answers.
    `questions` (by their ids), `metadata` (Answer columns that are no answers) and `left_out`
    (columns that are not read) are complete when the rows have been read; `n_rows` counts
    answers, that is assignments times Answer columns.
    Raises `InputError` at the first row if there is no Answer column, or the template or a glob
    names an unknown one.
    """

    def __init__(
        self,
        path: Readable,
        template: QuestionTemplate | None = None,
        answers: Collection[str] = (),
        duplicates: DuplicateRule | None = None,
    ) -> None:
        self._choosable = duplicates is not None
        self._path, self._template, self._globs = path, template, answers
        self.problems, self._ids = Problems(make_source(path).name), IdCleaner()
        self.table = open_table(path, COLUMNS, self.problems, MAY_LACK)
        self.metadata: list[AnswerColumn] = []
        self.n_rows = self.n_assignments = self.n_fields = 0
        self.questions: dict[str, MturkQuestion] = {}
        self._inputs: dict[str, tuple[int, dict[str, str]]] = {}

    @property
    def left_out(self) -> list[str]:
        """Names of the columns that are neither answers nor inputs and are not stored."""
        names = restore_spelling(self.table.kept_aside)
        return [name for name in names if not name.startswith((ANSWER, INPUT))]

    @property
    def notes(self) -> list[str]:
        """Report sentences on the number of answers and on columns that are no answers."""
        counts = f"{self.n_assignments} assignments x {self.n_fields} Answer columns"
        sentences = [f"{counts} = {self.n_rows} answers"]
        if self.metadata:
            listed = ", ".join(
                ANSWER
                + column.name
                + (f" ({column.reason})" if column.reason and not self._globs else "")
                for column in self.metadata
            )
            sentences.append(f"Stored with the assignments, as no answers: {listed}")
        if self.left_out:
            sentences.append(f"Columns left out: {', '.join(self.left_out)}")
        return sentences

    def __iter__(self) -> Iterator[tuple[AnswerRecord, int]]:
        """Yield (record, number) of each answer; bad assignments go to `problems`."""
        fields: list[str] = []
        for line, cells, extra in self.table.rows:
            further_cells = dict(zip(restore_spelling(self.table.kept_aside), extra, strict=False))
            # The header is known only with the first row.
            if not self.n_assignments:
                fields = self._choose_answer_fields()
            self.n_assignments += 1
            first = self.n_rows
            self.n_rows += len(fields)
            form_fields = read_form_fields(further_cells)
            assignment = self._read_assignment(line, cells, further_cells, form_fields)
            if assignment is None:
                continue
            hit, worker, facts = assignment
            for position, field in enumerate(fields):
                text = form_fields.get(field, "")
                if len(text.encode()) > LONGEST_ANSWER:
                    self.problems.add_code(
                        line, ANSWER + field, "assignment_answer_long", most=LONGEST_ANSWER
                    )
                    continue
                question = f"{hit}:{field}"
                if question not in self.questions:
                    inputs = self._inputs[hit][1]
                    wording = self._build_wording(inputs, field)
                    self.questions[question] = MturkQuestion(wording, inputs, line)
                # Numbered as if no answer were left out, so that `n_rows` and the rows agree.
                row = first + position
                text = "" if is_blank(text) else text
                yield AnswerRecord(row, line, worker, question, text, facts=facts), row
        self.n_fields = len(fields)

    def reread_whole_file(self) -> tuple[list[str], Iterator[list[str]]]:
        """Read the file again; return (header in Mechanical Turk's spelling, its rows)."""
        table = open_table(self._path, (), Problems(self.table.name), MAY_LACK)
        rows = (list(cells) for _, _, cells in table.rows)
        first = list(islice(rows, 1))  # the header is known with the first row
        return restore_spelling(table.kept_aside), chain(first, rows)

    def _choose_answer_fields(self) -> list[str]:
        """Return the names of the answer fields; `InputError` if there are none."""
        names = restore_spelling(self.table.kept_aside)
        answer_columns = [name for name in names if name.startswith(ANSWER)]
        if not answer_columns:
            raise InputError.from_code(
                self.table.name, "answer_columns_missing", found=", ".join(names[:20]) or "none"
            )
        if len(answer_columns) > len(set(answer_columns)):
            raise InputError.from_code(self.table.name, "answer_column_twice")
        columns = describe_form_fields(self._path, COLUMNS)
        fields = choose_answer_fields(columns, self._globs, self.table.name)
        self.metadata = [column for column in columns if column.name not in fields]
        known = {name.removeprefix(INPUT) for name in names if name.startswith(INPUT)}
        if self._template is not None:
            placeholders = self._template.get_identifiers()
            unknown = [name for name in placeholders if name not in known | {ANSWER_FIELD}]
            if unknown:
                listed = ", ".join(f"${{{name}}}" for name in (*sorted(known), ANSWER_FIELD))
                raise InputError.from_code(
                    self.table.name, "template_column_missing", name=unknown[0], known=listed
                )
        return fields

    def _build_wording(self, inputs: dict[str, str], field: str) -> str:
        """Return a question's text: from the template, the only Input cell, or all of them."""
        if self._template is not None:
            # The inputs last: an Input column called Answer keeps its own value.
            return self._template.safe_substitute({ANSWER_FIELD: field} | inputs).strip()
        if len(inputs) == 1:
            return next(iter(inputs.values())).strip()
        return "\n".join(f"{name}: {text}" for name, text in inputs.items() if text.strip())

    def _read_assignment(
        self,
        line: int,
        cells: Sequence[str],
        further_cells: dict[str, str],
        form_fields: dict[str, str],
    ) -> tuple[str, str, AnswerFacts] | None:
        """Return (HIT id, worker id, facts) of an assignment; None if a cell is bad."""
        n_problems = self.problems.total
        hit, worker = self._ids.clean_and_record(cells[0]), self._ids.clean_and_record(cells[1])
        for name, value in (("HITId", hit), ("WorkerId", worker)):
            if not value:
                self.problems.add_code(line, name, "assignment_id_missing", name=name)
        accepted, submitted = self._parse_time(line, 2, cells), self._parse_time(line, 3, cells)
        note = partial(self.problems.add_code, line)
        seconds = read_seconds("WorkTimeInSeconds", cells[4], note)
        status = cells[6].strip()
        if status.casefold() not in ("", *STATUSES):
            note(
                "AssignmentStatus",
                "assignment_status_unknown",
                status=status[:40],
                known=", ".join(STATUSES),
            )
        if accepted and submitted and submitted < accepted:
            note("SubmitTime", "assignment_times_reversed")
        inputs = {
            name.removeprefix(INPUT): cell
            for name, cell in further_cells.items()
            if name.startswith(INPUT)
        }
        # All assignments of a HIT show the same inputs; other ones mean a damaged file.
        first_line, known = self._inputs.setdefault(hit, (line, inputs))
        if known != inputs:
            note("HITId", "assignment_inputs_differ", hit=hit, first_line=first_line)
        if self.problems.total > n_problems:
            return None
        names = (*OF_ASSIGNMENT, FEEDBACK)
        stored = dict(zip(names, cells[5:], strict=True))
        stored |= {
            ANSWER + column.name: form_fields.get(column.name, "") for column in self.metadata
        }
        return (
            hit,
            worker,
            AnswerFacts(
                rejected=status.casefold() == REJECTED,
                started_at=accepted,
                submitted_at=submitted,
                work_seconds=seconds,
                session_started_at=accepted,
                session_submitted_at=submitted,
                extra={name: cell for name, cell in stored.items() if cell.strip()},
            ),
        )

    def _parse_time(self, line: int, position: int, cells: Sequence[str]) -> datetime | None:
        """Parse a time to UTC; None if empty, or bad (then a problem is recorded)."""
        cell = cells[position].strip()
        if not cell:
            return None
        match = _TIME.fullmatch(cell)
        try:
            if match is None:
                value = datetime.fromisoformat(cell)
                if value.tzinfo is not None:
                    return value.astimezone(UTC)
            else:
                month, day, clock, zone, year = match.groups()
                value = datetime.fromisoformat(
                    f"{year}-{_MONTHS.index(month) + 1:02}-{int(day):02}T{clock}"
                )
                hours = timedelta(hours=_ZONES[zone])
                return value.replace(tzinfo=timezone(hours)).astimezone(UTC)
        except (ValueError, KeyError, OverflowError):
            pass
        self.problems.add_code(
            line, COLUMNS[position].key, "assignment_time_unreadable", cell=cell[:40]
        )
        return None

    def record_conflict(
        self, record: AnswerRecord, first_line: int, *, of_flag: bool = False
    ) -> None:
        """Record a problem: a worker did a task twice, with another answer or rejection."""
        code = "assignment_rejection_differs" if of_flag else "assignments_differ"
        self.problems.add_code(
            record.line,
            None,
            code,
            choosable=self._choosable,
            worker=record.worker,
            question=record.question,
            first_line=first_line,
        )

    def raise_problems(self) -> None:
        """Raise `InputError` if any row was bad or the file has no assignment."""
        if not self.n_assignments and not self.problems.total:
            self.problems.add_code(None, None, "no_assignment")
        report_damaged_ids(self._ids, self.problems, self.table)
