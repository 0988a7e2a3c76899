"""Undo an import of questions or passages into a draft, except for changed items."""

from __future__ import annotations

from typing import Any, Final

from django.db import transaction
from django.db.models import Exists, F, OuterRef, QuerySet
from django.db.models.functions import Least
from django.utils import timezone

from annotations.exchange.importing.import_records import RELATED_ROWS, hash_item
from annotations.models import (
    Assignment,
    AuditEntry,
    Import,
    Passage,
    Question,
    QuestionSet,
    QuestionSetVersion,
    Response,
    Translation,
    Variant,
)
from evaluation.deletion.storage import record
from evaluation.deletion.storage.hanging import Hanging
from evaluation.deletion.storage.notes import Note
from evaluation.deletion.storage.record import Went, end, works_on
from evaluation.models import ExemplaryAnswer, LLMResponse, Removal

ITEMS: Final[dict[str, type[Passage] | type[Question]]] = {
    Import.What.QUESTIONS: Question,
    Import.What.PASSAGES: Passage,
}
"""What is made of such files."""


def hanging(brought: Import) -> Hanging:
    """Return what would be deleted with an import of items, what stays, and what prevents it."""
    noun = brought.get_what_display()
    version = brought.version
    if version is not None and version.is_published:
        reason = Note("published", number=version.number, noun=noun)
        return Hanging({}, [brought.sha256], (reason,))
    rows = _items(brought)
    left, bound = rows.count(), rows.exclude(pk__in=_free(brought).values("pk")).count()
    going = [
        item.pk
        for item in _free(brought).prefetch_related(*_beside(brought)).iterator(record.BATCH)
        if hash_item(item) == item.brought_as
    ]
    n_changed = left - bound - len(going)
    notes = _notes(brought, left=left, bound=bound, changed=n_changed)
    if not going:
        why = "".join(f" {note}" for note in notes)
        return Hanging({}, [brought.sha256], (Note("none_can_go", noun=noun, why=why),))
    counts = {noun: len(going)}
    for name, rows in _hanging(brought).items():
        if n := sum(rows.filter(**{_key(brought): some}).count() for some in _chunks(going)):
            counts[name] = n
    if works_on([brought.version_id] if brought.version_id else []):
        notes.append(Note("draft_in_use"))
    notes.append(Note("draft_stays"))
    return Hanging(counts, [brought.sha256], notes=tuple(notes))


def step(removal: Removal, brought: Import) -> Went:
    """Delete a batch of items by key; keep those changed or used meanwhile."""
    with transaction.atomic():
        # Who edits or publishes waits for the batch, or was before it.
        QuestionSet.objects.select_for_update(no_key=True).get(pk=brought.question_set_id)
        versions = QuestionSetVersion.objects.select_for_update(no_key=True, of=("self",))
        version = versions.filter(imports=brought).first()
        if version is not None and version.is_published:
            # Published since it was asked for: asked for again, that is told.
            removal.delete()
            return Went.ALL
        after = removal.pending.get("after", 0)
        rows = _items(brought).filter(pk__gt=after).order_by("pk")
        keys = list(rows.values_list("pk", flat=True)[: record.BATCH])
        if keys:
            _take(removal, brought, keys)
            return Went.SOME
        Import.objects.filter(pk=brought.pk).update(undone_at=timezone.now())
        end(removal, AuditEntry.Action.UNDONE)
    return Went.ALL


def _take(removal: Removal, brought: Import, keys: list[int]) -> None:
    found = _free(brought).filter(pk__in=keys).prefetch_related(*_beside(brought))
    going = [item for item in found if hash_item(item) == item.brought_as]
    ITEMS[brought.what]._default_manager.filter(pk__in=[item.pk for item in going]).delete()
    n = len(going) + sum(
        len(getattr(item, name).all()) for item in going for name in _beside(brought)
    )
    removal.pending = {"after": keys[-1]}
    removal.save(update_fields=["pending"])
    Removal.objects.filter(pk=removal.pk).update(done=Least(F("done") + n, F("total")))


def _items(brought: Import) -> QuerySet[Any, Any]:
    """Select the remaining items of the import in its version, not their copies."""
    rows: QuerySet[Any, Any] = ITEMS[brought.what]._default_manager.filter(
        brought_by=brought, version=brought.version_id
    )
    return rows


def _free(brought: Import) -> QuerySet[Any, Any]:
    """Select the import's items on which no other data depends."""
    if brought.what == Import.What.PASSAGES:
        return _items(brought).filter(questions=None, readings=None)
    asked = {"question": OuterRef("pk")}
    return _items(brought).filter(
        ~Exists(Response.objects.filter(**asked)),
        ~Exists(LLMResponse.objects.filter(**asked)),
        ~Exists(ExemplaryAnswer.objects.filter(**asked)),
        ~Exists(Assignment.objects.filter(**asked)),
        written=None,
    )


def _beside(brought: Import) -> tuple[str, ...]:
    return RELATED_ROWS[ITEMS[brought.what]]


def _hanging(brought: Import) -> dict[str, QuerySet[Any, Any]]:
    found: dict[str, QuerySet[Any, Any]] = {"translations": Translation.objects.all()}
    if brought.what == Import.What.QUESTIONS:
        found["other wordings"] = Variant.objects.all()
    return found


def _key(brought: Import) -> str:
    return "passage__in" if brought.what == Import.What.PASSAGES else "question__in"


def _chunks(keys: list[int]) -> list[list[int]]:
    return [keys[first : first + record.BATCH] for first in range(0, len(keys), record.BATCH)]


def _notes(brought: Import, *, left: int, bound: int, changed: int) -> list[Note]:
    noun, notes = brought.get_what_display(), []
    made = brought.n_passages if brought.what == Import.What.PASSAGES else brought.n_questions
    if changed:
        notes.append(Note("changed", n=changed, noun=noun))
    if bound and brought.what == Import.What.PASSAGES:
        notes.append(Note("passages_needed", n=bound))
    elif bound:
        notes.append(Note("questions_answered", n=bound))
    if made > left:
        notes.append(Note("deleted_before", n=made - left, noun=noun))
    if completed := brought.n_new - made:
        notes.append(Note("texts_stay", n=completed, noun=noun))
    return notes
