"""Read a file of decisions on workers' submissions: approvals, rejections, bonuses."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from decimal import Decimal

from annotations.exchange.header import Column
from annotations.exchange.ids import clean_id
from annotations.exchange.money import AmountError, parse_bonus_amount
from annotations.exchange.problems import Problems
from annotations.exchange.prolific import find_decision_faults, normalise_category
from annotations.exchange.reading.answers import normalise_text
from annotations.exchange.reading.source import Readable, make_source
from annotations.exchange.reading.tables import open_table

LONGEST_ID = 255
OF_MONEY = re.compile(r"\b(bonus|bonuses|amount|amounts|pay|payment|payments)\b")
"""Words in the heading of a column of amounts: only the column `bonus` is paid."""

COLUMNS = (
    *(Column(name, (name,), renamed_by="", any_case=True) for name in ("worker", "decision")),
    *(
        Column(name, (name,), required=False, renamed_by="", any_case=True)
        for name in ("category", "reason", "panel", "bonus")
    ),
)


@dataclass(frozen=True, slots=True)
class DecisionRow:
    """The decision on one worker; `panel` is "" and `bonus` None where the cell is empty."""

    line: int
    worker: str
    panel: str
    decision: str
    category: str
    reason: str
    bonus: Decimal | None


@dataclass(frozen=True, slots=True)
class DecisionFile:
    """The decisions of a file, in order; `kept_aside` are the names of unread columns."""

    name: str
    sha256: str
    rows: tuple[DecisionRow, ...]
    kept_aside: tuple[str, ...] = ()
    warnings: list[str] = field(default_factory=list)


def read_decisions(file: Readable, problems: Problems | None = None) -> DecisionFile:
    """Read a table of decisions: worker, decision, category, reason; optionally panel and bonus.

    With `problems`, a caller's own list, faults are added there and none is raised: each row that
    names a worker is returned then, sound or not.

    Raises
    ------
    InputError
        Every row without a worker, with a worker of an earlier row, or with an invalid decision or
        bonus; a column that looks like bonuses under another name, with a number in a row without a
        bonus; a file without rows.
    """
    noted = Problems(make_source(file).name) if problems is None else problems
    table = open_table(file, COLUMNS, noted)
    rows: list[DecisionRow] = []
    first_lines: dict[tuple[str, str], int] = {}
    unread_amounts: dict[str, list[int]] = {}
    for line, cells, extra in table.rows:
        worker, decision, category, reason, panel, bonus = map(str, cells)
        row = DecisionRow(
            line,
            clean_id(worker),
            clean_id(panel),
            normalise_text(decision).casefold(),
            normalise_category(category),
            normalise_text(reason),
            _parse_bonus(noted, line, bonus),
        )
        for wrong in find_decision_faults(row.decision, row.category, row.reason):
            noted.add(line, wrong.field, wrong.why, wrong.remedy, code=wrong.code)
        if not row.worker or len(row.worker) > LONGEST_ID:
            code = "panel_worker_long" if row.worker else "panel_worker_missing"
            noted.add_code(line, "worker", code, most=LONGEST_ID)
        elif (earlier := first_lines.setdefault((row.panel, row.worker), line)) != line:
            noted.add_code(
                line, "worker", "decided_twice", worker=row.worker[:40], first_line=earlier
            )
        else:
            rows.append(row)
        for name, cell in zip(table.kept_aside, extra, strict=False):
            # A column of amounts under another name is not read: these people would get
            # no bonus.
            if any(row.isdigit() for row in cell) and _is_amount_heading(
                name, with_bonus=bool(bonus)
            ):
                unread_amounts.setdefault(name, []).append(line)
    for name, lines in unread_amounts.items():
        _record_unread_amounts(noted, name, lines)
    if not rows and not noted.total:
        noted.add_code(None, None, "no_decision")
    if problems is None:
        # Unread amounts are noted after all rows, but belong to earlier lines.
        noted.sort_by_line()
        noted.raise_if_any()
    return DecisionFile(
        table.name, table.sha256, tuple(rows), tuple(table.kept_aside), list(table.warnings)
    )


def _is_amount_heading(heading: str, *, with_bonus: bool) -> bool:
    """Return whether an unread column looks like amounts that the user meant as bonuses."""
    name = heading.casefold().replace("_", " ")
    return name == "bonus" or (not with_bonus and OF_MONEY.search(name) is not None)


def _record_unread_amounts(problems: Problems, name: str, lines: list[int]) -> None:
    """Record a problem for an unread column that looks like amounts, at its first line."""
    many = f"{len(lines):,} rows have" if len(lines) > 1 else "1 row has"
    problems.add_code(lines[0], name[:40], "amounts_not_read", rows=many)


def _parse_bonus(problems: Problems, line: int, cell: str) -> Decimal | None:
    """Parse the amount of a bonus; None if empty, or bad (then a problem is recorded)."""
    if not cell.strip():
        return None
    try:
        return parse_bonus_amount(cell)
    except AmountError as error:
        remedy = "Leave it empty where there is none."
        problems.add(line, "bonus", str(error), remedy, code=error.code)
        return None
