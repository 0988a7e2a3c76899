"""The alarms of a run: looked for after its grading, and written with its results."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Any

from django.db import models

from evaluation.flow.alarm_crowd import crowd_for_alarms
from evaluation.flow.alarms import Alarms, Exhibit, GradedAnswers, alarms_of
from evaluation.flow.embed import Embedded
from evaluation.flow.grade import Graded, ModelColumns
from evaluation.flow.remedies import OutsideInformation
from evaluation.models import Alarm, LanguageModel
from evaluation.steps.checkpoints import Turn
from evaluation.steps.load import RunInput

BATCH = 2000


def alarms_of_source(source: RunInput, embedded: Embedded, graded: Graded, turn: Turn) -> Alarms:
    """Look for the alarms of a run; ids are primary keys."""
    spoken = None
    if source.llm_responses and embedded.models is not None:
        spoken = ModelColumns(
            source.models, source.model_questions, source.statuses, embedded.models
        )
    columns = GradedAnswers(
        source.texts, source.workers, source.questions, embedded.answers, spoken
    )
    outside = OutsideInformation(excluded=source.excluded, plain_vectors=embedded.plain)
    crowd, columns = crowd_for_alarms(source.parameters, graded, columns, outside)
    names = {
        model.pk: str(model) for model in LanguageModel.objects.in_bulk(source.models).values()
    }
    return alarms_of(source.parameters, crowd, columns, turn.report, names)


def save_alarms(source: RunInput, alarms: Alarms) -> None:
    """Replace the alarms of a run; call it within the transaction that writes its results."""
    Alarm.objects.filter(run=source.run).delete()
    saved = Alarm.objects.bulk_create(
        Alarm(
            run=source.run,
            place=place,
            kind=alarm.row.kind,
            severity=alarm.row.severity,
            statistic=alarm.row.statistic,
            threshold=alarm.row.threshold,
            message=alarm.row.message,
            evidence=[_evidence(source, exhibit) for exhibit in alarm.exhibits],
        )
        for place, alarm in enumerate(alarms.found)
    )
    about = [(one, alarm.row) for one, alarm in zip(saved, alarms.found, strict=True)]
    of_workers, of_questions = Alarm.workers.through, Alarm.questions.through
    _create(
        of_workers, (of_workers(alarm=a, worker_id=pk) for a, row in about for pk in row.workers)
    )
    _create(
        of_questions,
        (of_questions(alarm=a, question_id=pk) for a, row in about for pk in row.questions),
    )


def _evidence(source: RunInput, exhibit: Exhibit) -> dict[str, Any]:
    model = exhibit.model_row
    return {
        "question": exhibit.question,
        "left": source.responses[exhibit.left],
        "right": None if exhibit.right is None else source.responses[exhibit.right],
        "llm_response": None if model is None else source.llm_responses[model],
    }


def _create(model: type[models.Model], rows: Iterable[models.Model]) -> None:
    rows = iter(rows)
    while batch := list(islice(rows, BATCH)):
        model._default_manager.bulk_create(batch)
