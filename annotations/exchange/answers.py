"""Files of answers: what workers and models wrote, checked row by row."""

from __future__ import annotations

import os
import unicodedata
from dataclasses import dataclass
from pathlib import Path

from .header import ColumnNames
from .problems import Problems
from .records import AnswerRecord, AnswerStatus, ModelAnswerRecord
from .tables import Table, open_table

LONGEST_ANSWER = 100_000
"""Bytes that an answer may have in UTF-8."""

DEFAULT_COLUMNS = ColumnNames()


@dataclass(frozen=True, slots=True)
class _File:
    """What is known of a file beside its records.

    `n_rows` counts the data rows, `n_repeated` those left out because they say once more what an
    earlier row said: n_rows == len(records) + n_repeated. `n_empty` counts the records without an
    answer. `encoding` is None for a workbook.
    """

    name: str
    sha256: str
    encoding: str | None
    n_rows: int
    n_empty: int
    n_repeated: int
    kept_aside: tuple[str, ...]
    warnings: list[str]

    def extra(self, record: AnswerRecord | ModelAnswerRecord) -> dict[str, str]:
        """The cells of a record that were kept aside, by the name of their column."""
        cells = record.extra + ("",) * (len(self.kept_aside) - len(record.extra))
        return dict(zip(self.kept_aside, cells, strict=True))


@dataclass(frozen=True, slots=True)
class AnswerFile(_File):
    """The workers' answers, in the order of the file, one for each worker and question."""

    records: list[AnswerRecord]


@dataclass(frozen=True, slots=True)
class ModelAnswerFile(_File):
    """The models' answers, in the order of the file, one for each model and question."""

    records: list[ModelAnswerRecord]


def read_answers(
    path: str | os.PathLike[str], columns: ColumnNames = DEFAULT_COLUMNS
) -> AnswerFile:
    """The answers of workers in a CSV, TSV, JSON Lines or XLSX file.

    Raises `InputError` with every bad row found: a missing worker or question, the same worker
    and question with another text, an answer over 100,000 bytes, whatever its format forbids; or
    with one problem, if the file as a whole will not do.
    """
    checks = _Checks(Path(path), "worker")
    table = open_table(Path(path), columns.for_answers(), checks.problems)
    records: list[AnswerRecord] = []
    seen: dict[int, AnswerRecord] = {}
    n_empty = n_repeated = 0
    row = -1
    for row, (line, (raw_worker, raw_question, text), extra) in enumerate(table.rows):
        ids = checks.ids(line, raw_worker, raw_question)
        if ids is None or not checks.short_enough(line, text):
            continue
        worker, question, key = ids
        text = text if text and not text.isspace() else ""
        record = AnswerRecord(row, line, worker, question, text, extra)
        first = seen.setdefault(key, record)
        if first is record:
            records.append(record)
            n_empty += not text
        elif same_text(first.text, text):
            n_repeated += 1
        else:
            checks.conflict(line, worker, question, first.line, "another text")
    checks.finish(row + 1)
    return AnswerFile(*_facts(table, row + 1, n_empty, n_repeated), records)


def read_model_answers(
    path: str | os.PathLike[str], columns: ColumnNames = DEFAULT_COLUMNS
) -> ModelAnswerFile:
    """The answers of models in a CSV, TSV, JSON Lines or XLSX file.

    As `read_answers`, with model in place of worker and an optional status; a row whose status is
    text, or not given, and whose answer is empty gets the status EMPTY. Also an `InputError`: an
    unknown status, the status empty beside an answer, the same model and question with another
    text or status.
    """
    checks = _Checks(Path(path), "model")
    table = open_table(Path(path), columns.for_model_answers(), checks.problems)
    records: list[ModelAnswerRecord] = []
    seen: dict[int, ModelAnswerRecord] = {}
    n_empty = n_repeated = 0
    row = -1
    for row, (line, (raw_model, raw_question, text, raw_status), extra) in enumerate(table.rows):
        ids = checks.ids(line, raw_model, raw_question)
        text = text if text and not text.isspace() else ""
        status = checks.status(line, raw_status, text)
        if ids is None or status is None or not checks.short_enough(line, text):
            continue
        model, question, key = ids
        record = ModelAnswerRecord(row, line, model, question, text, status, extra)
        first = seen.setdefault(key, record)
        if first is record:
            records.append(record)
            n_empty += status is AnswerStatus.EMPTY
        elif status is not first.status:
            checks.conflict(line, model, question, first.line, "another status")
        elif same_text(first.text, text):
            n_repeated += 1
        else:
            checks.conflict(line, model, question, first.line, "another text")
    checks.finish(row + 1)
    return ModelAnswerFile(*_facts(table, row + 1, n_empty, n_repeated), records)


def _facts(
    table: Table, n_rows: int, n_empty: int, n_repeated: int
) -> tuple[str, str, str | None, int, int, int, tuple[str, ...], list[str]]:
    return (
        table.name,
        table.sha256,
        table.encoding,
        n_rows,
        n_empty,
        n_repeated,
        tuple(table.kept_aside),
        table.warnings,
    )


def same_text(one: str, other: str) -> bool:
    """Whether two answers say the same: equal after trimming and in Unicode's NFC."""
    return one == other or cleaned(one) == cleaned(other)


def cleaned(text: str) -> str:
    """A text trimmed and in Unicode's NFC, the way ids are kept."""
    return unicodedata.normalize("NFC", text).strip()


class _Checks:
    """The rules for the cells of one file; what breaks them is noted in `problems`."""

    def __init__(self, path: Path, who: str) -> None:
        self.problems = Problems(path.name)
        self._who = who
        # As typed -> as kept and its number. One string for each id however often it occurs, and
        # a pair of ids is one int: half the memory of a tuple, which tells with a million rows.
        self._ids: tuple[dict[str, tuple[str, int]], ...] = ({}, {})
        self._numbers: tuple[dict[str, int], ...] = ({}, {})

    def ids(self, line: int, raw_who: str, raw_question: str) -> tuple[str, str, int] | None:
        """Who, question and a key for the pair, or None if one is missing."""
        who = self._ids[0].get(raw_who) or self._learn(0, raw_who)
        question = self._ids[1].get(raw_question) or self._learn(1, raw_question)
        if who[0] and question[0]:
            return who[0], question[0], who[1] << 32 | question[1]
        for name, value in ((self._who, who[0]), ("question", question[0])):
            if not value:
                self.problems.add(
                    line, name, f"the {name} is missing", "Fill in the id, or delete the row."
                )
        return None

    def _learn(self, which: int, raw: str) -> tuple[str, int]:
        name = cleaned(raw)
        numbers = self._numbers[which]
        number = numbers.setdefault(name, len(numbers))
        learnt = self._ids[which][raw] = (name, number)
        return learnt

    def short_enough(self, line: int, text: str) -> bool:
        """Whether the answer keeps within the limit."""
        # A character has at most four bytes, so most answers need not be encoded to know.
        if len(text) <= LONGEST_ANSWER // 4 or (size := len(text.encode())) <= LONGEST_ANSWER:
            return True
        self.problems.add(
            line,
            "answer",
            f"the answer has {size:,} bytes, more than {LONGEST_ANSWER:,}",
            "Shorten it; if it is not that long, a quote before it is not closed.",
        )
        return False

    def status(self, line: int, raw: str, text: str) -> AnswerStatus | None:
        """The status the row has in effect, or None if it cannot be."""
        word = raw.strip().casefold()
        try:
            status = AnswerStatus(word) if word else AnswerStatus.TEXT
        except ValueError:
            accepted = ", ".join(AnswerStatus)
            self.problems.add(
                line, "status", f"the status {word[:40]} is unknown", f"Accepted are {accepted}."
            )
            return None
        if status is AnswerStatus.EMPTY and text:
            self.problems.add(
                line,
                "status",
                "the status is empty, but there is an answer",
                "Remove the answer, or give the status text.",
            )
            return None
        return AnswerStatus.EMPTY if status is AnswerStatus.TEXT and not text else status

    def conflict(self, line: int, who: str, question: str, first_line: int, what: str) -> None:
        """Note that two rows contradict each other."""
        self.problems.add(
            line,
            None,
            f"{self._who} {who} answered question {question} already in line {first_line}, "
            f"with {what}",
            "Keep one of the two rows.",
        )

    def finish(self, n_rows: int) -> None:
        """Raise `InputError` if anything was wrong or there was no data row."""
        if not n_rows and not self.problems.total:
            self.problems.add(
                None, None, "there is no data row", "Check that the answers were saved."
            )
        self.problems.raise_if_any()
