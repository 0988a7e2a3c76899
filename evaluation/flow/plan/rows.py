"""A plan as rows, the same in files and in downloads."""

from __future__ import annotations

from collections.abc import Iterator

from evaluation.flow.plan.plan import Planned

QUESTIONS_HEADER = (
    *("question", "answers", "more_answers", "needed", "cost", "off_now", "off_then", "standing"),
)
WORKERS_HEADER = ("worker", "questions", "more_questions", "width_now", "width_then")


def question_rows(found: Planned) -> Iterator[tuple[object, ...]]:
    """Yield what is wanted of each question, those that want most first."""
    for row in found.questions:
        yield (
            *(row.name, row.answers, row.more, row.needed, row.cost, row.off, row.off_then),
            str(row.standing),
        )


def worker_rows(found: Planned) -> Iterator[tuple[object, ...]]:
    """Yield how many further questions each worker's interval needs, the widest first."""
    for row in found.workers:
        yield (row.name, row.questions, row.more, row.width, row.width_then)
