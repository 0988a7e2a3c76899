"""Read Prolific's demographic export, whose columns are joined to answers by the worker's id."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from typing import Any

from annotations.exchange.column_names import (
    is_demographic_heading,
    normalise_name,
    normalise_names,
)
from annotations.exchange.header import clean_column_name
from annotations.exchange.ids import IdCleaner, is_blank
from annotations.exchange.presets.columns import is_personal_column
from annotations.exchange.presets.declared import (
    OF_SUBMISSIONS,
    PARTICIPANT,
    SUBMISSION,
    is_answer_column,
    is_submission_list,
)
from annotations.exchange.presets.mapping import format_names, match_columns
from annotations.exchange.presets.table import Head, open_foreign_table
from annotations.exchange.problems import InputError, Problems
from annotations.exchange.prolific import REJECTED, RETURNED, STATUSES, TIMED_OUT, recognise_status
from annotations.exchange.reading.panel_statuses import is_withheld
from annotations.exchange.reading.source import Readable, make_source
from annotations.exchange.whole_ids import WholeIdReader

ASKED_ABOUT = (RETURNED, TIMED_OUT, REJECTED)
"""Statuses with which the user decides whether the answers count."""
FEWEST_DEMOGRAPHIC = 2
"""Demographic columns by which a table of participants without statuses is known."""
NOT_PROPOSED = normalise_names(
    "reviewedat reviewedatdatetime archivedat customstudytncsacceptedat completioncode enteredcode"
)
"""Columns about the handling of a submission, which say nothing about the worker."""
MOST_NAMED = 5


class DemographicRole(StrEnum):
    """Role of a column of a demographic export; the values are keys of --map-demographics."""

    WORKER = "worker"
    STATUS = "status"
    EXTRA = "extra"
    IGNORE = "ignore"


class StatusRule(StrEnum):
    """Rule for answers of workers whose submission was returned, timed out or rejected.

    REFUSE: an error. APPLY: the answers of returned and timed-out submissions are left out, those
    of rejected ones are flagged. KEEP: they count like all others.
    """

    REFUSE = "refuse"
    APPLY = "apply"
    KEEP = "keep"


@dataclass(frozen=True, slots=True)
class DemographicMapping:
    """Names of the columns of a demographic export that have a role; the others are ignored."""

    worker: str = ""
    status: str = ""
    extra: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return the column names as JSON values, which `from_dict` reads back."""
        return {**asdict(self), "extra": list(self.extra)}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> DemographicMapping:
        """Return the mapping with the column names in a dict made by `as_dict`."""
        return cls(values["worker"], values["status"], tuple(values["extra"]))

    def get_role(self, column: str) -> DemographicRole:
        """Return the role of a column; `IGNORE` for one without a role."""
        if column == self.worker:
            return DemographicRole.WORKER
        if column == self.status:
            return DemographicRole.STATUS
        return DemographicRole.EXTRA if column in self.extra else DemographicRole.IGNORE

    def replace_roles(
        self, entries: Iterable[str], header: Sequence[str], file: str
    ) -> DemographicMapping:
        """Return the mapping with roles replaced by `KEY=COLUMN` entries (--map-demographics).

        KEY is a `DemographicRole`; `extra` and `ignore` may come several times and as globs.
        `extra` adds to the proposed columns. Raises ValueError, with a sentence for the user, for
        an unknown key, and `InputError` for a column that the file does not have.
        """
        mapping = self
        for entry in entries:
            key, equals, name = entry.partition("=")
            if not equals or key.strip() not in tuple(DemographicRole):
                keys = ", ".join(DemographicRole)
                raise ValueError(f"{entry!r} is no KEY=COLUMN, where KEY is one of {keys}")
            globs = [text for text in (clean_column_name(name),) if text]
            columns = match_columns(globs, header, file)
            mapping = mapping._assign_role(DemographicRole(key.strip()), columns)
        return mapping

    def _assign_role(self, role: DemographicRole, columns: tuple[str, ...]) -> DemographicMapping:
        """Return a copy of the mapping that gives columns a role in place of their other one."""
        taken = frozenset(columns)
        rest = replace(
            self,
            worker="" if self.worker in taken else self.worker,
            status="" if self.status in taken else self.status,
            extra=tuple(name for name in self.extra if name not in taken),
        )
        first = columns[0] if columns else ""
        if role == DemographicRole.WORKER:
            return replace(rest, worker=first)
        if role == DemographicRole.STATUS:
            return replace(rest, status=first)
        return replace(rest, extra=rest.extra + columns) if role == DemographicRole.EXTRA else rest


@dataclass(frozen=True, slots=True)
class DemographicRow:
    """One participant: the line in the file, the status, and the further cells by column."""

    line: int
    status: str
    cells: dict[str, str]


@dataclass(frozen=True, slots=True)
class DemographicFile:
    """Participants of a demographic export by their ids, in the order of the file.

    `n_deleted` counts rows whose participant Prolific has deleted, `n_withheld` the cells that it
    deleted in other rows (`CONSENT_REVOKED`, `DATA_EXPIRED`); both are read as missing.
    """

    name: str
    sha256: str
    mapping: DemographicMapping
    rows: dict[str, DemographicRow]
    ignored: tuple[str, ...]
    n_deleted: int = 0
    n_withheld: int = 0
    warnings: list[str] = field(default_factory=list)


def is_demographic_export(head: Head) -> bool:
    """Return whether a file is Prolific's demographic export or its list of submissions.

    A table of participants with facts about them alone, and no answers, is one too.
    """
    if is_submission_list(head):
        return True
    named = {
        head.find_column(*PARTICIPANT),
        *map(head.find_column, (*SUBMISSION, "Status", *OF_SUBMISSIONS)),
    }
    facts = [name for name in head.header if is_demographic_heading(name)]
    if not head.find_column(*PARTICIPANT) or len(facts) < FEWEST_DEMOGRAPHIC:
        return False
    others = [name for name in head.header if name not in named]
    return not any(is_answer_column(head, name) for name in others)


def propose_demographic_mapping(head: Head) -> DemographicMapping:
    """Return the proposed roles of the columns of a demographic export.

    All columns are extra information, except those about the handling of the submission, those
    that identify or locate a person, and empty ones. A status column has known statuses only.
    """
    worker, status = head.find_column(*PARTICIPANT), head.find_column("Status")
    known = [recognise_status(cell) for cell in head.get_values(status) if not is_withheld(cell)]
    status = status if known and all(known) else ""
    extra = (
        name
        for name in dict.fromkeys(head.header)
        if name not in ("", worker, status)
        and normalise_name(name) not in NOT_PROPOSED
        and not is_personal_column(head, name)
        and any(not is_withheld(cell) for cell in head.get_values(name))
    )
    return DemographicMapping(worker, status, tuple(extra))


def read_demographics(
    given: Readable, mapping: DemographicMapping, *, keep_ids: bool = False
) -> DemographicFile:
    """Read the participants of a demographic export with the roles of its columns.

    Cells that Prolific deleted are missing. A participant may have several rows that agree.
    Raises `InputError` for a missing column, an unknown status, a row without an id, and two rows
    of a participant that differ.
    """
    problems, ids = Problems(make_source(given).name), IdCleaner()
    table = open_foreign_table(given, problems)
    at = _locate_columns(table.header, mapping, table.name)
    whole = WholeIdReader(
        {mapping.worker: at[mapping.worker]},
        lambda: (cells for _, cells in open_foreign_table(given, Problems("")).rows),
        keeps=keep_ids,
    )
    rows: dict[str, DemographicRow] = {}
    n_deleted = n_withheld = 0
    for line, raw in table.rows:
        cells = ["" if is_withheld(cell) or is_blank(cell) else cell.strip() for cell in raw]
        is_deleted = is_withheld(raw[at[mapping.worker]])
        worker = ids.clean_and_record(whole.read_id(cells, at[mapping.worker]))
        if not worker:
            n_deleted += is_deleted
            if not is_deleted and any(cells):
                problems.add_code(line, mapping.worker, "submission_id_missing")
            continue
        n_withheld += sum(is_withheld(raw[at[name]]) for name in at)
        status = cells[at[mapping.status]] if mapping.status else ""
        known = recognise_status(status) if status else ""
        if known is None:
            values = {"status": status[:40], "known": ", ".join(STATUSES)}
            problems.add_code(line, mapping.status, "panel_status_unknown", **values)
            continue
        filled = {name: cells[at[name]] for name in mapping.extra if cells[at[name]]}
        row = DemographicRow(line, known, filled)
        _record_difference(problems, worker, rows.setdefault(worker, row), row, mapping)
    if not rows and not problems.total:
        problems.add_code(None, None, "no_submission")
    problems.raise_if_any()
    used = (mapping.worker, mapping.status, *mapping.extra)
    ignored = tuple(name for name in dict.fromkeys(table.header) if name and name not in used)
    warnings = [*table.warnings, *whole.notes, *ids.warnings]
    facts = (rows, ignored, n_deleted, n_withheld, warnings)
    return DemographicFile(table.name, table.sha256, mapping, *facts)


def _locate_columns(
    header: Sequence[str], mapping: DemographicMapping, file: str
) -> dict[str, int]:
    """Return the position of each used column; `InputError` if one is missing or occurs twice."""
    if not mapping.worker:
        raise InputError.from_code(file, "participants_unnamed", found=format_names(header))
    names = [name for name in (mapping.worker, mapping.status, *mapping.extra) if name]
    counts = Counter(header)
    for name in names:
        if not counts[name]:
            raise InputError.from_code(
                file, "demographic_column_missing", name=name[:60], found=format_names(header)
            )
        if counts[name] > 1:
            raise InputError.from_code(file, "mapped_column_ambiguous", name=name)
    return {name: header.index(name) for name in names}


def _record_difference(
    problems: Problems,
    worker: str,
    first: DemographicRow,
    row: DemographicRow,
    mapping: DemographicMapping,
) -> None:
    """Record a problem if a participant's row differs from the participant's first row."""
    columns = [name for name in mapping.extra if first.cells.get(name) != row.cells.get(name)]
    columns += [mapping.status] * (first.status != row.status)
    if columns:
        values = {"worker": worker[:40], "first_line": first.line, "column": columns[0]}
        problems.add_code(row.line, columns[0], "demographics_differ", **values)


def format_first_workers(workers: Sequence[str], most: int = MOST_NAMED) -> str:
    """Return the first worker ids as text, followed by the number of the others."""
    more = f" and {len(workers) - most:,} more" if len(workers) > most else ""
    return ", ".join(name[:40] for name in workers[:most]) + more
