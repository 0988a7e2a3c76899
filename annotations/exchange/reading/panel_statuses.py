"""Read Prolific's export of a study, with the status of each submission."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime

from annotations.exchange.header import Column
from annotations.exchange.ids import clean_id
from annotations.exchange.problems import Problems
from annotations.exchange.prolific import STATUSES, normalise_status, recognise_status
from annotations.exchange.reading.answers import normalise_text
from annotations.exchange.reading.source import Readable, make_source
from annotations.exchange.reading.tables import open_table

LONGEST_ID = 255
LONGEST_CODE = 100
WITHHELD = frozenset(map(normalise_status, ("CONSENT_REVOKED", "DATA_EXPIRED")))
"""What Prolific writes in the cells of a person whose data it has deleted."""

COLUMNS = (
    *(
        Column(key, names, renamed_by="", any_case=True)
        for key, names in (
            ("submission", ("Submission id", "submission_id", "session_id")),
            ("participant", ("Participant id", "participant_id")),
            ("status", ("Status",)),
        )
    ),
    *(
        Column(names[0], names, required=False, renamed_by="", any_case=True)
        for names in (
            ("Started at", "started_at", "started_datetime"),
            ("Completed at", "completed_at", "completed_date_time"),
            ("Time taken", "time_taken"),
            ("Completion code", "completion_code", "entered_code"),
            ("Study id", "study_id"),
        )
    ),
)
"""Prolific's columns: as they are called today, in its own interface, and in older exports; exports
of other times write "Submission ID"."""

_SECONDS = re.compile(r"[0-9]{1,10}(\.[0-9]*)?")
# `fromisoformat` would also take 20190501 and the days of weeks.
_TIME = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
    r"([T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?)?(Z|[+-][0-9]{2}(:?[0-9]{2})?)?)?"
)
# Prolific names its files after the study: prolific_export_5f1e....csv
_STUDY = re.compile(r"(?<![0-9a-f])[0-9a-f]{24}(?![0-9a-f])", re.ASCII)


@dataclass(frozen=True, slots=True)
class StatusRow:
    """One submission in Prolific's export; times and seconds are None if the cells are empty.

    `submission` and `participant` are "" where Prolific has deleted them.
    """

    line: int
    submission: str
    participant: str
    status: str
    started_at: datetime | None
    completed_at: datetime | None
    seconds: float | None
    code: str
    study: str


@dataclass(frozen=True, slots=True)
class StatusFile:
    """Submissions of a Prolific export, in order; `kept_aside` are the names of unread columns."""

    name: str
    sha256: str
    rows: tuple[StatusRow, ...]
    study: str
    kept_aside: tuple[str, ...] = ()
    warnings: list[str] = field(default_factory=list)


def read_statuses(file: Readable) -> StatusFile:
    """Read Prolific's table of submissions: ids, status, and optionally times, code, study.

    A status may be spelled in small letters or with underscores. Times without a zone are UTC.
    Cells of deleted data (`WITHHELD`) are read as empty, ids too.

    Raises
    ------
    InputError
        Every row without an id, with a submission or participant of an earlier row, with an unknown
        status, or with an invalid time; a file without rows.
    """
    name = make_source(file).name
    problems = Problems(name)
    table = open_table(file, COLUMNS, problems)
    rows: list[StatusRow] = []
    first: dict[tuple[str, str], int] = {}
    for line, cells, _ in table.rows:
        submission, participant, status = cells[:3]
        started, completed, taken, code, study = map(_clear_withheld, cells[3:])
        n_problems = problems.total
        for column, cell in (("Submission id", submission), ("Participant id", participant)):
            # Deleted ids are equal in all their rows, so they must not count as repeated.
            if not is_withheld(cell):
                _check_unique_id(problems, first, line, column, clean_id(cell))
        known = recognise_status(status)
        if known is None:
            problems.add_code(
                line,
                "Status",
                "panel_status_unknown",
                status=status.strip()[:40],
                known=", ".join(STATUSES),
            )
        started_at = _parse_time(problems, line, "Started at", started)
        completed_at = _parse_time(problems, line, "Completed at", completed)
        if started_at and completed_at and completed_at < started_at:
            problems.add_code(line, "Completed at", "submission_times_reversed")
        seconds = _parse_seconds(problems, line, taken)
        if problems.total == n_problems and known is not None:
            rows.append(
                StatusRow(
                    line,
                    clean_id(_clear_withheld(submission)),
                    clean_id(_clear_withheld(participant)),
                    known,
                    started_at,
                    completed_at,
                    seconds,
                    normalise_text(code)[:LONGEST_CODE],
                    clean_id(study),
                )
            )
    if not rows and not problems.total:
        problems.add_code(None, None, "no_submission")
    problems.raise_if_any()
    study_match = _STUDY.search(name.casefold())
    return StatusFile(
        *(table.name, table.sha256, tuple(rows), study_match.group() if study_match else ""),
        tuple(table.kept_aside),
        list(table.warnings),
    )


def _clear_withheld(cell: str) -> str:
    """Return a cell, or "" if Prolific has deleted its content."""
    return "" if is_withheld(cell) else cell


def is_withheld(cell: str) -> bool:
    """Return whether a cell states that Prolific has deleted its content."""
    return normalise_status(cell) in WITHHELD


def _check_unique_id(
    problems: Problems, first: dict[tuple[str, str], int], line: int, column: str, value: str
) -> None:
    """Record a problem for an id that is missing, too long, or used in an earlier line."""
    if not value or len(value) > LONGEST_ID:
        code = "submission_id_long" if value else "submission_id_missing"
        problems.add_code(line, column, code, most=LONGEST_ID)
    elif (earlier := first.setdefault((column, value), line)) != line:
        problems.add_code(line, column, "submission_twice", value=value[:40], first_line=earlier)


def _parse_time(problems: Problems, line: int, column: str, cell: str) -> datetime | None:
    """Parse a time to UTC; None if empty, or bad (then a problem is recorded)."""
    if not (cell := cell.strip()):
        return None
    try:
        if _TIME.fullmatch(cell):
            value = datetime.fromisoformat(cell)
            return (value if value.tzinfo else value.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        pass
    problems.add_code(line, column, "panel_time_unreadable", cell=cell[:40])
    return None


def _parse_seconds(problems: Problems, line: int, cell: str) -> float | None:
    """Parse a duration in seconds; None if empty, or bad (then a problem is recorded)."""
    if not (cell := cell.strip()):
        return None
    if _SECONDS.fullmatch(cell):
        return float(cell)
    problems.add_code(line, "Time taken", "panel_seconds_unreadable", cell=cell[:40])
    return None
