"""Delete and archive sets, runs and language models.

Delete a language model with its answers; runs keep the results of other models.

A request for a deletion is one short transaction, which hides the object and stores the user.
Background processes then delete its rows in batches, each a transaction of its own, so that SQLite
is never locked for longer than one batch. An audit entry records the end.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from django.conf import settings
from django.db import transaction
from django.db.models import Count, Model, Q, QuerySet
from django.utils import timezone
from django.utils.module_loading import import_string

from annotations.models import AuditEntry, ExportRead, QuestionSet, SignInEvent
from evaluation.core.messages.message import format_count as number_of
from evaluation.deletion.storage import erasing, undoing
from evaluation.deletion.storage.record import (
    DependentRows,
    ForbiddenRemovalError,
    Note,
    Parts,
    StepResult,
    add_withdrawn_counts,
    count_rows,
    delete_batch,
    find_request,
    find_run_dependents,
    find_set_dependents,
    finish_removal,
    is_in_use,
    list_rows_of_run,
    list_rows_of_set,
    store_request,
)
from evaluation.models import (
    AnswerFact,
    AuditItem,
    Event,
    HumanJudgement,
    JudgementRequest,
    LanguageModel,
    LanguageModelNote,
    LLMAnswerScore,
    LLMComparison,
    LLMResponse,
    LLMScore,
    RawReply,
    Removal,
    Run,
)
from evaluation.models.collecting import IMPORT
from evaluation.models.runs import UNFINISHED
from evaluation.runs.background import runs as lifecycle
from evaluation.runs.background.work import FOLLOW_SCORES

MODEL = "language_model"
SCORES = "scores in runs"


def find_model_dependents(model: LanguageModel) -> DependentRows:
    """Return the numbers of rows deleted with a model, and obstacles in other users' sets."""
    answers = LLMResponse.objects.filter(model=model).order_by()
    in_set = "question__version__question_set"
    own = QuestionSet.objects.editable_by(model.owner).values("pk")
    n_sets, others = answers.aggregate(
        all=Count(in_set, distinct=True),
        others=Count(in_set, distinct=True, filter=~Q(**{f"{in_set}__in": own})),
    ).values()
    counts = count_rows(_list_rows_of_model(model.pk))
    obstacles = []
    if others:
        obstacles.append(Note("other_owners", n=others, sets=number_of(others, "question set")))
    notes = []
    if n := n_sets:
        notes.append(Note("answers_in_sets", n=n, sets=number_of(n, "question set")))
    if n := counts.get(SCORES, 0):
        notes.append(Note("runs_scored", n=n, lose="loses" if n == 1 else "lose"))
    notes.append(Note("files_name_it"))
    if _is_used_by_unfinished_run(model.pk, str(model.public_id)):
        notes.append(Note("model_in_use"))
    scored_in = Run.objects.filter(llm_scores__model=model).exclude(input_hash="")
    inputs = sorted(set(scored_in.values_list("input_hash", flat=True)))
    return DependentRows(counts, inputs, tuple(obstacles), tuple(notes))


def delete_model_batch(removal: Removal) -> StepResult:
    """Delete a batch of a model's rows; WAITS while a run uses the model or its answers."""
    if _is_used_by_unfinished_run(removal.target, str(removal.target_id)):
        return StepResult.WAITS
    with transaction.atomic():
        if "runs" not in removal.pending:
            # Before the first batch: afterwards the scores that tell the runs are gone.
            removal.pending = {"runs": _count_answers_by_run(removal.target)}
            removal.save(update_fields=["pending"])
        if delete_batch(removal, _list_rows_of_model(removal.target)):
            return StepResult.SOME
        LanguageModel.objects.filter(pk=removal.target).delete()
        if finish_removal(removal, AuditEntry.Action.DELETED):
            add_withdrawn_counts(removal.pending["runs"])
    return StepResult.ALL


def _count_answers_by_run(model: int) -> dict[str, int]:
    """Return the number of a model's answers that each finished run used, by run key as text."""
    scored = LLMAnswerScore.objects.filter(llm_response__model=model).order_by().values("run")
    return {str(run): n for run, n in scored.annotate(n=Count("pk")).values_list("run", "n")}


def _is_used_by_unfinished_run(model: int, public_id: str) -> bool:
    """Return whether an unfinished run uses the model's answers or names it in its options."""
    answered = LLMResponse.objects.filter(model=model).order_by()
    if is_in_use(answered.values("question__version")):
        return True
    waiting = Run.objects.filter(state__in=UNFINISHED).values_list("parameters", flat=True)
    # Each run type names its models in options of its own, so the whole text is searched.
    return any(public_id in str(parameters) for parameters in waiting.iterator())


def _list_rows_of_model(model: int) -> Parts:
    """Return the rows that are deleted with a model, by label, in a valid order of deletion."""
    lookup = {"llm_response__model": model}
    return [
        ("judgements", HumanJudgement.objects.filter(**lookup)),
        ("requests to judge", JudgementRequest.objects.filter(**lookup)),
        ("answers in samples for experts", AuditItem.objects.filter(**lookup)),
        ("scores of answers", LLMAnswerScore.objects.filter(**lookup)),
        ("facts of answers", AnswerFact.objects.filter(**lookup)),
        ("raw replies", RawReply.objects.filter(response__model=model)),
        ("answers", LLMResponse.objects.filter(model=model)),
        ("comparisons in runs", LLMComparison.objects.filter(Q(model_a=model) | Q(model_b=model))),
        (SCORES, LLMScore.objects.filter(model=model)),
        ("notes", LanguageModelNote.objects.filter(model=model)),
    ]


logger = logging.getLogger(__name__)

QUESTION_SET, RUN = "question_set", "run"
Thing = QuestionSet | Run | LanguageModel


def find_dependents(thing: Thing) -> DependentRows:
    """Return the numbers of rows that would be deleted with a set, run or model, and obstacles."""
    if isinstance(thing, LanguageModel):
        return find_model_dependents(thing)
    return find_run_dependents(thing) if isinstance(thing, Run) else find_set_dependents(thing)


@transaction.atomic
def archive_object(thing: Thing, user_id: int) -> bool:
    """Archive a set, run or model; return False if it was archived before."""
    return _set_archived(thing, user_id, AuditEntry.Action.ARCHIVE)


@transaction.atomic
def restore_object(thing: Thing, user_id: int) -> bool:
    """Restore an archived set, run or model; return False if not archived, or being deleted."""
    if is_being_deleted(thing):
        return False
    return _set_archived(thing, user_id, AuditEntry.Action.RESTORE)


def is_being_deleted(thing: Thing) -> bool:
    """Return whether the deletion of a set, run or model has been requested."""
    return find_request(_get_kind(thing), thing) is not None


@transaction.atomic
def request_deletion(thing: Thing, user_id: int) -> Removal:
    """Archive a set, run or model and store the request to delete it in the background.

    A repeated request returns the first one. Raises `ForbiddenRemovalError` if rows that must be
    kept refer to the object.
    """
    kind = _get_kind(thing)
    # Of several requests at once the others wait here, and find the first one's removal.
    rows = type(thing)._default_manager.select_for_update(of=("self",))
    list(rows.filter(pk=thing.pk).values_list("pk"))
    if (before := find_request(kind, thing)) is not None:
        return before
    hanging = find_dependents(thing)
    if not hanging.can_go:
        raise ForbiddenRemovalError(hanging.obstacles)
    # Archived objects are hidden from the lists, so it is gone for users at once.
    type(thing)._default_manager.filter(pk=thing.pk).update(archived_at=timezone.now())
    for run in _select_runs(thing):
        lifecycle.cancel_run(run)  # its background process finds its claim gone
    return store_request(
        kind,
        thing,
        AuditEntry.Action.DELETE,
        hanging,
        name=get_display_name(thing),
        owner_id=_get_owner_id(thing),
        asked_by=user_id,
    )


def work_on_oldest_deletion(
    seconds: float = 10.0, clock: Callable[[], float] = time.monotonic
) -> bool:
    """Work on the oldest deletion for some seconds; return False if there was none.

    Deletions that wait for a run or fail are skipped, and failures are logged.
    """
    until = clock() + seconds
    for removal in Removal.objects.filter(finished_at=None).order_by("pk"):
        step = STEPS.get(removal.kind, _delete_batch)
        try:
            went = step(removal)
            if went == StepResult.WAITS:
                continue
            while went == StepResult.SOME and clock() < until:
                went = step(removal)
        except Exception:
            # It is tried again at the next turn; the others and all runs go on.
            logger.exception("removal %s of %s failed", removal.pk, removal.kind)
            continue
        return True
    return False


def _delete_batch(removal: Removal) -> StepResult:
    """Delete a batch of a set's or run's rows, and at the end the set or run itself."""
    is_run = removal.kind == RUN
    parts = list_rows_of_run([removal.target]) if is_run else list_rows_of_set(removal.target)
    with transaction.atomic():
        if delete_batch(removal, parts):
            return StepResult.SOME
        model: type[Model] = Run if is_run else QuestionSet
        # A loop, because another process may have deleted the row in the meantime.
        for row in model._default_manager.filter(pk=removal.target):
            row.delete()
            if isinstance(row, Run):
                update_admissions(row.version.question_set_id)
        finish_removal(removal, AuditEntry.Action.DELETED)
    return StepResult.ALL


STEPS: dict[str, Callable[[Removal], StepResult]] = {
    IMPORT: undoing.undo_batch,
    MODEL: delete_model_batch,
    erasing.WORKER: erasing.erase_batch,
    erasing.SUBMISSION: erasing.erase_batch,
}
"""Deletion step by kind, except for sets and runs; each call is one transaction."""


def _set_archived(thing: Thing, user_id: int, action: AuditEntry.Action) -> bool:
    """Archive or restore an object with an audit entry; return False if nothing changed."""
    hides = action == AuditEntry.Action.ARCHIVE
    rows = type(thing)._default_manager.filter(pk=thing.pk, archived_at__isnull=hides)
    # A conditional update: of two requests only one writes an audit entry.
    if not rows.update(archived_at=timezone.now() if hides else None):
        return False
    thing.refresh_from_db(fields=["archived_at"])
    if isinstance(thing, Run):
        update_admissions(thing.version.question_set_id)
    AuditEntry.objects.create(
        owner_id=_get_owner_id(thing),
        done_by_id=user_id,
        action=action,
        kind=_get_kind(thing),
        object_id=thing.public_id,
        name=get_display_name(thing),
    )
    return True


def get_display_name(thing: Thing) -> str:
    """Return the name of a set, run or model for display; an unnamed run's is its start time."""
    if not isinstance(thing, Run):
        return thing.name
    label = thing.name or f"run of {thing.created_at:%-d %B %Y, %H:%M} UTC"
    return f"{thing.version.question_set.name}: {label}"[:300]


def _get_kind(thing: Thing) -> str:
    """Return the value of `Removal.kind` for a set, run or model."""
    if isinstance(thing, LanguageModel):
        return MODEL
    return RUN if isinstance(thing, Run) else QUESTION_SET


def _get_owner_id(thing: Thing) -> int:
    """Return the primary key of the user who owns a set, a model, or a run's set."""
    owned = thing.version.question_set if isinstance(thing, Run) else thing
    return int(owned.owner_id)


def _select_runs(thing: Thing) -> Any:
    """Return the queryset of the runs that are deleted with a set or run; none for a model."""
    if isinstance(thing, LanguageModel):
        return Run.objects.none()
    if isinstance(thing, Run):
        return Run.objects.filter(pk=thing.pk)
    return Run.objects.filter(version__question_set=thing.pk)


def update_admissions(question_set: int) -> None:
    """Update the admission lists that use the scores of a question set."""
    import_string(FOLLOW_SCORES)(question_set)


EVENTS_STORED: Final = timedelta(days=30)
"""Age at which events are deleted, with their deliveries."""
SECONDS_BETWEEN: Final = 3_600.0


@dataclass
class Retention:
    """Hourly deletion of expired events and log entries."""

    clock: Callable[[], float] = time.monotonic
    _done: float | None = None

    def step(self) -> None:
        """Delete the expired rows, unless that was done within the last hour."""
        if self._done is None or self.clock() - self._done >= SECONDS_BETWEEN:
            self._done = self.clock()
            delete_expired()


def delete_expired() -> dict[str, int]:
    """Delete expired events and log entries; return the numbers of deleted rows by kind."""
    now = timezone.now()
    logged = now - timedelta(days=settings.EXPORT_LOG_DAYS)
    expired: dict[str, QuerySet[Any, Any]] = {
        "events": Event.objects.filter(created_at__lt=now - EVENTS_STORED),
        "downloads": ExportRead.objects.filter(created_at__lt=logged),
        "sign_ins": SignInEvent.objects.filter(created_at__lt=logged),
    }
    numbers = {}
    for kind, rows in expired.items():
        # Most of the time there are none, and a query takes no write lock.
        numbers[kind] = rows.count()
        if numbers[kind]:
            rows.delete()
    return numbers
