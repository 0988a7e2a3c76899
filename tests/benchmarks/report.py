"""The results as JSON, as Markdown and for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from annotations.exchange import OutputFolder
from evaluation.core.messages.console import format_table
from tests.benchmarks.results import CaseResult, Figure

HEADER = (
    "case",
    "setting",
    "measured",
    "unit",
    "runs",
    "median",
    "min",
    "max",
    "ratio",
    "claim",
    "verdict",
)
FIRST_NUMBER, LAST_NUMBER = HEADER.index("runs"), HEADER.index("ratio")
# Digits after the point where three significant ones would hide what matters.
DIGITS = {"cosine": 6, "r": 4}


@dataclass(frozen=True)
class Report:
    """All cases of one run.

    Attributes
    ----------
    date : when it was begun, ISO 8601. environment : from `machine.environment`.
    """

    date: str
    environment: dict[str, Any]
    cases: Sequence[CaseResult]

    def missed(self) -> list[str]:
        """Return the claims that are not met, in words."""
        return [claim for case in self.cases for claim in case.missed()]

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "date": self.date,
            "environment": self.environment,
            "cases": [case.as_dict() for case in self.cases],
            "missed": self.missed(),
        }

    def write(self, folder: OutputFolder) -> None:
        """Write benchmark.json and benchmark.md."""
        folder.write_json("benchmark.json", self.as_dict())
        folder.open("benchmark.md").write(self.markdown().encode())

    def text(self) -> str:
        """Return the table and what belongs to it, for a terminal."""
        columns = list(zip(*self._cells(), strict=True))
        for at in range(FIRST_NUMBER, min(LAST_NUMBER + 1, len(columns))):
            width = max(map(len, (HEADER[at], *columns[at])))
            columns[at] = tuple(cell.rjust(width) for cell in columns[at])
        rows = list(zip(*columns, strict=True))
        return "\n\n".join(
            [self._machine(), format_table(HEADER, rows), "\n".join(self._remarks())]
        )

    def markdown(self) -> str:
        """Return the same as Markdown."""
        lines = ["| " + " | ".join(HEADER) + " |", "|" + " --- |" * len(HEADER)]
        lines += ["| " + " | ".join(cells) + " |" for cells in self._cells()]
        remarks = "\n".join(f"- {remark}" for remark in self._remarks())
        return "\n\n".join([self._machine(), "\n".join(lines), remarks]) + "\n"

    def _machine(self) -> str:
        known = self.environment
        versions = ", ".join(f"{name} {at}" for name, at in known["versions"].items() if at)
        return (
            f"{self.date}; {known['processor']}, {known['cores']} cores, "
            f"{known['memory_gb']} GB, {known['system']}; Python {known['python']}, "
            f"BLAS {known['blas']}, {versions}"
        )

    def _cells(self) -> list[tuple[str, ...]]:
        return [
            (
                case.name,
                row.setting,
                row.what,
                row.unit,
                str(row.runs or ""),
                *(_number(value, row.unit) for value in (row.median, row.low, row.high)),
                _number(row.ratio, ""),
                row.claim or "",
                _verdict(row),
            )
            for case in self.cases
            for row in case.rows
        ]

    def _remarks(self) -> list[str]:
        remarks = []
        for case in self.cases:
            state = case.failed or (f"skipped: {case.skipped}" if case.skipped else None)
            load = f"load {case.load_before} before, {case.load_after} after"
            remarks.append(f"{case.name}: {state or f'{case.seconds:.0f} s, {load}'}")
            remarks += [f"{case.name}: {remark}" for remark in case.remarks]
        missed = self.missed()
        remarks += [f"NOT MET: {claim}" for claim in missed]
        if not missed:
            remarks.append("no claim that was tried is missed")
        return remarks


def _verdict(row: Figure) -> str:
    return f"{row.verdict or ''}: {row.reason}" if row.reason else row.verdict or ""


def _number(value: float | None, unit: str) -> str:
    if value is None:
        return ""
    if unit in DIGITS:
        return f"{value:.{DIGITS[unit]}f}"
    size = abs(value)
    if size >= 1000:
        return f"{value:,.0f}"
    if size >= 1:
        return f"{value:.1f}" if size >= 100 else f"{value:.2f}"
    return f"{value:.3g}"
