"""Arguments and result tables of evidence studies.

Build and write the tables of evidence: one row per setting and method.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from annotations.exchange import OutputFolder
from evaluation.consensus.inputs import Progress
from evaluation.core.charts.chart import Chart
from evaluation.core.stats.statistics.descriptive import pearson, round_for_ties, spearman

# The first repetition's seed, at --seed 0.
FIRST_SEED = 1000


@dataclass(frozen=True)
class EvidenceRequest:
    """Arguments of ``manage.py reproduce``; each study uses those it needs.

    Attributes
    ----------
    data : folder of public data sets, which a study of the user's `file` does not read.
    output : folder for the tables.
    embedder : SPEC for rows that do not name their own. judge : SPEC of a language model, or None.
    nli : entailment model, or None.
    repetitions : number of simulated crowds. seed : added to the seed of each.
    core : whether to compute only the quick rows.
    file : the user's graded answers. labels : value of each label in it.
    columns : name of each required column in `file`.
    models, judgements : files of models' answers and of experts' grades of them, for the study of
        graded models, whose workers' answers are in `file`.
    likelihood : language model that returns log-probabilities, or None; it scores the answers to
        `likelihood_questions` questions.
    """

    data: Path
    output: Path
    embedder: str = "minilm"
    judge: str | None = None
    nli: str | None = None
    repetitions: int = 25
    seed: int = 0
    core: bool = False
    file: Path | None = None
    labels: Mapping[str, float] = field(default_factory=dict)
    columns: Mapping[str, str] = field(default_factory=dict)
    models: Path | None = None
    judgements: Path | None = None
    likelihood: str | None = None
    likelihood_questions: int = 10

    @property
    def seeds(self) -> range:
        """Seeds of the repetitions: 1000 + number of the repetition + `seed`."""
        return range(FIRST_SEED + self.seed, FIRST_SEED + self.seed + self.repetitions)


@dataclass(frozen=True)
class StudyTable:
    """Result of a study for the terminal: a table, and a conclusion ("" for none)."""

    header: Sequence[str]
    rows: Sequence[Sequence[object]]
    said: str = ""


# Writes its tables into a folder. Raises `InputError` and `BackendError`.
Study = Callable[[EvidenceRequest, Progress | None], StudyTable]


HEADER = (
    "setting",
    "method",
    "pearson_mean",
    "pearson_sd",
    "spearman_mean",
    "repetitions",
    "p_value",
    "paper",
)


@dataclass(frozen=True)
class EvidenceRow:
    """A method's correlation with the truth over repetitions: one row of a table.

    `pearson_sd` is None for a single repetition; `p_value` and `paper` (the published figure) are
    None if missing. An undefined mean is NaN, an empty cell. `reasons` states why, by column; for
    other columns the reason is that of `REASONS`.
    """

    setting: str
    method: str
    pearson_mean: float
    pearson_sd: float | None
    spearman_mean: float
    repetitions: int
    p_value: float | None = None
    paper: float | None = None
    reasons: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def build_empty(cls, setting: str, method: str, reason: str) -> EvidenceRow:
        """Return the row of a method without a result, with the reason of its empty cells."""
        columns = ("pearson_mean", "pearson_sd", "spearman_mean", "p_value")
        reasons = dict.fromkeys(columns, reason)
        return cls(setting, method, math.nan, None, math.nan, 0, reasons=reasons)

    def list_cells(self) -> tuple[object, ...]:
        """Return the table row in the order of `HEADER`; None for an empty cell."""
        return tuple(_replace_nan(getattr(self, name)) for name in HEADER)

    def get_reason(self, column: str) -> str:
        """Return the reason code of a column's empty cell."""
        return self.reasons.get(column, REASONS.get(column, "undefined"))


def compute_correlations(scores: ArrayLike, truth: ArrayLike) -> tuple[float, float]:
    """Return Pearson's and Spearman's correlation with the truth; NaN where undefined."""
    # Rounded, because scores that are equal but for rounding must share a rank.
    both = pearson(scores, truth), spearman(round_for_ties(scores), round_for_ties(truth))
    linear, of_ranks = (math.nan if value is None else value for value in both)
    return linear, of_ranks


@dataclass(frozen=True)
class Correlations:
    """Correlations of workers' scores with their true values, one per repetition."""

    pearson: list[float]
    spearman: list[float]

    @classmethod
    def build_empty(cls) -> Correlations:
        """Return the correlations of no repetition, to which `add_repetition` appends."""
        return cls([], [])

    def add_repetition(self, scores: ArrayLike, truth: ArrayLike) -> None:
        """Append the correlations of one repetition, from one score and true value per worker."""
        linear, of_ranks = compute_correlations(scores, truth)
        self.pearson.append(linear)
        self.spearman.append(of_ranks)

    def build_row(self, setting: str, method: str) -> EvidenceRow:
        """Return the evidence row with means and standard deviation over repetitions."""
        n = len(self.pearson)
        return EvidenceRow(
            setting=setting,
            method=method,
            pearson_mean=float(np.mean(self.pearson)),
            pearson_sd=float(np.std(self.pearson, ddof=1)) if n > 1 else None,
            spearman_mean=float(np.mean(self.spearman)),
            repetitions=n,
        )


# Why a cell of the table is empty, by column.
REASONS = {
    "pearson_sd": "single_repetition",
    "p_value": "not_tested",
    "paper": "not_recorded",
}


def write_evidence(
    folder: OutputFolder,
    rows: Sequence[EvidenceRow],
    summary: dict[str, object],
    charts: Sequence[Chart] = (),
    undefined_elsewhere: Sequence[Mapping[str, object]] = (),
) -> None:
    """Write table.csv, table.md, the charts, and summary.json with the reasons of empty cells.

    A chart becomes NAME.svg. `undefined_elsewhere` are the entries of other files' empty cells.
    """
    empty: dict[tuple[str, str], list[list[str]]] = {}
    for column in HEADER:
        for row in rows:
            if _replace_nan(getattr(row, column)) is None:
                where = empty.setdefault((column, row.get_reason(column)), [])
                where.append([row.setting, row.method])
    undefined = [
        {
            "file": "table.csv",
            "column": column,
            "reason": reason,
            "count": len(where),
            "rows": where,
        }
        for (column, reason), where in empty.items()
    ]
    cells = [row.list_cells() for row in rows]
    write_table(folder, "table", HEADER, cells)
    write_charts(folder, charts)
    folder.write_json("summary.json", {**summary, "undefined": [*undefined, *undefined_elsewhere]})


def write_table(
    folder: OutputFolder, name: str, header: Sequence[str], rows: Sequence[Sequence[object]]
) -> None:
    """Write a table as CSV with all digits and as Markdown with three decimals."""
    folder.write_csv(f"{name}.csv", header, rows)
    lines = ["| " + " | ".join(header) + " |", "|" + " --- |" * len(header)]
    lines += ["| " + " | ".join(map(_format_cell, row)) + " |" for row in rows]
    folder.open(f"{name}.md").write(("\n".join(lines) + "\n").encode())


def write_charts(folder: OutputFolder, charts: Sequence[Chart]) -> None:
    """Write each chart as NAME.svg."""
    for chart in charts:
        folder.open(f"{chart.name}.svg").write(chart.build_standalone_svg().encode())


def build_study_table(rows: Sequence[EvidenceRow]) -> StudyTable:
    """Return the evidence rows as a table for the terminal."""
    return StudyTable(HEADER, [row.list_cells() for row in rows])


def _replace_nan(value: object) -> object:
    """Return None for a NaN, any other value unchanged."""
    return None if isinstance(value, float) and math.isnan(value) else value


def _format_cell(value: object) -> str:
    """Return a cell as text for Markdown: three decimals for a float, "" for None."""
    if value is None:
        return ""
    return f"{value:.3f}" if isinstance(value, float) else str(value)
