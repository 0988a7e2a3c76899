"""What people do with runs: start one, cancel it, run it again. Used by every door."""

from __future__ import annotations

from uuid import UUID

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.db.models.functions import Now

from annotations.models import QuestionSet, QuestionSetVersion, Response
from evaluation.background.doorbell import ring_on_commit
from evaluation.kinds import kind_named
from evaluation.models import Run
from evaluation.models.runs import GRADING, UNFINISHED
from evaluation.options import OptionError, Parameters


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
    version: QuestionSetVersion, owner_id: int, options: Parameters, kind: str = GRADING
) -> Run:
    """Start a run: it waits in the database, and the bell rings once that is committed.

    Raises `OptionError` where the options contradict each other, and ValueError where they are of
    another kind.
    """
    if not isinstance(options, kind_named(kind).options):
        raise ValueError(f"{type(options).__name__} are no options of {kind}")
    problems = options.problems()
    if problems:
        raise OptionError(problems)
    run = Run.objects.create(
        owner_id=owner_id, version=version, kind=kind, parameters=options.as_dict()
    )
    ring_on_commit()
    return run


def cancel(run: Run) -> bool:
    """End a run that waits or works; False if it had ended before.

    Only the state is changed: the worker that has it finds its claim gone, and writes no more.
    """
    cancelled = Run.objects.filter(pk=run.pk, state__in=UNFINISHED).update(
        state=Run.State.CANCELLED, finished_at=Now(), lease_until=None
    )
    run.refresh_from_db()
    return bool(cancelled)


@transaction.atomic
def again(run: Run, owner_id: int) -> Run:
    """Start a run of the same version with the same parameters, beside the old one."""
    follower = Run.objects.create(
        owner_id=owner_id, version_id=run.version_id, kind=run.kind, parameters=run.parameters
    )
    ring_on_commit()
    return follower
