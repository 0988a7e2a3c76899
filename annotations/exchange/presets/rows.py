"""The answers in a file of somebody else's, by its preset and a mapping of its columns."""

from __future__ import annotations

import glob
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, tzinfo
from typing import Any
from zoneinfo import ZoneInfo

from annotations.exchange.facts import seconds_of
from annotations.exchange.header import ColumnNames
from annotations.exchange.presets.declared import PRESETS, Preset, is_list_of_submissions
from annotations.exchange.presets.mapping import Mapping
from annotations.exchange.presets.table import Head, open_foreign
from annotations.exchange.problems import InputError, Problems
from annotations.exchange.reading.answers import LONGEST_ANSWER, AnswerRows, cleaned
from annotations.exchange.reading.duplicates import Duplicates
from annotations.exchange.reading.mturk import (
    COLUMNS,
    MturkQuestion,
    MturkRows,
    QuestionTemplate,
)
from annotations.exchange.reading.mturk_columns import ANSWER, columns_of
from annotations.exchange.reading.source import Readable, source_of
from annotations.exchange.reading.tables import OpenTable
from annotations.exchange.records import AnswerFacts, AnswerRecord

NOBODY = "rows without a worker and without an answer"


def proposed(preset: Preset, head: Head, given: Readable) -> Mapping:
    """The mapping that a preset proposes for a file of which the beginning was read."""
    mapping = preset.propose(head)
    if preset.slug != "mturk":
        return mapping
    fields = tuple(ANSWER + one.name for one in columns_of(given, COLUMNS) if one.is_answer)
    return Mapping(mapping.worker, mapping.question, fields)


def refuse_answerless(head: Head) -> None:
    """Raise `InputError` for Prolific's list of submissions, in which nobody says anything."""
    if is_list_of_submissions(head):
        raise InputError.from_code(head.name, "list_of_submissions")


def rows_of(
    given: Readable,
    preset: Preset,
    mapping: Mapping,
    duplicates: Duplicates = Duplicates.REFUSE,
    template: QuestionTemplate | None = None,
) -> MappedRows | MturkRows | OwnRows:
    """The answers of a file; all kinds of rows hold its questions when they were gone through.

    `template` makes the wordings of the questions of Mechanical Turk out of its Input columns.
    """
    if preset.slug == "mturk":
        chosen = [glob.escape(name) for name in mapping.answers]
        return MturkRows(given, template, chosen, duplicates)
    if preset.slug == "own" and mapping.question and len(mapping.answers) == 1:
        return OwnRows(given, mapping, duplicates)
    return MappedRows(given, preset, mapping, duplicates)


class OwnRows(AnswerRows):
    """The answers of our own table or export, whose questions are known by their ids alone."""

    def __init__(self, given: Readable, mapping: Mapping, duplicates: Duplicates) -> None:
        names = ColumnNames(mapping.worker, mapping.question, mapping.answers[0])
        super().__init__(given, names, duplicates)
        self.questions: dict[str, MturkQuestion] = {}

    def __iter__(self) -> Iterator[tuple[AnswerRecord, int]]:
        for record, key in super().__iter__():
            if record.question not in self.questions:
                self.questions[record.question] = MturkQuestion("", {}, record.line)
            yield record, key


def _ignore(column: str, code: str, /, **values: Any) -> None:
    """Note nothing: a cell that cannot be read stays beside the answer."""


class MappedRows:
    """The answers of a file, as `AnswerRows` gives those of our own form.

    `questions` (by their ids), `skipped` (rows that are no answers, by the reason) and `left_out`
    (columns that say who or where somebody is) are complete when the rows have been gone through;
    `n_rows` counts answers: rows times columns of answers. Cells that are not mapped stay with the
    answers. Raises `InputError` at the first row if a mapped column is not there.
    """

    def __init__(
        self,
        given: Readable,
        preset: Preset,
        mapping: Mapping,
        duplicates: Duplicates = Duplicates.REFUSE,
    ) -> None:
        self._preset, self._mapping = preset, mapping
        self.problems = Problems(source_of(given).name)
        self._foreign = foreign = open_foreign(given, self.problems)
        self.table = OpenTable(
            foreign.name, foreign.sha256, None, iter(()), [], set(), foreign.warnings
        )
        self.n_rows = self.n_people = 0
        self.questions: dict[str, MturkQuestion] = {}
        self.skipped: Counter[str] = Counter()
        self.left_out: list[str] = []

    @property
    def notes(self) -> list[str]:
        """What to say of the file once it has been read."""
        n_columns = len(self._mapping.answers)
        said = []
        if n_columns > 1:
            counts = f"{self.n_people} rows x {n_columns} columns of answers"
            said.append(f"{counts} = {self.n_rows} answers")
        said += [f"Left out: {count} {reason}" for reason, count in self.skipped.items()]
        if self.left_out:
            said.append(f"Columns left out, because they are personal: {', '.join(self.left_out)}")
        return said

    def __iter__(self) -> Iterator[tuple[AnswerRecord, int]]:
        header, mapping, preset = self._foreign.header, self._mapping, self._preset
        at = mapping.checked(header, self.table.name)
        self.left_out = [
            name for name in header if name in preset.private and name not in mapping.columns
        ]
        aside = [
            (position, name)
            for position, name in enumerate(header)
            if name not in mapping.columns and name not in preset.private
        ]
        for line, cells in self._foreign.rows:
            row = dict(zip(header, cells, strict=False))
            if reason := preset.left_out(row):
                self.skipped[reason] += 1
                continue
            texts = [preset.cell(cells[at[name]]) for name in mapping.answers]
            worker = cleaned(cells[at[mapping.worker]])
            if not worker and not any(text.strip() for text in texts):
                self.skipped[NOBODY] += 1
                continue
            first = self.n_rows
            self.n_rows += len(texts)
            self.n_people += 1
            row_id = cleaned(cells[at[mapping.question]]) if mapping.question else ""
            if self._lacks(line, worker, row_id):
                continue
            facts = self._facts(row, {name: cells[i] for i, name in aside if cells[i].strip()})
            wording = cells[at[mapping.text]].strip() if mapping.text else ""
            for offset, (column, text) in enumerate(zip(mapping.answers, texts, strict=True)):
                if len(text.encode()) > LONGEST_ANSWER:
                    self.problems.add_code(line, column, "foreign_answer_long", most=LONGEST_ANSWER)
                    continue
                question = mapping.question_of(row_id, column)
                self._learn(question, column, wording, line)
                text = "" if text.isspace() else text
                number = first + offset
                yield AnswerRecord(number, line, worker, question, text, facts=facts), number

    def _lacks(self, line: int, worker: str, row_id: str) -> bool:
        named = [(self._mapping.worker, worker)]
        if self._mapping.question:
            named.append((self._mapping.question, row_id))
        for column, value in named:
            if not value:
                what = "worker" if column == self._mapping.worker else "question"
                self.problems.add_code(line, column, "id_missing", name=what)
        return not all(value for _, value in named)

    def _learn(self, question: str, column: str, wording: str, line: int) -> None:
        if question in self.questions:
            return
        label = self._foreign.wordings.get(column, "")
        if not self._mapping.question and not label and " " in column:
            label = column  # a question in full at the head of its column
        text = "\n".join(part for part in (wording, label) if part)
        self.questions[question] = MturkQuestion(text, {}, line)

    def _facts(self, row: dict[str, str], extra: dict[str, str]) -> AnswerFacts:
        times = self._preset.times
        started, submitted = (
            self._time(row.get(column, "")) for column in (times.started, times.submitted)
        )
        if started and submitted and submitted < started:
            started = submitted = None  # clocks that went back; the cells stay beside the answer
        rejected = self._preset.rejected(row)
        return AnswerFacts(
            rejected=rejected,
            started_at=started,
            submitted_at=submitted,
            work_seconds=seconds_of(times.seconds, row.get(times.seconds, ""), _ignore),
            session_started_at=started,
            session_submitted_at=submitted,
            extra=extra,
        )

    def _time(self, cell: str) -> datetime | None:
        """A time as such files have it; None where it is none, for it stays beside the answer."""
        try:
            value = datetime.fromisoformat(cell.strip())
        except ValueError:
            return None
        zone: tzinfo | None = value.tzinfo
        if zone is None:
            try:
                zone = ZoneInfo(self._foreign.zone) if self._foreign.zone else None
            except (ValueError, OSError, KeyError):
                zone = None
        return None if zone is None else value.replace(tzinfo=zone).astimezone(UTC)

    def conflict(self, record: AnswerRecord, first_line: int, *, of_flag: bool = False) -> None:
        """Note that a worker answered a question twice, with different answers."""
        self.problems.add_code(
            record.line,
            None,
            "rejection_differs" if of_flag else "answers_differ",
            choosable=True,
            who="worker",
            name=record.worker,
            question=record.question,
            first_line=first_line,
            what="text",
        )

    def finish(self) -> None:
        """Raise `InputError` if a row was bad or there was none."""
        if not self.n_rows and not self.problems.total:
            said = "; ".join(f"{count} {reason}" for reason, count in self.skipped.items())
            if said:
                self.problems.add_code(None, None, "rows_left_out", left_out=said)
            else:
                self.problems.add_code(None, None, "no_rows", what="answers")
        self.problems.raise_if_any()


def preset_named(slug: str) -> Preset:
    """The preset of that name; raises ValueError with those that there are."""
    if slug not in PRESETS:
        raise ValueError(f"there is no preset {slug!r}; there are {', '.join(PRESETS)}")
    return PRESETS[slug]
