"""Read stored results of a run as rows of the result files, with external ids."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict

from evaluation.core.messages.message import Message
from evaluation.grading.alarms.report import iterate_alarms
from evaluation.grading.alarms.run.detection import Alarm
from evaluation.grading.run.grade_changes import GradeChange, GradeChanges
from evaluation.grading.run.results import TOO_FEW, ModelRow, WorkerRow
from evaluation.grading.summary import read_summary
from evaluation.models import LLMScore, Run, WorkerGrade


def read_workers(run: Run) -> list[WorkerRow]:
    """Return a row of workers.csv for every worker, in the order of their first answer."""
    columns = WorkerRow._fields[1:]
    rows = WorkerGrade.objects.filter(run=run).order_by("pk")
    return [
        WorkerRow(name, *values)._replace(support="ok" if supported else TOO_FEW)
        for name, supported, *values in rows.values_list("worker__external_id", "support", *columns)
    ]


def read_models(run: Run) -> list[ModelRow]:
    """Return a row of models.csv for every model of a run."""
    rows = LLMScore.objects.filter(run=run).order_by("pk")
    return [ModelRow(*row) for row in rows.values_list("model__name", *ModelRow._fields[1:])]


def read_alarms(run: Run) -> list[Alarm]:
    """Return the alarms of a run, without their example answers."""
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


def read_gone_alarms(run: Run) -> list[Alarm]:
    """Return the alarms that vanished when workers were excluded, without their questions."""
    remedies = read_summary(run).remedies
    gone = () if remedies is None else remedies.gone
    names = _read_names(run, {worker for alarm in gone for worker in alarm.workers})
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


def read_changes(run: Run) -> GradeChanges | None:
    """Return how remedies changed grades (largest movers only); None without remedies."""
    remedies = read_summary(run).remedies
    if remedies is None:
        return None
    compared = remedies.compared_with_plain
    names = _read_names(run, [row.worker for row in compared.movers])
    movers = (
        GradeChange(**{**asdict(row), "worker": names.get(row.worker, "")})
        for row in compared.movers
    )
    return GradeChanges(tuple(movers), compared.spearman, compared.n, compared.reason)


def _read_names(run: Run, workers: Iterable[str]) -> dict[str, str]:
    """Return the external ids of some workers of a run by public id."""
    rows = run.worker_grades.filter(worker__public_id__in=list(workers))
    return {
        str(public): name
        for public, name in rows.values_list("worker__public_id", "worker__external_id")
    }
