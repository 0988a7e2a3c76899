"""Runs as lists show them."""

from __future__ import annotations

from typing import Any

from django.db.models import Count, IntegerField, OuterRef, QuerySet, Subquery
from django.db.models.fields.json import KT
from django.db.models.functions import Coalesce

from evaluation.models import Alarm, Run

# What a list does not show, and would be long.
LONG = ("summary", "reasons", "warnings", "signature", "parameters")


def in_short(rows: QuerySet[Run]) -> QuerySet[Run]:
    """Return runs as a list shows them: without what is long, with embedder and alarms."""
    return rows.defer(*LONG).annotate(
        embedder=KT("parameters__embedder"), n_alarms=alarms_of(OuterRef("pk"))
    )


def alarms_of(run: Any) -> Coalesce:
    """Return the expression for how many alarms ring in a run."""
    ringing = Alarm.objects.filter(run=run, severity=Alarm.Severity.ALARM).order_by()
    ringing = ringing.exclude(state=Alarm.State.DISMISSED)
    counted = ringing.values("run").annotate(n=Count("pk")).values("n")
    return Coalesce(Subquery(counted, output_field=IntegerField()), 0)
