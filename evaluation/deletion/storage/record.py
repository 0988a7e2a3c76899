"""Common functions of deletion, undo and erasure: records, audit entries, row batches."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from enum import Enum
from typing import Any, Protocol
from uuid import UUID

from django.db.models import Case, Exists, F, Model, OuterRef, Q, QuerySet, When
from django.db.models.functions import Least
from django.utils import timezone

from annotations.models import GRADED, AuditEntry, Response, Submission, Worker
from annotations.web.numbers import count_rows_by
from evaluation.deletion.storage.hanging import Hanging
from evaluation.models import Removal, Run, WorkerGrade, WorkerVerdict
from evaluation.models.runs import ACTIVE, GRADING
from evaluation.runs.background.notification import notify_on_commit
from evaluation.runs.run_types import list_run_kinds

BATCH = 2000
"""Rows of one transaction."""


class ForbiddenRemovalError(ValueError):
    """The object cannot be deleted or undone; `reasons` are sentences."""

    def __init__(self, reasons: tuple[str, ...]) -> None:
        super().__init__(" ".join(reasons))
        self.reasons = reasons


class Went(Enum):
    """Result of one deletion step: rows deleted, nothing left, or waiting for a run to end."""

    SOME = 1
    ALL = 2
    WAITS = 3


Parts = Sequence[tuple[str, QuerySet[Any, Any]]]


class Named(Protocol):
    """Protocol of objects with a public id."""

    pk: Any
    public_id: UUID


def known(kind: str, thing: Named) -> Removal | None:
    """Return the earlier request to delete or undo an object; None without one."""
    return Removal.objects.filter(kind=kind, target_id=thing.public_id).first()


def ask(
    kind: str,
    thing: Named,
    action: AuditEntry.Action,
    hanging: Hanging,
    *,
    name: str,
    owner_id: int,
    asked_by: int | None,
    pending: dict[str, Any] | None = None,
) -> Removal:
    """Store a request to delete, undo or erase an object; call it inside a transaction."""
    removal = Removal.objects.create(
        kind=kind,
        target=thing.pk,
        target_id=thing.public_id,
        name=name[:300],
        owner_id=owner_id,
        asked_by_id=asked_by,
        counts=hanging.counts,
        inputs=hanging.inputs,
        pending=pending or {},
        total=hanging.rows + 1,
    )
    enter(removal, action)
    notify_on_commit()
    return removal


def enter(removal: Removal, action: AuditEntry.Action) -> None:
    """Write an audit entry about a deletion."""
    AuditEntry.objects.create(
        owner_id=removal.owner_id,
        done_by_id=removal.asked_by_id,
        action=action,
        kind=removal.kind,
        object_id=removal.target_id,
        name=removal.name,
        counts=removal.counts,
        inputs=removal.inputs,
    )


def end(removal: Removal, action: AuditEntry.Action) -> bool:
    """Mark a deletion as finished; return False if another process already did."""
    ended = Removal.objects.filter(pk=removal.pk, finished_at=None)
    if not ended.update(finished_at=timezone.now(), done=F("total"), pending={}):
        return False
    enter(removal, action)
    return True


def take_some(removal: Removal, parts: Parts) -> bool:
    """Delete a batch of rows from the first non-empty part; return False if all are empty."""
    for _, rows in parts:
        keys = list(rows.order_by("pk").values_list("pk", flat=True)[:BATCH])
        if keys:
            _delete(rows.model, keys)
            left = F("done") + len(keys)
            Removal.objects.filter(pk=removal.pk).update(done=Least(left, F("total")))
            return True
    return False


def _delete(model: type[Model], keys: list[int]) -> None:
    # The base manager also deletes rows that are otherwise only added.
    rows = model._base_manager.filter(pk__in=keys)
    workers: set[int] = set()
    if model is Submission:
        workers = set(rows.values_list("worker", flat=True))
    rows.delete()
    if workers:
        # Who stands in a run, or is not to be let in again, stays under their id.
        Worker.objects.filter(
            ~Exists(WorkerGrade.objects.filter(worker=OuterRef("pk"))),
            ~Exists(WorkerVerdict.objects.filter(worker=OuterRef("pk"))),
            pk__in=workers,
            submissions=None,
            notes=None,
            erased_at=None,
        ).delete()


def works_on(versions: Sequence[int] | QuerySet[Any, Any]) -> bool:
    """Return whether a queued or running run uses any of these versions."""
    return Run.objects.filter(version__in=versions, state__in=ACTIVE).exists()


def runs_made_of(of_response: Q, versions: Sequence[int], since: datetime) -> dict[int, int]:
    """Return by finished run the number of certain answers it used.

    `of_response` tells the answers as seen from a `Response`, `since` when the first of them came.
    Gradings know their answers one by one; other kinds read all that there were. One query.
    """
    reading = [name for name, kind in list_run_kinds().items() if kind.reads_people]
    runs = Run.objects.filter(
        version__in=versions, state=Run.State.DONE, kind__in=reading, started_at__gte=since
    )
    answers = Response.objects.filter(
        of_response, state="submitted", status="text", question__role__in=GRADED
    )
    graded = answers.filter(scores__run=OuterRef("pk"))
    there = answers.filter(
        Q(submission__submitted_at__isnull=True)
        | Q(submission__submitted_at__lte=OuterRef("started_at")),
        submission__version=OuterRef("version"),
        created_at__lte=OuterRef("started_at"),
        rejected=False,
    )
    made_of = Case(
        When(kind=GRADING, then=count_rows_by(graded, "scores__run")),
        default=count_rows_by(there, "submission__version"),
    )
    rows = runs.annotate(made_of=made_of).order_by("pk").values_list("pk", "made_of")
    return {run: n for run, n in rows if n}


def note_withdrawn(n_of: dict[str, int]) -> None:
    """Store in runs how many of their answers were deleted; keys are run ids as JSON strings."""
    for key, n in n_of.items():
        Run.objects.filter(pk=int(key)).update(n_withdrawn=F("n_withdrawn") + n)
