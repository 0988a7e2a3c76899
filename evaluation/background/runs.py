"""What people do with runs: start, pause, cancel one, run it again. Used by every door."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

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
from evaluation.background.doorbell import ring_on_commit
from evaluation.kinds import Kind, kind_named, kind_of
from evaluation.models import Run
from evaluation.models.runs import ACTIVE, GRADING, UNFINISHED
from evaluation.options import OptionError, Parameters, Problem


def visible_runs(user: AbstractBaseUser | AnonymousUser) -> QuerySet[Run]:
    """Return the runs that the user may see, each with its version and question set."""
    return Run.objects.visible_to(user).select_related("version__question_set")


def find(user: AbstractBaseUser | AnonymousUser, public_id: UUID) -> Run:
    """Return a run; raises `Run.DoesNotExist` also where the user may not see it."""
    return visible_runs(user).get(public_id=public_id)


def version_to_grade(
    question_set: QuestionSet, number: str | None, *, answered: bool = True
) -> QuestionSetVersion | None:
    """Return the version of that number, else the latest one; None if there is none.

    One without answers is none, unless `answered` says that answers are not needed.
    """
    answers = Response.objects.filter(
        state=Response.State.SUBMITTED, status=Response.Status.TEXT, rejected=False
    )
    found = question_set.versions.order_by("-number")
    if answered:
        found = found.filter(Exists(answers.filter(submission__version=OuterRef("pk"))))
    if number and number.isdecimal() and len(number) < 9:
        found = found.filter(number=int(number))
    return found.first()


@transaction.atomic
def queue(
    version: QuestionSetVersion,
    owner_id: int,
    options: Parameters,
    kind: str = GRADING,
    *,
    trusted: bool = False,
) -> Run:
    """Start a run: it waits in the database, and the bell rings once that is committed.

    `trusted` says that an operator asks, in whomever's name: somebody at the command line. Raises
    `OptionError` where the options contradict each other, cannot be used with this version, or
    are not for the owner; ValueError where they are of another kind.
    """
    if not isinstance(options, kind_named(kind).options):
        raise ValueError(f"{type(options).__name__} are no options of {kind}")
    _check(kind_named(kind), version, owner_id, options, trusted)
    run = Run.objects.create(
        owner_id=owner_id, version=version, kind=kind, parameters=options.as_dict()
    )
    ring_on_commit()
    return run


def _check(
    kind: Kind, version: QuestionSetVersion, owner_id: int, options: Parameters, trusted: bool
) -> None:
    """Refuse what will not do; the one place for it, wherever a run is started from."""
    problems: Sequence[Problem] = options.problems()
    owner = get_user_model()._default_manager.get(pk=owner_id)
    if not problems and not trusted and not is_operator(owner):
        problems = options.reserved()
    if not problems and kind.check is not None:
        problems = kind.check(version, owner, options)
    if problems:
        raise OptionError(problems)


def cancel(run: Run) -> bool:
    """End a run that waits, works or is paused; False if it had ended before.

    Only the state is changed: the worker that has it finds its claim gone, and writes no more.
    """
    cancelled = Run.objects.filter(pk=run.pk, state__in=UNFINISHED).update(
        state=Run.State.CANCELLED, finished_at=Now(), lease_until=None
    )
    run.refresh_from_db()
    return bool(cancelled)


def pause(run: Run) -> bool:
    """Let nobody work on a run until it is resumed; False if it is not under way.

    As with `cancel` the worker that has it finds its claim gone; what it committed stays.
    """
    paused = Run.objects.filter(pk=run.pk, state__in=ACTIVE).update(
        state=Run.State.PAUSED, lease_until=None, lease_owner="", heartbeat_at=Now()
    )
    run.refresh_from_db()
    return bool(paused)


@transaction.atomic
def resume(run: Run) -> bool:
    """Put a paused run back into the queue, behind those that wait; False if it is not paused."""
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
        ring_on_commit()
    run.refresh_from_db()
    return bool(resumed)


@transaction.atomic
def again(run: Run, owner_id: int) -> Run:
    """Start a run of the same version with the same parameters, beside the old one.

    Raises `OptionError` where these are not for the owner, or will not do any more. A kind or
    parameters that this version of the platform does not know make a run that fails and says so.
    """
    try:
        kind = kind_of(run)
        options = kind.options.of_dict(run.parameters)
    except LookupError:  # UnknownKindError is one
        pass
    else:
        _check(kind, run.version, owner_id, options, trusted=False)
    follower = Run.objects.create(
        owner_id=owner_id, version_id=run.version_id, kind=run.kind, parameters=run.parameters
    )
    ring_on_commit()
    return follower
