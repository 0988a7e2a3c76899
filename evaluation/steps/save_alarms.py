"""The alarms of a run, written with its results."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Any

from django.db import models

from evaluation.flow.alarms import SideBySide
from evaluation.flow.grading import Grading
from evaluation.models import Alarm

BATCH = 2000


def save_alarms(run: int, grading: Grading) -> None:
    """Replace the alarms of a run; call it within the transaction that writes its results."""
    Alarm.objects.filter(run=run).delete()
    found = grading.alarms.found
    saved = Alarm.objects.bulk_create(
        Alarm(
            run_id=run,
            place=place,
            kind=alarm.kind,
            severity=alarm.severity,
            statistic=alarm.statistic,
            threshold=alarm.threshold,
            message=alarm.message.as_dict(),
            evidence=[_evidence(grading, exhibit) for exhibit in alarm.exhibits],
        )
        for place, alarm in enumerate(found)
    )
    about = list(zip(saved, found, strict=True))
    of_workers, of_questions = Alarm.workers.through, Alarm.questions.through
    _create(
        of_workers,
        (of_workers(alarm=a, worker_id=pk) for a, alarm in about for pk in alarm.workers),
    )
    _create(
        of_questions,
        (of_questions(alarm=a, question_id=pk) for a, alarm in about for pk in alarm.questions),
    )


def _evidence(grading: Grading, exhibit: SideBySide) -> dict[str, Any]:
    keys, models, row = grading.given.answered.keys, grading.given.models, exhibit.model_row
    return {
        "question": exhibit.question,
        "left": keys[exhibit.left],
        "right": None if exhibit.right is None else keys[exhibit.right],
        "llm_response": None if row is None or models is None else models.keys[row],
    }


def _create(model: type[models.Model], rows: Iterable[models.Model]) -> None:
    rows = iter(rows)
    while batch := list(islice(rows, BATCH)):
        model._default_manager.bulk_create(batch)
