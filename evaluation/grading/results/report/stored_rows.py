"""Results of a run as the rows of a grading, with the names that people gave for ids."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict

from evaluation.grading.alarms.report import iterate_alarms
from evaluation.grading.alarms.run.detection import Alarm
from evaluation.grading.run.grade_changes import GradeChange, GradeChanges
from evaluation.grading.run.results import TOO_FEW, ModelRow, WorkerRow
from evaluation.grading.summary import summary_of
from evaluation.models import LLMScore, Run, WorkerGrade
from evaluation.words.message import Message


def stored_workers(run: Run) -> list[WorkerRow]:
    """Return a row for every worker, in the order of their first answer."""
    columns = WorkerRow._fields[1:]
    rows = WorkerGrade.objects.filter(run=run).order_by("pk")
    return [
        WorkerRow(name, *values)._replace(support="ok" if supported else TOO_FEW)
        for name, supported, *values in rows.values_list("worker__external_id", "support", *columns)
    ]


def stored_models(run: Run) -> list[ModelRow]:
    """Return a row for every model."""
    rows = LLMScore.objects.filter(run=run).order_by("pk")
    return [ModelRow(*row) for row in rows.values_list("model__name", *ModelRow._fields[1:])]


def stored_alarms(run: Run) -> list[Alarm]:
    """Return the alarms, without the answers that show them."""
    return [
        Alarm(
            kind=alarm.kind,
            severity=alarm.severity,
            statistic=alarm.statistic,
            threshold=alarm.threshold,
            workers=tuple(workers),
            questions=tuple(questions),
            message=alarm.message,
            outcome=alarm.outcome,
            reviewed=alarm.state,
        )
        for alarm, workers, questions in iterate_alarms(run)
    ]


def stored_gone(run: Run) -> list[Alarm]:
    """Return the alarms that rang before workers were excluded, without their questions."""
    remedies = summary_of(run).remedies
    gone = () if remedies is None else remedies.gone
    names = _names(run, {worker for alarm in gone for worker in alarm.workers})
    return [
        Alarm(
            kind=alarm.kind,
            severity=alarm.severity,
            statistic=alarm.statistic,
            threshold=alarm.threshold,
            workers=tuple(names[worker] for worker in alarm.workers if worker in names),
            questions=(),
            message=Message.of(alarm.message),
            outcome=Message.of(alarm.outcome),
        )
        for alarm in gone
    ]


def stored_changes(run: Run) -> GradeChanges | None:
    """Return what remedies changed, of the workers only those who moved most; None without any."""
    remedies = summary_of(run).remedies
    if remedies is None:
        return None
    found = remedies.compared_with_plain
    names = _names(run, [row.worker for row in found.movers])
    movers = (
        GradeChange(**{**asdict(row), "worker": names.get(row.worker, "")}) for row in found.movers
    )
    return GradeChanges(tuple(movers), found.spearman, found.n, found.reason)


def _names(run: Run, workers: Iterable[str]) -> dict[str, str]:
    """Return the names of some workers of a run by their public ids."""
    rows = run.worker_grades.filter(worker__public_id__in=list(workers))
    return {
        str(public): name
        for public, name in rows.values_list("worker__public_id", "worker__external_id")
    }
