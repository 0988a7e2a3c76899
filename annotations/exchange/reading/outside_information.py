"""Read a requester's information for a run: ids of untrusted workers, and expert-graded answers."""

from __future__ import annotations

import csv
import hashlib
import math
import os
import re
from dataclasses import dataclass
from pathlib import Path

from annotations.exchange.header import Column, ColumnNames, clean_column_name
from annotations.exchange.ids import clean_id
from annotations.exchange.problems import InputError, Problems
from annotations.exchange.reading.answers import DEFAULT_COLUMNS
from annotations.exchange.reading.decoding import open_text
from annotations.exchange.reading.source import TABLE_ENDINGS
from annotations.exchange.reading.tables import open_table

_DELIMITERS = re.compile("[,;\t]")


@dataclass(frozen=True, slots=True)
class WorkerList:
    """Worker ids, each once, with the line where it first occurs (0 if not from a file)."""

    name: str
    sha256: str
    lines: dict[str, int]


@dataclass(frozen=True, slots=True)
class AnchorRecord:
    """One worker's answer to a question, with an expert's grade of it."""

    line: int
    worker: str
    question: str
    grade: float


@dataclass(frozen=True, slots=True)
class AnchorFile:
    """Expert-graded answers of a file, in its order, at most one per worker and question."""

    name: str
    sha256: str
    records: list[AnchorRecord]


def read_workers(
    path: str | os.PathLike[str], columns: ColumnNames = DEFAULT_COLUMNS
) -> WorkerList:
    """Read worker ids from a table with a worker column, or from a text with one id per line.

    A text is a table if its first line names that column. Raises `InputError` for a row without an
    id, an empty file, and what its format forbids.
    """
    path = Path(path)
    problems = Problems(path.name)
    lines: dict[str, int] = {}
    if path.suffix.lower() in TABLE_ENDINGS and not _is_plain_id_list(path, columns.worker):
        table = open_table(path, (Column("worker", (columns.worker,)),), problems)
        sha256 = table.sha256
        for line, (raw,), _ in table.rows:
            worker = clean_id(raw)
            if worker:
                lines.setdefault(worker, line)
            else:
                problems.add_code(line, "worker", "id_missing", name="worker")
    else:
        source = open_text(path)
        sha256 = source.sha256
        for line, text in enumerate(source.iterate_lines(newline=""), 1):
            if worker := clean_id(text):
                lines.setdefault(worker, line)
    if not lines and not problems.total:
        problems.add_code(None, None, "no_worker")
    problems.raise_if_any()
    return WorkerList(path.name, sha256, lines)


def read_worker_argument(argument: str, columns: ColumnNames = DEFAULT_COLUMNS) -> WorkerList:
    """Return the workers that a command line argument names: a file's path or a list of ids.

    The text is the path of a file if there is one; else ids parted by commas, where one that holds
    a comma is quoted as in CSV. They have line 0. Raises `InputError` as `read_workers`, and for a
    text without an id.
    """
    if Path(argument).is_file():
        return read_workers(argument, columns)
    try:
        # Strict: a quote that is not closed would join all further ids to one.
        rows = list(csv.reader([argument], strict=True, skipinitialspace=True))
    except csv.Error as error:
        raise InputError.from_code(argument[:60], "worker_list_unquoted") from error
    ids = [worker for row in rows for cell in row if (worker := clean_id(cell))]
    if not ids:
        raise InputError.from_code(argument[:60], "worker_list_empty")
    digest = hashlib.sha256("\n".join(ids).encode()).hexdigest()
    return WorkerList(argument[:60], digest, dict.fromkeys(ids, 0))


def _is_plain_id_list(path: Path, column: str) -> bool:
    """Return whether a file is a plain list of ids, without a header that names `column`."""
    if path.suffix.lower() not in (".csv", ".tsv"):
        return False
    first = next(open_text(path).iterate_lines(newline=""), "")
    names = [clean_column_name(name.strip().strip('"')) for name in _DELIMITERS.split(first)]
    # A first line without a delimiter is the header of a single column, or the first id.
    return len(names) == 1 and names[0] != column


def read_anchors(
    path: str | os.PathLike[str], columns: ColumnNames = DEFAULT_COLUMNS
) -> AnchorFile:
    """Read expert-graded answers: worker, question, grade; further columns are ignored.

    Raises `InputError` with every bad row found: a missing worker, question or grade, a grade that
    is no number, the same answer twice; or with one problem, if the file as a whole will not do.
    """
    path = Path(path)
    problems = Problems(path.name)
    wanted = (
        Column("worker", (columns.worker,)),
        Column("question", (columns.question,)),
        Column("grade", ("grade",)),
    )
    table = open_table(path, wanted, problems)
    records: list[AnchorRecord] = []
    seen: dict[tuple[str, str], int] = {}
    for line, (raw_worker, raw_question, raw_grade), _ in table.rows:
        worker, question = clean_id(raw_worker), clean_id(raw_question)
        for name, value in (("worker", worker), ("question", question)):
            if not value:
                problems.add_code(line, name, "id_missing", name=name)
        grade = parse_grade(problems, line, raw_grade)
        if not (worker and question) or grade is None:
            continue
        first = seen.setdefault((worker, question), line)
        if first != line:
            problems.add_code(
                line,
                None,
                "answer_graded_twice",
                worker=worker,
                question=question,
                first_line=first,
            )
            continue
        records.append(AnchorRecord(line, worker, question, grade))
    if not records and not problems.total:
        problems.add_code(None, None, "no_graded_answer")
    problems.raise_if_any()
    return AnchorFile(table.name, table.sha256, records)


def parse_grade(problems: Problems, line: int, raw: str) -> float | None:
    """Parse a grade; None if it is no finite number (then a problem is recorded)."""
    text = raw.strip()
    if not text:
        problems.add_code(line, "grade", "grade_missing")
        return None
    try:
        grade = float(text)
    except ValueError:
        grade = math.nan
    if not math.isfinite(grade):
        problems.add_code(line, "grade", "grade_no_number", cell=text[:40])
        return None
    return grade
