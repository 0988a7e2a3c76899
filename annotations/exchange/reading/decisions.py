"""What somebody decided of workers' submissions, as a file has it."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal

from annotations.exchange.header import Column
from annotations.exchange.money import amount_of
from annotations.exchange.problems import Problems
from annotations.exchange.prolific import category_named, wrong_with
from annotations.exchange.reading.answers import cleaned
from annotations.exchange.reading.source import Readable, source_of
from annotations.exchange.reading.tables import open_table

LONGEST_ID = 255
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
    """The decisions of a file, in its order."""

    name: str
    sha256: str
    rows: tuple[GivenDecision, ...]
    warnings: list[str] = field(default_factory=list)


def read_decisions(given: Readable) -> DecisionFile:
    """Read a table: worker, decision, category, reason; perhaps panel and bonus.

    Raises
    ------
    InputError
        Every row without a worker, with a worker who stood there before, or whose decision or
        bonus will not do; a file without rows.
    """
    name = source_of(given).name
    problems = Problems(name)
    table = open_table(given, COLUMNS, problems)
    rows: list[GivenDecision] = []
    first: dict[tuple[str, str], int] = {}
    for line, cells, _ in table.rows:
        worker, decision, category, reason, panel, bonus = map(str, cells)
        before = problems.total
        one = GivenDecision(
            line,
            cleaned(worker),
            cleaned(panel),
            cleaned(decision).casefold(),
            category_named(category),
            cleaned(reason),
            _bonus(problems, line, bonus),
        )
        for column, why, remedy in wrong_with(one.decision, one.category, one.reason):
            problems.add(line, column, why, remedy)
        if not one.worker or len(one.worker) > LONGEST_ID:
            why = f"the id has more than {LONGEST_ID} characters" if one.worker else "it is missing"
            problems.add(line, "worker", why, "Write the panel's id of the worker.")
        elif (earlier := first.setdefault((one.panel, one.worker), line)) != line:
            problems.add(
                line,
                "worker",
                f"{one.worker[:40]} stands in line {earlier} already",
                "Decide once of each: the last row would not win.",
            )
        if problems.total == before:
            rows.append(one)
    if not rows and not problems.total:
        problems.add(None, None, "there is no decision in it", "Check that it was saved.")
    problems.raise_if_any()
    return DecisionFile(table.name, table.sha256, tuple(rows), list(table.warnings))


def _bonus(problems: Problems, line: int, cell: str) -> Decimal | None:
    if not cell.strip():
        return None
    try:
        return amount_of(cell)
    except ValueError as error:
        problems.add(line, "bonus", str(error), "Leave it empty where there is none.")
        return None
