"""Undo the join of a demographic export: the values stored before come back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.db import transaction
from django.db.models import F, QuerySet
from django.db.models.functions import Least
from django.utils import timezone

from annotations.models import AuditEntry, Import, JoinedFacts, QuestionSet, Response
from evaluation.deletion.storage import record
from evaluation.deletion.storage.record import (
    DependentRows,
    Note,
    StepResult,
    finish_removal,
    is_in_use,
)
from evaluation.models import Removal

FACTS = "facts of workers, by answer"
"""Label of the rows in `counts`."""


def find_join_dependents(brought: Import) -> DependentRows:
    """Return what undoing a join of demographic facts removes, restores and keeps."""
    counts: Counter[str] = Counter()
    rows = _select_joined_facts(brought)
    for batch in _split_into_batches(rows):
        later = _load_later_joins(batch)
        for row in batch:
            counts["rows"] += 1
            counts.update(_count_restored_columns(row, later.get(row.response_id, ())))
            if row.flagged and not any(facts.rejects for facts in later.get(row.response_id, ())):
                counts["flags"] += 1
    notes = []
    if brought.version_id and is_in_use([brought.version_id]):
        notes.append(Note("import_in_use"))
    notes += [
        Note(code, n=counts[name])
        for name, code in (
            ("returned", "facts_return"),
            ("changed", "facts_changed"),
            ("flags", "flags_return"),
        )
        if counts[name]
    ]
    notes.append(Note("answers_stay"))
    return DependentRows({FACTS: counts["rows"]}, [brought.sha256], notes=tuple(notes))


def undo_join_batch(removal: Removal, brought: Import) -> StepResult:
    """Remove a join's facts from a batch of answers; return SOME, or ALL once none are left."""
    with transaction.atomic():
        # Further joins wait for the batch, or happened before it.
        QuestionSet.objects.select_for_update(no_key=True).get(pk=brought.question_set_id)
        rows = list(_select_joined_facts(brought)[: record.BATCH])
        if rows:
            later = _load_later_joins(rows)
            for row in rows:
                _restore_values(row, later.get(row.response_id, ()))
            Response.objects.bulk_update([row.response for row in rows], ["extra"])
            _remove_flags(rows, later)
            JoinedFacts.objects.filter(pk__in=[row.pk for row in rows]).delete()
            Removal.objects.filter(pk=removal.pk).update(
                done=Least(F("done") + len(rows), F("total"))
            )
            return StepResult.SOME
        Import.objects.filter(pk=brought.pk).update(undone_at=timezone.now())
        finish_removal(removal, AuditEntry.Action.UNDONE)
    return StepResult.ALL


def _select_joined_facts(brought: Import) -> QuerySet[JoinedFacts, JoinedFacts]:
    """Return the queryset of a join's facts with their answers, in the order of storing."""
    rows = JoinedFacts.objects.filter(brought_by=brought).select_related("response")
    return rows.only(
        *("response", "stored", "before", "rejects", "flagged", "response__extra"),
    ).order_by("pk")


def _split_into_batches(rows: QuerySet[JoinedFacts, JoinedFacts]) -> Iterable[list[JoinedFacts]]:
    """Yield the joined facts in lists of at most `record.BATCH` rows."""
    after = 0
    while batch := list(rows.filter(pk__gt=after)[: record.BATCH]):
        yield batch
        after = batch[-1].pk


def _load_later_joins(rows: Sequence[JoinedFacts]) -> dict[int, list[JoinedFacts]]:
    """Return the facts that later joins stored for the same answers, by answer, earliest first."""
    found: dict[int, list[JoinedFacts]] = {}
    first = min(row.pk for row in rows)
    own = rows[0].brought_by_id
    later = JoinedFacts.objects.filter(pk__gt=first).exclude(brought_by=own)
    for facts in later.filter(response__in=[row.response_id for row in rows]).order_by("pk"):
        found.setdefault(facts.response_id, []).append(facts)
    return found


def _count_restored_columns(row: JoinedFacts, later: Sequence[JoinedFacts]) -> Mapping[str, int]:
    """Return the numbers of columns that get an earlier value ("returned") or stay ("changed")."""
    counts: Counter[str] = Counter()
    extra = row.response.extra
    for name, cell in row.stored.items():
        if _find_next_join(name, later) is not None or extra.get(name) != cell:
            counts["changed"] += 1
        elif row.before.get(name, cell) != cell:
            counts["returned"] += 1
    return counts


def _find_next_join(name: str, later: Sequence[JoinedFacts]) -> JoinedFacts | None:
    """Return the first later join that stored a value of this column; None without one."""
    return next((facts for facts in later if name in facts.stored), None)


def _restore_values(row: JoinedFacts, later: Sequence[JoinedFacts]) -> None:
    """Restore an answer's values from before the join, unsaved; the caller saves the answer.

    A value that a later join replaced stays; that join's record of the replaced value is updated.
    """
    extra: dict[str, Any] = row.response.extra
    changed: dict[int, JoinedFacts] = {}
    for name, cell in row.stored.items():
        follower = _find_next_join(name, later)
        holder = extra if follower is None else follower.before
        if holder.get(name) != cell:
            continue  # Changed since by another way: that value stays.
        if name in row.before:
            holder[name] = row.before[name]
        else:
            holder.pop(name)
        if follower is not None:
            changed[follower.pk] = follower
    JoinedFacts.objects.bulk_update(changed.values(), ["before"])


def _remove_flags(rows: Sequence[JoinedFacts], later: Mapping[int, list[JoinedFacts]]) -> None:
    """Unset `rejected` of answers that were rejected by these joined facts and by no later ones."""
    free = []
    for row in rows:
        if not row.flagged:
            continue
        follower = next((facts for facts in later.get(row.response_id, ()) if facts.rejects), None)
        if follower is None:
            free.append(row.response_id)
        else:
            JoinedFacts.objects.filter(pk=follower.pk).update(flagged=True)
    Response.objects.filter(pk__in=free).update(rejected=False, updated_at=timezone.now())
