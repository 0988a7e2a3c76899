"""What a terminal shows of a graded file: the tables in short, and every warning."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from evaluation.files.alarm_text import alarms_text
from evaluation.files.graded import FileGrading
from evaluation.flow.grade_changes import GradeChanges
from evaluation.flow.grading import Grading
from evaluation.words.console import text_table

# Workers shown; the file holds all of them.
SHOWN = 40


def report(graded: FileGrading, output: Path) -> str:
    """Return the text that ``evaluate aqer`` prints at the end."""
    grading = graded.grading
    aqer, changes = grading.graded.aqer, grading.changes()
    parts = [
        f"{len(grading.given.answered)} answers of {len(aqer.workers_)} workers to "
        f"{len(aqer.questions_)} questions, {aqer.n_iter_} iterations",
        workers_table(grading),
    ]
    if grading.graded.models is not None:
        parts.append(models_table(grading))
    if changes is not None:
        parts.append(changes_table(changes))
    ceiling = aqer.ceiling_
    if ceiling.score is not None:
        interval = (
            ""
            if ceiling.low is None
            else f" (95% interval {ceiling.low:.3f} to {ceiling.high:.3f})"
        )
        parts.append(f"Human ceiling: {ceiling.score:.3f}{interval}")
    if grading.alarms.found:
        parts.append(alarms_text(grading.alarms.found, "in alarms.csv"))
    if graded.warnings:
        parts.append("\n".join(f"Warning: {warning}" for warning in graded.warnings))
    parts.append(f"Tables: {output}")
    return "\n\n".join(parts)


def workers_table(grading: Grading) -> str:
    """Return the workers by rank, best first, at most 40."""
    rows = sorted(
        grading.results().workers(),
        key=lambda row: (row.rank is None, row.rank or 0, -(row.grade or 0.0)),
    )
    header = ("rank", "worker", "grade", "low", "high", "raw", "answers", "support")
    shown = [
        (r.rank, r.worker, r.grade, r.grade_low, r.grade_high, r.raw, r.n_answers, r.support)
        for r in rows
    ]
    table = text_table(header, shown[:SHOWN])
    if len(shown) > SHOWN:
        table += f"\n... and {len(shown) - SHOWN} more workers in workers.csv"
    return table


def changes_table(changes: GradeChanges) -> str:
    """Return how far the ranking is that of the plain run, and who moved most."""
    if changes.spearman is None:
        return "Compared with the plain run: no correlation (fewer than 2 workers, or no spread)"
    text = f"Compared with the plain run: Spearman {changes.spearman:.3f} over {changes.n} workers"
    movers = changes.movers()
    if not movers:
        return f"{text}; nobody's rank changed"
    header = ("worker", "plain rank", "rank", "change", "plain grade", "grade")
    rows = [
        (m.worker, m.plain_rank, m.rank, f"{m.change:+d}", m.plain_grade, m.grade) for m in movers
    ]
    return f"{text}. Largest movers (all in remedies.csv):\n{text_table(header, rows)}"


def models_table(grading: Grading) -> str:
    """Return the models, highest score first."""
    rows = sorted(
        grading.results().model_scores(),
        key=lambda row: np.inf if row.score is None else -row.score,
    )
    header = ("rank", "model", "score", "low", "high", "percentile", "n", "answered")
    return text_table(
        header,
        [
            (r.rank, r.model, r.score, r.score_low, r.score_high, r.percentile, r.n, r.n_answered)
            for r in rows
        ],
    )
