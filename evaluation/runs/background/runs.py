"""Start, pause, resume, cancel, rename and repeat runs; options that operators reserve.

Check which options of a run are reserved for operators.
"""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db import transaction
from django.db.models import (
    DateTimeField,
    DurationField,
    Exists,
    ExpressionWrapper,
    F,
    OuterRef,
    QuerySet,
)
from django.db.models.functions import Now

from annotations.models import QuestionSet, QuestionSetVersion, Response, is_operator
from annotations.models.access import AnyUser
from annotations.web.scope import RefusedError
from evaluation.core.options import OptionError, Parameters, Problem
from evaluation.core.options.declaration import build_problem
from evaluation.models import DrawPart, Run, RunTask, WorkerVerdict
from evaluation.models.collecting import is_import_being_undone
from evaluation.models.runs import ACTIVE, GRADING, LONGEST_NAME, LONGEST_NOTES, UNFINISHED
from evaluation.runs.background.leases import wake_process_on_commit
from evaluation.runs.run_types import Kind, get_kind, get_run_kind


def find_reserved_options(user: AnyUser, options: Parameters) -> list[Problem]:
    """Return a problem for each option reserved for operators; [] if the user is one.

    Other users may not name a file or a server. Of models that are loaded by a hub's name or from a
    folder they may name those that the installation offers (CROWDGRADE_MODELS).
    """
    return [] if is_operator(user) else options.find_reserved_values(settings.OFFERED_MODELS)


class LabelError(ValueError):
    """Error: a run's name or notes have `given` characters, more than `most`."""

    def __init__(self, field: str, given: int, most: int) -> None:
        super().__init__(f"It has {given:,} characters, and at most {most:,} will do.")
        self.field, self.given, self.most = field, given, most


def select_visible_runs(user: AbstractBaseUser | AnonymousUser) -> QuerySet[Run]:
    """Return the runs that the user may see, with version and question set."""
    return Run.objects.visible_to(user).select_related("version__question_set")


def get_visible_run(user: AbstractBaseUser | AnonymousUser, public_id: UUID) -> Run:
    """Return a run by public id; raises `Run.DoesNotExist` if the user may not see it."""
    return select_visible_runs(user).get(public_id=public_id)


def find_gradable_version(
    question_set: QuestionSet, number: str | None, *, answered: bool = True
) -> QuestionSetVersion | None:
    """Return the set's version with a number, by default the latest; None if there is none.

    With `answered` only versions with an accepted text answer count.
    """
    answers = Response.objects.filter(
        state=Response.State.SUBMITTED, status=Response.Status.TEXT, rejected=False
    )
    versions = question_set.versions.order_by("-number")
    if answered:
        # Exists and not a join, which would repeat a version for each of its answers.
        versions = versions.filter(Exists(answers.filter(submission__version=OuterRef("pk"))))
    # More digits may exceed the 32 bits of the column, which PostgreSQL answers with an error.
    if number and number.isdecimal() and len(number) < 9:
        versions = versions.filter(number=int(number))
    return versions.first()


@transaction.atomic
def queue_run(
    version: QuestionSetVersion,
    owner_id: int,
    options: Parameters,
    kind: str = GRADING,
    *,
    trusted: bool = False,
    name: str = "",
    notes: str = "",
    made_from: Run | None = None,
) -> Run:
    """Store a run as queued, and wake the background processes after the commit.

    `made_from` is the run whose settings were copied. `trusted` means that an operator queues the
    run at the command line, in any owner's name. Raises `OptionError` where the options
    contradict each other, cannot be used with this version, or are not for the owner, or where the
    owner has too many runs under way; `LabelError` for a name or notes that are too long;
    ValueError for options of another run type.
    """
    if not isinstance(options, get_kind(kind).options):
        raise ValueError(f"{type(options).__name__} are no options of {kind}")
    _check_start(get_kind(kind), version, owner_id, options, trusted)
    if not trusted:
        _refuse_too_many_runs(owner_id)
    run = Run.objects.create(
        owner_id=owner_id,
        version=version,
        kind=kind,
        parameters=options.as_dict(),
        name=tidy_name(name),
        notes=tidy_notes(notes),
        made_from=made_from,
    )
    WorkerVerdict.record_exclusions(run)
    wake_process_on_commit()
    return run


def _check_start(
    kind: Kind, version: QuestionSetVersion, owner_id: int, options: Parameters, trusted: bool
) -> None:
    """Raise `OptionError` or `RefusedError` if a new run with these options may not start."""
    problems: Sequence[Problem] = options.find_problems()
    owner = get_user_model()._default_manager.get(pk=owner_id)
    if version.question_set.archived_at is not None:
        raise RefusedError("archived")
    if is_import_being_undone(version.question_set_id):
        raise RefusedError("undoing")
    if not problems and not trusted:
        problems = find_reserved_options(owner, options)
    if not problems and kind.check is not None:
        problems = kind.check(version, owner, options)
    if problems:
        raise OptionError(problems)


def _refuse_too_many_runs(owner_id: int) -> None:
    """Raise `OptionError` if an owner (not an operator) has too many unfinished runs.

    Paused ones count, or they could all be resumed at once. The owner's row is locked, so that two
    simultaneous requests cannot both pass the limit.
    """
    owner = get_user_model()._default_manager.select_for_update().get(pk=owner_id)
    most = settings.RUNS_PER_USER
    if is_operator(owner):
        return
    if Run.objects.filter(owner=owner, state__in=UNFINISHED).count() >= most:
        raise OptionError([build_problem("too_many_runs", most=most)])


def rename_run(run: Run, name: str, notes: str) -> None:
    """Set a run's name and notes, "" for none. Raises `LabelError`."""
    run.name, run.notes = tidy_name(name), tidy_notes(notes)
    run.save(update_fields=["name", "notes"])


def tidy_name(name: str) -> str:
    """Return a run's name on one line. Raises `LabelError` if it is too long."""
    return _check_length("name", " ".join(name.split()), LONGEST_NAME)


def tidy_notes(notes: str) -> str:
    """Return a run's notes with uniform line breaks. Raises `LabelError` if they are too long."""
    return _check_length("notes", "\n".join(notes.strip().splitlines()), LONGEST_NOTES)


def _check_length(field: str, text: str, most: int) -> str:
    """Return the name or notes unchanged. Raises `LabelError` if they are too long."""
    if len(text) > most:
        raise LabelError(field, len(text), most)
    return text


@transaction.atomic
def cancel_run(run: Run) -> bool:
    """Cancel a queued, running or paused run; return False if it has ended already.

    The states of the run and its tasks are changed, and stored draws deleted: a process that works
    on it finds its claim lost and stops writing.
    """
    cancelled = Run.objects.filter(pk=run.pk, state__in=UNFINISHED).update(
        state=Run.State.CANCELLED, finished_at=Now(), lease_until=None
    )
    if cancelled:
        RunTask.cancel_open_tasks(run=run)
        DrawPart.objects.filter(run=run).delete()
    run.refresh_from_db()
    return bool(cancelled)


@transaction.atomic
def pause_run(run: Run) -> bool:
    """Pause a queued or running run until it is resumed; return False for other states.

    As with `cancel_run` the process that works on it finds its claim lost; committed work stays.
    """
    # `resume_run` computes the length of the pause from `heartbeat_at`.
    paused = Run.objects.filter(pk=run.pk, state__in=ACTIVE).update(
        state=Run.State.PAUSED, lease_until=None, lease_owner="", heartbeat_at=Now()
    )
    # The next turn after the pause stores tasks for what is missing then.
    if paused:
        RunTask.cancel_open_tasks(run=run)
    run.refresh_from_db()
    return bool(paused)


@transaction.atomic
def resume_run(run: Run) -> bool:
    """Put a paused run at the end of the queue; return False if it is not paused."""
    paused_for = ExpressionWrapper(Now() - F("heartbeat_at"), output_field=DurationField())
    resumed = Run.objects.filter(pk=run.pk, state=Run.State.PAUSED).update(
        state=Run.State.QUEUED,
        # The pause is no time of the stage, or its rate would look too low.
        stage_started_at=ExpressionWrapper(
            F("stage_started_at") + paused_for, output_field=DateTimeField()
        ),
        heartbeat_at=Now(),
    )
    if resumed:
        wake_process_on_commit()
    run.refresh_from_db()
    return bool(resumed)


@transaction.atomic
def repeat_run(run: Run, owner_id: int) -> Run:
    """Start a new run of the same version with the same parameters; the old run stays.

    Raises `OptionError` where the owner may not use these, where they are no longer valid, or where
    the owner has too many unfinished runs. A run type or parameters that this version of the
    platform does not know start a run that fails with the reason.
    """
    try:
        kind = get_run_kind(run)
        options = kind.options.from_dict(run.parameters)
    except LookupError:  # UnknownKindError is one
        pass
    else:
        _check_start(kind, run.version, owner_id, options, trusted=False)
    _refuse_too_many_runs(owner_id)
    follower = Run.objects.create(
        owner_id=owner_id,
        version_id=run.version_id,
        kind=run.kind,
        parameters=run.parameters,
        made_from=run,
    )
    WorkerVerdict.record_exclusions(follower)
    wake_process_on_commit()
    return follower
