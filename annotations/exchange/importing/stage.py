"""Stage: a private temporary database that holds a file's answers between reading and storing.

A file of any size is checked to its end before the database is changed, without holding it in
memory, and the transaction that stores it does not wait for reading.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from datetime import datetime
from itertools import groupby
from operator import itemgetter
from types import TracebackType
from typing import Any, NamedTuple, Protocol, Self

from annotations.exchange.header import map_extra_cells
from annotations.exchange.importing.rows import PreparedRows
from annotations.exchange.problems import Problems
from annotations.exchange.reading.answers import is_same_text
from annotations.exchange.reading.duplicates import (
    DuplicateRule,
    Duplicates,
    DuplicatesByWorker,
    parse_duplicate_rule,
    should_replace,
)
from annotations.exchange.reading.tables import OpenTable
from annotations.exchange.records import AnswerFacts, AnswerRecord

GATHERED = 2000

_INSERT = "INSERT OR IGNORE INTO answer VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1)"
_TABLE = """
CREATE TABLE answer (
    row INTEGER PRIMARY KEY, line INTEGER, worker INTEGER, question INTEGER, text TEXT,
    rejected INTEGER, started TEXT, submitted TEXT, seconds REAL, extra TEXT,
    first_draft TEXT, signals TEXT, language TEXT,
    is_new INTEGER NOT NULL DEFAULT 1
);
CREATE UNIQUE INDEX pair ON answer (worker, question);
CREATE TABLE attempt (worker INTEGER, line INTEGER, facts TEXT);
CREATE TABLE repetition (worker INTEGER, line INTEGER, earlier INTEGER);
"""


class AnswerSource(Protocol):
    """Protocol of a reader that yields the answers of a file, such as `AnswerRows`."""

    table: OpenTable
    problems: Problems

    @property
    def n_rows(self) -> int:
        """Number of answers in the rows read so far."""

    @property
    def notes(self) -> list[str]:
        """Sentences about the file for its report, complete after reading it all."""

    def __iter__(self) -> Iterator[tuple[AnswerRecord, int]]:
        """Yield (record, number) of each valid answer."""

    def record_conflict(
        self, record: AnswerRecord, first_line: int, *, of_flag: bool = ...
    ) -> None:
        """Record a problem: an answer's text or rejection differs from that of an earlier row."""

    def raise_problems(self) -> None:
        """Raise `InputError` if any row of the file was bad."""


@dataclass(slots=True)
class StagedWorker:
    """A worker of the file: panel, id, line of the first answer, and session times."""

    panel: str
    name: str
    line: int
    state: str = ""
    started_at: datetime | None = None
    last_seen_at: datetime | None = None
    submitted_at: datetime | None = None

    def add_session_facts(self, facts: AnswerFacts) -> None:
        """Extend the worker's session times by those of one more answer."""
        self.state = self.state or facts.session_state
        self.extend_session_times(
            facts.session_started_at, facts.session_last_seen_at, facts.session_submitted_at
        )

    def extend_session_times(
        self, started: datetime | None, seen: datetime | None, submitted: datetime | None
    ) -> None:
        """Extend the session: keep the earliest start, the latest visit, the latest submission."""
        self.started_at = _pick_earlier(self.started_at, started)
        self.last_seen_at = _pick_later(self.last_seen_at, seen)
        self.submitted_at = _pick_later(self.submitted_at, submitted)

    def clear_session_times(self) -> None:
        """Clear the session times, so that they can be taken from other rows."""
        self.started_at = self.last_seen_at = self.submitted_at = None

    def to_list(self) -> list[Any]:
        """Return the fields as a list of JSON values, which `from_list` reads back."""
        times = (self.started_at, self.last_seen_at, self.submitted_at)
        return [self.panel, self.name, self.line, self.state, *map(_format_time, times)]

    @classmethod
    def from_list(cls, values: list[Any]) -> StagedWorker:
        """Return the worker with the fields in a list made by `to_list`."""
        return cls(*values[:4], *map(_parse_time, values[4:]))


class StagedAnswer(NamedTuple):
    """One answer of the file; `worker` and `question` are positions in the stage's lists.

    `rejected` is None in a file without this information. `signals` is a JSON list: whether signals
    were counted, and the counts; None where the file has none, and so is `language`.
    """

    row: int
    line: int
    worker: int
    question: int
    text: str
    rejected: int | None
    started: str | None
    submitted: str | None
    seconds: float | None
    extra: str
    first_draft: str | None
    signals: str | None
    language: str | None


@dataclass(slots=True)
class FileFacts:
    """Name, hash, row count and messages of an input file that was read to its end."""

    name: str
    sha256: str
    n_rows: int
    kept_aside: list[str]
    warnings: list[str]
    notes: list[str]


class Stage:
    """Temporary SQLite store of a file's answers, one for each worker and question.

    `workers` and `questions` (id to first line) are in the order of the file, `file` is set when
    the stage is filled. What `save` writes can be opened again by `Stage.load`, so that a checked
    file need not be read a second time.
    """

    file: FileFacts

    def __init__(self) -> None:
        # An unnamed SQLite database is in memory at first; as it grows it moves to a file that no
        # other process can open.
        self._db = sqlite3.connect("", isolation_level=None)
        # A crash loses this private database anyway, so it needs no journal.
        self._db.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;" + _TABLE)
        self._db.execute("BEGIN")
        self._numbers: dict[tuple[str, str], int] = {}
        self._places: dict[str, int] = {}
        self.workers: list[StagedWorker] = []
        self.questions: dict[str, int] = {}
        self.n_repeated = self.n_superseded = 0
        self.duplicates: DuplicateRule | None = None
        self.ahead: PreparedRows | None = None
        self.is_ready = False
        self._attempt: tuple[Any, ...] = ()
        self.mark_all_as_new()

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Return the stage that `save` wrote to the file `path`, which is not changed."""
        stage = cls()
        # A database with an open transaction cannot be the target of `backup`.
        stage._db.execute("COMMIT")
        with closing(sqlite3.connect(path)) as stored:
            stored.backup(stage._db)
        stage._db.execute("BEGIN")
        (about,) = stage._db.execute("SELECT about FROM file").fetchone()
        stage._restore_fields(json.loads(about))
        return stage

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the stage to a new SQLite file, from which `load` restores it."""
        about = {
            "file": asdict(self.file),
            "workers": [worker.to_list() for worker in self.workers],
            "questions": self.questions,
            "n_repeated": self.n_repeated,
            "n_superseded": self.n_superseded,
            "duplicates": self.duplicates and self.duplicates.as_json(),
            **self.collect_further_fields(),
        }
        self._db.execute("CREATE TABLE IF NOT EXISTS file (about TEXT)")
        self._db.execute("DELETE FROM file")
        self._db.execute("INSERT INTO file VALUES (?)", (json.dumps(about),))
        # `backup` waits for the end of a write transaction, and this connection has one open.
        self._db.execute("COMMIT")
        with closing(sqlite3.connect(path)) as stored:
            self._db.backup(stored)
        self._db.execute("BEGIN")

    def collect_further_fields(self) -> dict[str, Any]:
        """Return the fields that a subclass adds, as JSON values, to be saved with the stage."""
        return {}

    def _restore_fields(self, about: dict[str, Any]) -> None:
        """Restore the fields that `save` wrote, from their JSON values."""
        self.file = FileFacts(**about["file"])
        self.workers = [StagedWorker.from_list(values) for values in about["workers"]]
        self.questions = about["questions"]
        self.n_repeated = about["n_repeated"]
        self.n_superseded = about["n_superseded"]
        self.duplicates = about["duplicates"] and parse_duplicate_rule(about["duplicates"])
        self._numbers = {(w.panel, w.name): number for number, w in enumerate(self.workers)}
        self._places = {name: number for number, name in enumerate(self.questions)}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Delete the staged rows and the rows prepared for insertion."""
        self._db.close()
        self._delete_prepared_rows()

    def fill(
        self, source: AnswerSource, panel: str = "", duplicates: DuplicateRule | None = None
    ) -> None:
        """Read all answers of a file into the stage; `panel` is the default panel of its workers.

        `duplicates` states which of a worker's two answers to a question counts. Raises
        `InputError` with every bad row.
        """
        kept_aside = source.table.kept_aside
        # Forms and REST give the rule as its text.
        self.duplicates = Duplicates(duplicates) if isinstance(duplicates, str) else duplicates
        for record, _ in source:
            facts = record.facts
            worker = self._number_worker(record, (facts and facts.panel) or panel)
            question = self._number_question(record)
            if facts is not None:
                self.workers[worker].add_session_facts(facts)
                self._store_attempt_times(worker, record.line, facts)
            extra = _encode_extra_cells(record, kept_aside)
            values: tuple[Any, ...] = (None, None, None, None)
            end_values: tuple[Any, ...] = (None, None, None)
            if facts is not None:
                signals = facts.signals and json.dumps([facts.signals.said, *facts.signals.counts])
                end_values = (_format_time(facts.first_draft_at), signals, facts.language or None)
                times = (_format_time(facts.started_at), _format_time(facts.submitted_at))
                values = (facts.rejected, *times, facts.work_seconds)
            ids = (record.row, record.line, worker, question)
            row = (*ids, record.text, *values, extra, *end_values)
            added = self._db.execute(_INSERT, row)
            # The unique index of worker and question has ignored a second answer.
            if not added.rowcount:
                self._add_repeated(source, record, row)
        source.raise_problems()
        self._recompute_attempt_times()
        table = source.table
        self.file = FileFacts(
            table.name,
            table.sha256,
            source.n_rows,
            list(table.kept_aside),
            list(table.warnings),
            source.notes,
        )

    def refuse_unknown_workers(self) -> None:
        """Raise `InputError` if a worker with an own rule for duplicates gave no answer."""
        rules = self.duplicates
        if not isinstance(rules, DuplicatesByWorker):
            return
        known = {worker.name for worker in self.workers}
        problems = Problems(self.file.name)
        for name in rules.workers:
            if name not in known:
                problems.add_code(None, None, "repeating_worker_unknown", worker=name[:60])
        problems.raise_if_any()

    def _add_repeated(
        self, source: AnswerSource, record: AnswerRecord, row: tuple[Any, ...]
    ) -> None:
        """Count a worker's second answer to a question, let it replace the first, or refuse it."""
        pair = row[2:4]
        line, text, rejected = self._db.execute(
            "SELECT line, text, rejected FROM answer WHERE worker = ? AND question = ?",
            pair,
        ).fetchone()
        self._db.execute("INSERT INTO repetition VALUES (?, ?, ?)", (pair[0], record.line, line))
        is_same = is_same_text(text, record.text)
        rule = None if self.duplicates is None else self.duplicates.get_rule(record.worker)
        if is_same and bool(rejected) == record.is_rejected:
            self.n_repeated += 1
        elif rule is None or rule == Duplicates.REFUSE:
            source.record_conflict(record, line, of_flag=is_same)
        else:
            self.n_superseded += 1
            if should_replace(record.text, text, rule):
                self._db.execute("DELETE FROM answer WHERE worker = ? AND question = ?", pair)
                self._db.execute(_INSERT, row)

    def _store_attempt_times(self, worker: int, line: int, facts: AnswerFacts) -> None:
        """Store the session times of a file's row once, although it may hold several answers."""
        times = facts.session_started_at, facts.session_last_seen_at, facts.session_submitted_at
        if any(times) and self._attempt != (worker, line, *times):
            self._attempt = (worker, line, *times)
            written = json.dumps([*map(_format_time, times)])
            self._db.execute("INSERT INTO attempt VALUES (?, ?, ?)", (worker, line, written))

    def _recompute_attempt_times(self) -> None:
        """Recompute the session times of workers with repeated answers from the rows that count.

        Of rows with answers to the same question, the one with the most answers that count is used;
        of equal ones the first or last as `duplicates` specifies.
        """
        repeated = self._db.execute("SELECT DISTINCT * FROM repetition ORDER BY worker, line")
        for worker, links in groupby(repeated.fetchall(), key=itemgetter(0)):
            n_counting = dict(
                self._db.execute(
                    "SELECT line, SUM(text != '') FROM answer WHERE worker = ? GROUP BY line",
                    (worker,),
                )
            )
            # Lines that repeat each other, directly or through a third one, are one group.
            groups: list[set[int]] = []
            for _, *lines in links:
                joined = set(lines).union(
                    *(group_lines for group_lines in groups if not group_lines.isdisjoint(lines))
                )
                groups = [
                    group_lines for group_lines in groups if group_lines.isdisjoint(lines)
                ] + [joined]
            name = self.workers[worker].name
            is_last = (
                self.duplicates is not None and self.duplicates.get_rule(name) == Duplicates.LAST
            )
            order = 1 if is_last else -1
            dropped = set[int]()
            for group in groups:
                best = max(group, key=lambda line: (n_counting.get(line, -1), order * line))
                dropped |= group - {best}
            self.workers[worker].clear_session_times()
            attempts = self._db.execute(
                "SELECT line, facts FROM attempt WHERE worker = ?", (worker,)
            ).fetchall()
            for line, times in attempts:
                if line not in dropped:
                    self.workers[worker].extend_session_times(*map(_parse_time, json.loads(times)))

    def _number_worker(self, record: AnswerRecord, panel: str) -> int:
        """Return the position in `workers` of a record's worker, appending an unknown one."""
        key = (panel, record.worker)
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self.workers)
            self.workers.append(StagedWorker(panel, record.worker, record.line))
        return number

    def _number_question(self, record: AnswerRecord) -> int:
        """Return the position in `questions` of a record's question, adding an unknown one."""
        number = self._places.get(record.question)
        if number is None:
            number = self._places[record.question] = len(self.questions)
            self.questions[record.question] = record.line
        return number

    def count_answers(self, condition: str = "1") -> int:
        """Return the number of answers in the stage that fulfil an SQL condition."""
        (number,) = self._db.execute(
            f"SELECT COUNT(*) FROM answer WHERE {condition}"  # noqa: S608
        ).fetchone()
        return int(number)

    def find_answer(self, worker: int, question: int) -> StagedAnswer | None:
        """Return a worker's answer to a question, both given as positions; None without one."""
        row = self._db.execute(
            f"SELECT {_COLUMNS} FROM answer WHERE worker = ? AND question = ?",  # noqa: S608
            (worker, question),
        ).fetchone()
        return None if row is None else StagedAnswer(*row)

    def mark_all_as_new(self) -> None:
        """Mark all answers as not in the database, undoing the comparison with stored ones."""
        self._db.execute("UPDATE answer SET is_new = 1 WHERE NOT is_new")
        self.reflagged: dict[bool, set[int]] = {True: set(), False: set()}
        # The largest key of a stored answer that was compared, and the version's key.
        self.compared_to: int | None = None
        self.compared_in: int | None = None
        self.is_ready = False

    def is_ready_for(self, version: int | None) -> bool:
        """Return whether the prepared rows are valid for the version with this primary key."""
        return self.is_ready and (self.compared_to is None or self.compared_in in (None, version))

    def set_prepared_rows(self, ahead: PreparedRows) -> None:
        """Set the rows that are prepared for insertion; `close` deletes them."""
        self._delete_prepared_rows()
        self.ahead, self.is_ready = ahead, True

    def _delete_prepared_rows(self) -> None:
        """Delete the rows prepared for insertion, if there are any."""
        if self.ahead is not None:
            self.ahead.close()
        self.ahead, self.is_ready = None, False

    def mark_as_stored(self, rows: Iterable[int]) -> None:
        """Mark the answers with these row numbers as stored already, so that they are skipped."""
        rows = list(rows)
        self._db.executemany("UPDATE answer SET is_new = 0 WHERE row = ?", ((row,) for row in rows))
        if self.ahead is not None and self.is_ready:
            self.ahead.delete_rows(rows)

    def iterate_new_answers(self) -> Iterator[StagedAnswer]:
        """Yield the file's answers that are not in the database, in the file's order."""
        rows = self._db.execute(
            f"SELECT {_COLUMNS} FROM answer WHERE is_new ORDER BY row"  # noqa: S608
        )
        while chunk := rows.fetchmany(GATHERED):
            yield from map(StagedAnswer._make, chunk)

    def find_question_position(self, question: str) -> int | None:
        """Return the position of a question id in `questions`; None if the file lacks it."""
        return self._places.get(question)


_COLUMNS = ", ".join(StagedAnswer._fields)


def decode_extra_cells(cells: str, kept_aside: Sequence[str]) -> dict[str, Any]:
    """Return the further cells of a staged answer, decoded from JSON, by column name."""
    if not cells:
        return map_extra_cells((), kept_aside)
    values = json.loads(cells)
    return values if isinstance(values, dict) else map_extra_cells(tuple(values), kept_aside)


def _encode_extra_cells(record: AnswerRecord, kept_aside: Sequence[str]) -> str:
    """Return the further cells of a record as JSON: a list, or an object by column name."""
    if record.facts is not None:
        aside = dict(zip(kept_aside, record.extra, strict=False))
        return json.dumps({**record.facts.extra, **aside}, ensure_ascii=False)
    return json.dumps(record.extra, ensure_ascii=False) if record.extra else ""


def _format_time(value: datetime | None) -> str | None:
    """Return a time as ISO 8601 text; None if there is no time."""
    return None if value is None else value.isoformat()


def _parse_time(written: str | None) -> datetime | None:
    """Parse an ISO 8601 time; None if there is no text."""
    return None if written is None else datetime.fromisoformat(written)


def _pick_earlier(one: datetime | None, other: datetime | None) -> datetime | None:
    """Return the earlier of two times; if one is None, the other one."""
    return min(one, other) if one and other else one or other


def _pick_later(one: datetime | None, other: datetime | None) -> datetime | None:
    """Return the later of two times; if one is None, the other one."""
    return max(one, other) if one and other else one or other
