"""A finished run as text: the workers' and the models' tables, for a terminal."""

from __future__ import annotations

from evaluation.files.alarm_text import alarms_text
from evaluation.flow.alarms import Alarm
from evaluation.flow.aqer_summary import summary_of
from evaluation.models import LLMScore, Run, WorkerGrade
from evaluation.words import terminal
from evaluation.words.console import text_table
from evaluation.words.message import Message

# Workers shown; the pages and the files hold all of them.
SHOWN = 40


def workers_table(run: Run) -> str:
    """Return the workers by rank, best first, at most 40."""
    grades = WorkerGrade.objects.filter(run=run).select_related("worker")
    rows = [
        (g.rank, g.worker.external_id, g.grade, g.grade_low, g.grade_high, g.raw, g.n_answers)
        for g in sorted(grades, key=lambda g: (g.rank is None, g.rank or 0, -(g.grade or 0.0)))
    ]
    table = text_table(("rank", "worker", "grade", "low", "high", "raw", "answers"), rows[:SHOWN])
    more = len(rows) - SHOWN
    return table if more <= 0 else f"{table}\n... and {more} more workers"


def models_table(run: Run) -> str:
    """Return the models, highest score first; an empty text without models."""
    scores = list(LLMScore.objects.filter(run=run).select_related("model"))
    if not scores:
        return ""
    scores.sort(key=lambda s: -1.0 if s.score is None else s.score, reverse=True)
    rows = [
        (s.rank, s.model.name, s.score, s.score_low, s.score_high, s.percentile, s.n)
        for s in scores
    ]
    return text_table(("rank", "model", "score", "low", "high", "percentile", "n"), rows)


def alarm_rows(run: Run) -> list[Alarm]:
    """Return the alarms of a run with the names of workers and questions."""
    return [
        Alarm(
            kind=alarm.kind,
            severity=alarm.severity,
            statistic=alarm.statistic,
            threshold=alarm.threshold,
            workers=tuple(worker.external_id for worker in alarm.workers.all()),
            questions=tuple(question.external_id for question in alarm.questions.all()),
            message=Message.of(alarm.message),
        )
        for alarm in run.alarms.prefetch_related("workers", "questions")
    ]


def report(run: Run) -> str:
    """Return both tables, the human ceiling, the alarms and the warnings."""
    parts = [workers_table(run), models_table(run)]
    ceiling = summary_of(run).ceiling
    if ceiling.score is not None:
        text = f"Human ceiling: {ceiling.score:.3f}"
        if ceiling.low is not None:
            text += f" (95% interval {ceiling.low:.3f} to {ceiling.high:.3f})"
        parts.append(text)
    parts.append(alarms_text(alarm_rows(run), "on the page of the run"))
    parts.append("\n".join(f"Warning: {said}" for said in terminal.all_said(run.warnings)))
    return "\n\n".join(part for part in parts if part)
