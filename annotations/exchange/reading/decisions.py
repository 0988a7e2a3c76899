"""What somebody decided of workers' submissions, as a file has it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from decimal import Decimal

from annotations.exchange.header import Column
from annotations.exchange.ids import clean_id
from annotations.exchange.money import AmountError, amount_of
from annotations.exchange.problems import Problems
from annotations.exchange.prolific import category_named, wrong_with
from annotations.exchange.reading.answers import cleaned
from annotations.exchange.reading.source import Readable, source_of
from annotations.exchange.reading.tables import open_table

LONGEST_ID = 255
OF_MONEY = re.compile(r"\b(bonus|bonuses|amount|amounts|pay|payment|payments)\b")
"""What the heading of an amount has in it: under another than `bonus` nobody would be paid it."""

COLUMNS = (
    *(Column(name, (name,), renamed_by="", any_case=True) for name in ("worker", "decision")),
    *(
        Column(name, (name,), required=False, renamed_by="", any_case=True)
        for name in ("category", "reason", "panel", "bonus")
    ),
)


@dataclass(frozen=True, slots=True)
class GivenDecision:
    """A row; `panel` is "" and `bonus` None where nothing is said of them."""

    line: int
    worker: str
    panel: str
    decision: str
    category: str
    reason: str
    bonus: Decimal | None


@dataclass(frozen=True, slots=True)
class DecisionFile:
    """The decisions of a file, in its order; `kept_aside` are the columns that are not kept."""

    name: str
    sha256: str
    rows: tuple[GivenDecision, ...]
    kept_aside: tuple[str, ...] = ()
    warnings: list[str] = field(default_factory=list)


def read_decisions(given: Readable, problems: Problems | None = None) -> DecisionFile:
    """Read a table: worker, decision, category, reason; perhaps panel and bonus.

    With `problems` these are noted there, for who has more to say of the rows, and nothing is
    raised of them: each row that names a worker is handed on then, sound or not.

    Raises
    ------
    InputError
        Every row without a worker, with a worker who stood there before, or whose decision or
        bonus will not do; a column that looks like bonuses and is not called so, with a number in
        a row without a bonus; a file without rows.
    """
    told = Problems(source_of(given).name) if problems is None else problems
    table = open_table(given, COLUMNS, told)
    rows: list[GivenDecision] = []
    first: dict[tuple[str, str], int] = {}
    unread: dict[str, list[int]] = {}
    for line, cells, extra in table.rows:
        worker, decision, category, reason, panel, bonus = map(str, cells)
        one = GivenDecision(
            line,
            clean_id(worker),
            clean_id(panel),
            cleaned(decision).casefold(),
            category_named(category),
            cleaned(reason),
            _bonus(told, line, bonus),
        )
        for wrong in wrong_with(one.decision, one.category, one.reason):
            told.add(line, wrong.field, wrong.why, wrong.remedy, code=wrong.code)
        if not one.worker or len(one.worker) > LONGEST_ID:
            code = "panel_worker_long" if one.worker else "panel_worker_missing"
            told.add_code(line, "worker", code, most=LONGEST_ID)
        elif (earlier := first.setdefault((one.panel, one.worker), line)) != line:
            told.add_code(
                line, "worker", "decided_twice", worker=one.worker[:40], first_line=earlier
            )
        else:
            rows.append(one)
        for name, cell in zip(table.kept_aside, extra, strict=False):
            if any(one.isdigit() for one in cell) and _is_amount(name, with_bonus=bool(bonus)):
                unread.setdefault(name, []).append(line)
    for name, lines in unread.items():
        _refuse_unread(told, name, lines)
    if not rows and not told.total:
        told.add_code(None, None, "no_decision")
    if problems is None:
        told.by_line()
        told.raise_if_any()
    return DecisionFile(
        table.name, table.sha256, tuple(rows), tuple(table.kept_aside), list(table.warnings)
    )


def _is_amount(heading: str, *, with_bonus: bool) -> bool:
    """Whether a column looks like bonuses; beside a bonus only one that is called the same."""
    name = heading.casefold().replace("_", " ")
    return name == "bonus" or (not with_bonus and OF_MONEY.search(name) is not None)


def _refuse_unread(problems: Problems, name: str, lines: list[int]) -> None:
    many = f"{len(lines):,} rows have" if len(lines) > 1 else "1 row has"
    problems.add_code(lines[0], name[:40], "amounts_not_read", rows=many)


def _bonus(problems: Problems, line: int, cell: str) -> Decimal | None:
    if not cell.strip():
        return None
    try:
        return amount_of(cell)
    except AmountError as error:
        remedy = "Leave it empty where there is none."
        problems.add(line, "bonus", str(error), remedy, code=error.code)
        return None
