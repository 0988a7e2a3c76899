"""What a terminal shows of a graded file: the tables in short, and every warning."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from evaluation.console import text_table
from evaluation.studies.grading import FileGrading
from evaluation.studies.grading_summary import warnings_of
from evaluation.studies.grading_tables import model_rows, worker_rows
from evaluation.studies.undefined import Undefined

# Workers shown; the file holds all of them.
SHOWN = 40


def report(grading: FileGrading, output: Path) -> str:
    """Return the text that ``evaluate aqer`` prints at the end."""
    aqer = grading.graded.aqer
    parts = [
        f"{len(grading.answered)} answers of {len(aqer.workers_)} workers to "
        f"{len(aqer.questions_)} questions, {aqer.n_iter_} iterations",
        workers_table(grading),
    ]
    if grading.graded.models is not None:
        parts.append(models_table(grading))
    ceiling = aqer.ceiling_
    if ceiling.score is not None:
        interval = (
            ""
            if ceiling.low is None
            else f" (95% interval {ceiling.low:.3f} to {ceiling.high:.3f})"
        )
        parts.append(f"Human ceiling: {ceiling.score:.3f}{interval}")
    warnings = warnings_of(grading)
    if warnings:
        parts.append("\n".join(f"Warning: {warning}" for warning in warnings))
    parts.append(f"Tables: {output}")
    return "\n\n".join(parts)


def workers_table(grading: FileGrading) -> str:
    """Return the workers by rank, best first, at most 40."""
    rows = list(worker_rows(grading, Undefined()))
    rows.sort(key=lambda row: (row[10] is None, row[10] or 0, -(row[1] or 0.0)))
    header = ("rank", "worker", "grade", "low", "high", "raw", "answers", "support")
    shown = [(row[10], row[0], row[1], row[5], row[6], row[2], row[8], row[9]) for row in rows]
    table = text_table(header, shown[:SHOWN])
    if len(shown) > SHOWN:
        table += f"\n... and {len(shown) - SHOWN} more workers in workers.csv"
    return table


def models_table(grading: FileGrading) -> str:
    """Return the models, highest score first."""
    rows = list(model_rows(grading, Undefined()))
    rows.sort(key=lambda row: np.inf if row[1] is None else -row[1])
    header = ("rank", "model", "score", "low", "high", "percentile", "n", "answered")
    return text_table(
        header, [(row[8], row[0], row[1], row[3], row[4], row[7], row[5], row[6]) for row in rows]
    )
