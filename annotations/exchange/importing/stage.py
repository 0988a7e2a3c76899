"""Rows between reading and storing, in a private temporary file.

So a file of any size is checked to its end before the database is touched, whatever memory there
is, and the transaction that stores it waits for no reading.
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

from annotations.exchange.importing.rows import RowsAhead
from annotations.exchange.problems import Problems
from annotations.exchange.reading.answers import extra_of, same_text
from annotations.exchange.reading.duplicates import Duplicates
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
    """A file of answers as `AnswerRows` reads it; `notes` are known when it has been read."""

    table: OpenTable
    problems: Problems
    n_rows: int

    @property
    def notes(self) -> list[str]:
        """What to say of the file."""

    def __iter__(self) -> Iterator[tuple[AnswerRecord, int]]: ...

    def conflict(self, record: AnswerRecord, first_line: int, *, of_flag: bool = ...) -> None:
        """Note that a row contradicts an earlier one: in its text, or in being rejected."""

    def finish(self) -> None:
        """Raise `InputError` if a row was bad."""


@dataclass(slots=True)
class StagedWorker:
    """A worker of the file, where it first stands, and its way through the questions."""

    panel: str
    name: str
    line: int
    state: str = ""
    started_at: datetime | None = None
    last_seen_at: datetime | None = None
    submitted_at: datetime | None = None

    def learn(self, facts: AnswerFacts) -> None:
        """Widen the times by those of one more answer."""
        self.state = self.state or facts.session_state
        self.widen(facts.session_started_at, facts.session_last_seen_at, facts.session_submitted_at)

    def widen(
        self, started: datetime | None, seen: datetime | None, submitted: datetime | None
    ) -> None:
        """Widen the times by others."""
        self.started_at = _first(self.started_at, started)
        self.last_seen_at = _last(self.last_seen_at, seen)
        self.submitted_at = _last(self.submitted_at, submitted)

    def forget_times(self) -> None:
        """Drop the times, to be learnt from the rows that count."""
        self.started_at = self.last_seen_at = self.submitted_at = None

    def as_list(self) -> list[Any]:
        """Return the fields, ready for JSON."""
        times = (self.started_at, self.last_seen_at, self.submitted_at)
        return [self.panel, self.name, self.line, self.state, *map(_written, times)]

    @classmethod
    def of_list(cls, values: list[Any]) -> StagedWorker:
        """Return the worker of `as_list`."""
        return cls(*values[:4], *map(_read, values[4:]))


class StagedAnswer(NamedTuple):
    """An answer; `worker` and `question` are numbers in `workers` and `questions`.

    `rejected` is None in a file that says nothing about it. `signals` is a list as JSON: whether
    it was counted, and the counts; None where the file does not say, as `language` is.
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
    """What is known of a file that was read to its end; `notes` and `warnings` are for people."""

    name: str
    sha256: str
    n_rows: int
    kept_aside: list[str]
    warnings: list[str]
    notes: list[str]


class Stage:
    """The answers of a file, each worker's to a question once.

    `workers` and `questions` (id to the line where it first stands) are in the order of the file,
    `file` is known once it is filled. What is `kept` can be opened again by `Stage.opened`, so
    that a file that was checked need not be read a second time.
    """

    file: FileFacts

    def __init__(self) -> None:
        # An unnamed database of SQLite lives in memory at first and goes to a file, which nobody
        # else can open, as it grows.
        self._db = sqlite3.connect("", isolation_level=None)
        self._db.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;" + _TABLE)
        self._db.execute("BEGIN")
        self._numbers: dict[tuple[str, str], int] = {}
        self._places: dict[str, int] = {}
        self.workers: list[StagedWorker] = []
        self.questions: dict[str, int] = {}
        self.n_repeated = self.n_superseded = 0
        self.duplicates: Duplicates | None = None
        self.ahead: RowsAhead | None = None
        self.is_ready = False
        self._attempt: tuple[Any, ...] = ()
        self.all_new()

    @classmethod
    def opened(cls, path: str | os.PathLike[str]) -> Self:
        """Return what was kept at `path`, which is only read."""
        stage = cls()
        stage._db.execute("COMMIT")
        with closing(sqlite3.connect(path)) as kept:
            kept.backup(stage._db)
        stage._db.execute("BEGIN")
        (about,) = stage._db.execute("SELECT about FROM file").fetchone()
        stage._know(json.loads(about))
        return stage

    def keep(self, path: str | os.PathLike[str]) -> None:
        """Write all of it to a file (of SQLite) at `path`, in which nothing may stand yet."""
        about = {
            "file": asdict(self.file),
            "workers": [worker.as_list() for worker in self.workers],
            "questions": self.questions,
            "n_repeated": self.n_repeated,
            "n_superseded": self.n_superseded,
            "duplicates": self.duplicates,
            **self.more_to_keep(),
        }
        self._db.execute("CREATE TABLE IF NOT EXISTS file (about TEXT)")
        self._db.execute("DELETE FROM file")
        self._db.execute("INSERT INTO file VALUES (?)", (json.dumps(about),))
        self._db.execute("COMMIT")
        with closing(sqlite3.connect(path)) as kept:
            self._db.backup(kept)
        self._db.execute("BEGIN")

    def more_to_keep(self) -> dict[str, Any]:
        """Return what a stage of another kind of file knows besides, ready for JSON."""
        return {}

    def _know(self, about: dict[str, Any]) -> None:
        self.file = FileFacts(**about["file"])
        self.workers = [StagedWorker.of_list(values) for values in about["workers"]]
        self.questions = about["questions"]
        self.n_repeated = about["n_repeated"]
        self.n_superseded = about["n_superseded"]
        self.duplicates = about["duplicates"] and Duplicates(about["duplicates"])
        self._numbers = {(w.panel, w.name): at for at, w in enumerate(self.workers)}
        self._places = {name: at for at, name in enumerate(self.questions)}

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
        """Let go of the rows."""
        self._db.close()
        self._drop_ahead()

    def fill(
        self, source: AnswerSource, panel: str = "", duplicates: Duplicates | None = None
    ) -> None:
        """Take all rows of a file; workers that it gives no panel are of `panel`.

        `duplicates` says which of a worker's two answers to a question counts. Raises
        `InputError` with every bad row.
        """
        aside = source.table.kept_aside
        self.duplicates = duplicates
        for record, _ in source:
            facts = record.facts
            worker = self._worker(record, (facts and facts.panel) or panel)
            question = self._question(record)
            if facts is not None:
                self.workers[worker].learn(facts)
                self._note_attempt(worker, record.line, facts)
            extra = _extra(record, aside)
            values: tuple[Any, ...] = (None, None, None, None)
            at_end: tuple[Any, ...] = (None, None, None)
            if facts is not None:
                signals = facts.signals and json.dumps([facts.signals.said, *facts.signals.counts])
                at_end = (_written(facts.first_draft_at), signals, facts.language or None)
                times = (_written(facts.started_at), _written(facts.submitted_at))
                values = (facts.rejected, *times, facts.work_seconds)
            ids = (record.row, record.line, worker, question)
            row = (*ids, record.text, *values, extra, *at_end)
            added = self._db.execute(_INSERT, row)
            if not added.rowcount:
                self._again(source, record, row)
        source.finish()
        self._time_attempts()
        table = source.table
        self.file = FileFacts(
            table.name,
            table.sha256,
            source.n_rows,
            list(table.kept_aside),
            list(table.warnings),
            source.notes,
        )

    def _again(self, source: AnswerSource, record: AnswerRecord, row: tuple[Any, ...]) -> None:
        pair = row[2:4]
        line, text, rejected = self._db.execute(
            "SELECT line, text, rejected FROM answer WHERE worker = ? AND question = ?",
            pair,
        ).fetchone()
        self._db.execute("INSERT INTO repetition VALUES (?, ?, ?)", (pair[0], record.line, line))
        same = same_text(text, record.text)
        if same and bool(rejected) == record.is_rejected:
            self.n_repeated += 1
        elif self.duplicates in (None, Duplicates.REFUSE):
            source.conflict(record, line, of_flag=same)
        else:
            self.n_superseded += 1
            # A text that was left empty in a later attempt was not taken back.
            if self.duplicates == Duplicates.LAST and (record.text or not text):
                self._db.execute("DELETE FROM answer WHERE worker = ? AND question = ?", pair)
                self._db.execute(_INSERT, row)

    def _note_attempt(self, worker: int, line: int, facts: AnswerFacts) -> None:
        """Keep the times of a row, which has several answers in a wide file."""
        times = facts.session_started_at, facts.session_last_seen_at, facts.session_submitted_at
        if any(times) and self._attempt != (worker, line, *times):
            self._attempt = (worker, line, *times)
            written = json.dumps([*map(_written, times)])
            self._db.execute("INSERT INTO attempt VALUES (?, ?, ?)", (worker, line, written))

    def _time_attempts(self) -> None:
        """Take the times of each worker who answered a question twice from the rows that count.

        Of rows that answer the same question the one with the most answers that count does; of two
        with as many the one that `duplicates` says.
        """
        repeated = self._db.execute("SELECT DISTINCT * FROM repetition ORDER BY worker, line")
        for worker, links in groupby(repeated.fetchall(), key=itemgetter(0)):
            counting = dict(
                self._db.execute(
                    "SELECT line, SUM(text != '') FROM answer WHERE worker = ? GROUP BY line",
                    (worker,),
                )
            )
            groups: list[set[int]] = []
            for _, *lines in links:
                joined = set(lines).union(*(one for one in groups if not one.isdisjoint(lines)))
                groups = [one for one in groups if one.isdisjoint(lines)] + [joined]
            later = 1 if self.duplicates == Duplicates.LAST else -1
            dropped = set[int]()
            for group in groups:
                best = max(group, key=lambda line: (counting.get(line, -1), later * line))
                dropped |= group - {best}
            self.workers[worker].forget_times()
            attempts = self._db.execute(
                "SELECT line, facts FROM attempt WHERE worker = ?", (worker,)
            ).fetchall()
            for line, written in attempts:
                if line not in dropped:
                    self.workers[worker].widen(*map(_read, json.loads(written)))

    def _worker(self, record: AnswerRecord, panel: str) -> int:
        key = (panel, record.worker)
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self.workers)
            self.workers.append(StagedWorker(panel, record.worker, record.line))
        return number

    def _question(self, record: AnswerRecord) -> int:
        number = self._places.get(record.question)
        if number is None:
            number = self._places[record.question] = len(self.questions)
            self.questions[record.question] = record.line
        return number

    def count(self, condition: str = "1") -> int:
        """How many answers there are that fulfil a condition of ours."""
        (number,) = self._db.execute(
            f"SELECT COUNT(*) FROM answer WHERE {condition}"  # noqa: S608
        ).fetchone()
        return int(number)

    def find(self, worker: int, question: int) -> StagedAnswer | None:
        """A worker's answer to a question."""
        found = self._db.execute(
            f"SELECT {_COLUMNS} FROM answer WHERE worker = ? AND question = ?",  # noqa: S608
            (worker, question),
        ).fetchone()
        return None if found is None else StagedAnswer(*found)

    def all_new(self) -> None:
        """Take all answers for new, as they were before they were compared with stored ones."""
        self._db.execute("UPDATE answer SET is_new = 1 WHERE NOT is_new")
        self.reflagged: dict[bool, set[int]] = {True: set(), False: set()}
        # Up to which key of an answer it was compared, and in which version, if it was stored.
        self.compared_to: int | None = None
        self.compared_in: int | None = None
        self.is_ready = False

    def holds_for(self, version: int | None) -> bool:
        """Whether what is ready can be stored in a version: in one made since then was nothing."""
        return self.is_ready and (self.compared_to is None or self.compared_in in (None, version))

    def get_ready(self, ahead: RowsAhead) -> None:
        """Take the answers as they will be inserted; they go when the stage is closed."""
        self._drop_ahead()
        self.ahead, self.is_ready = ahead, True

    def _drop_ahead(self) -> None:
        if self.ahead is not None:
            self.ahead.close()
        self.ahead, self.is_ready = None, False

    def mark_old(self, rows: Iterable[int]) -> None:
        """Note of some rows that they are stored already."""
        rows = list(rows)
        self._db.executemany("UPDATE answer SET is_new = 0 WHERE row = ?", ((row,) for row in rows))
        if self.ahead is not None and self.is_ready:
            self.ahead.leave_out(rows)

    def fresh(self) -> Iterator[StagedAnswer]:
        """The answers that are not stored yet, in the order of the file."""
        rows = self._db.execute(
            f"SELECT {_COLUMNS} FROM answer WHERE is_new ORDER BY row"  # noqa: S608
        )
        while some := rows.fetchmany(GATHERED):
            yield from map(StagedAnswer._make, some)

    def place(self, question: str) -> int | None:
        """The number of a question; None if the file does not have it."""
        return self._places.get(question)


_COLUMNS = ", ".join(StagedAnswer._fields)


def extra_values(cells: str, kept_aside: Sequence[str]) -> dict[str, Any]:
    """What `extra` of a staged answer says, once all columns kept aside are known."""
    if not cells:
        return extra_of((), kept_aside)
    values = json.loads(cells)
    return values if isinstance(values, dict) else extra_of(tuple(values), kept_aside)


def _extra(record: AnswerRecord, kept_aside: Sequence[str]) -> str:
    if record.facts is not None:
        aside = dict(zip(kept_aside, record.extra, strict=False))
        return json.dumps({**record.facts.extra, **aside}, ensure_ascii=False)
    return json.dumps(record.extra, ensure_ascii=False) if record.extra else ""


def _written(value: datetime | None) -> str | None:
    return None if value is None else value.isoformat()


def _read(written: str | None) -> datetime | None:
    return None if written is None else datetime.fromisoformat(written)


def _first(one: datetime | None, other: datetime | None) -> datetime | None:
    return min(one, other) if one and other else one or other


def _last(one: datetime | None, other: datetime | None) -> datetime | None:
    return max(one, other) if one and other else one or other
