"""Build the database rows that lists of runs show."""

from __future__ import annotations

from typing import Any

from django.db.models import Count, Exists, IntegerField, OuterRef, QuerySet, Subquery
from django.db.models.fields.json import KT
from django.db.models.functions import Coalesce

from evaluation.models import Alarm, AuditItem, HumanJudgement, Run, RunOfRecord
from evaluation.models.alarms import SETTLED

# What a list does not show, and would be long.
LONG = ("summary", "reasons", "warnings", "signature", "notes")


def select_list_rows(rows: QuerySet[Run]) -> QuerySet[Run]:
    """Return runs for a list: without long fields, with embedder, alarm and audit counts.

    `is_of_record` marks an official run. `n_drawn` counts the answers that experts are to grade,
    `n_judged` those that one graded.
    """
    return rows.defer(*LONG).annotate(
        embedder=KT("parameters__embedder"),
        is_of_record=Exists(RunOfRecord.objects.filter(run=OuterRef("pk"))),
        n_alarms=count_alarms(OuterRef("pk")),
        n_drawn=_count_drawn(AuditItem.objects.all()),
        n_judged=_count_drawn(
            AuditItem.objects.filter(
                Exists(HumanJudgement.objects.filter(response=OuterRef("response")))
                | Exists(HumanJudgement.objects.filter(llm_response=OuterRef("llm_response")))
            )
        ),
    )


def _count_drawn(items: QuerySet[AuditItem]) -> Coalesce:
    """Return the database expression for the number of these answers in a run's sample."""
    # A subquery for each count: joins would multiply the rows and need DISTINCT.
    mine = items.filter(audit__run=OuterRef("pk")).order_by().values("audit")
    counted = mine.annotate(n=Count("pk")).values("n")
    return Coalesce(Subquery(counted, output_field=IntegerField()), 0)


def filter_unarchived(rows: QuerySet[Run]) -> QuerySet[Run]:
    """Return the runs that are not archived and whose question set is not archived."""
    return rows.filter(archived_at=None, version__question_set__archived_at=None)


def count_alarms(run: Any) -> Coalesce:
    """Return the database expression for a run's number of unresolved alarms."""
    ringing = Alarm.objects.filter(run=run, severity=Alarm.Severity.ALARM).order_by()
    ringing = ringing.exclude(SETTLED)
    counted = ringing.values("run").annotate(n=Count("pk")).values("n")
    return Coalesce(Subquery(counted, output_field=IntegerField()), 0)
