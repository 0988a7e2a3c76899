"""Places: how many are taken, taking one, and giving it back.

Whoever takes a place holds the row of the collection until the end of the transaction (on SQLite
every writing transaction does), so no two count the same free place. What is taken is counted and
never kept as a number: a place is taken by who has submitted, and by who is answering and was seen
in time. Nothing has to run for a place to be free again.
"""

from __future__ import annotations

import hashlib
import math
import secrets
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Count, Q, QuerySet
from django.utils import timezone

from annotations.answering import arrivals, devices
from annotations.answering.links import Visitor
from annotations.answering.order import Asked, chosen, in_order
from annotations.answering.refused import AnsweringError
from annotations.answering.wording import wording
from annotations.models import (
    Assignment,
    Collection,
    Consent,
    PanelSession,
    Submission,
    Worker,
)
from annotations.models.question_sets import hash_of

State = Submission.State
MOST_SESSIONS = 20
"""Sessions that are stored of a submission; a panel sends one or two, anybody can make them up."""
GRADED = Q(role__in=("graded", "gold"))


def taking(collection: Collection, now: datetime) -> QuerySet[Submission]:
    """Return the submissions that have a place."""
    return Submission.objects.filter(
        Q(state=State.SUBMITTED) | Q(state=State.OPEN, reserved_until__gt=now),
        version=collection.version_id,
        source=Submission.Source.COLLECTED,
    )


def n_free(collection: Collection, now: datetime | None = None) -> int:
    """Return how many more people may take part now; 0 too where every question has its answers."""
    now = now or timezone.now()
    free = collection.places - taking(collection, now).count()
    if free <= 0:
        return 0
    if collection.answers_per_question is not None:
        taken = _taken(collection, now)
        asked = collection.version.questions.filter(GRADED).values_list("pk", flat=True)
        if all(taken.get(pk, 0) >= collection.answers_per_question for pk in asked):
            return 0
    return free


def questions_each(collection: Collection) -> int | None:
    """Return how many graded questions a worker gets; None for all.

    Where nobody said, as many as fill all answers with all places: each of n questions answered by
    k people of p makes n k / p, rounded up.
    """
    if collection.questions_per_worker is not None:
        return collection.questions_per_worker
    if collection.answers_per_question is None:
        return None
    n = collection.version.questions.filter(GRADED).count()
    return max(1, math.ceil(n * collection.answers_per_question / collection.places))


def reason_against(collection: Collection, external_id: str) -> str:
    """Return the code of why somebody new may not take part, "" if they may; takes nothing."""
    if collection.state != Collection.State.OPEN:
        return collection.state
    if collection.version.question_set.archived_at is not None:
        return "archived"
    if external_id and _is_excluded(collection, external_id):
        return "excluded"
    if (collection.listed_only or collection.by_score) and not (
        external_id and collection.admissions.filter(external_id=external_id).exists()
    ):
        return "not_chosen" if collection.by_score else "not_listed"
    return "" if n_free(collection) else "full"


def submission_of_worker(collection: Collection, external_id: str) -> Submission | None:
    """Return what somebody began here before; None for who is new, and for nobody."""
    if not external_id:
        return None
    return (
        Submission.objects.select_related("version__collection", "version__question_set")
        .filter(
            version=collection.version_id,
            worker__owner=collection.version.question_set.owner_id,
            worker__panel=collection.panel,
            worker__external_id=external_id,
        )
        .first()
    )


@transaction.atomic
def reserve(
    collection: Collection,
    who: Visitor,
    language: str = "",
    frame: str = "",
    device: str = "",
    address: str = "",
) -> Submission:
    """Take a place for somebody who has just agreed, and give them their questions.

    `language` is that of the texts to which they agreed, and in which they go on; `frame` that of
    our own words, which the consent keeps where nobody said the other; `device` the kind they
    agree with; `address` that of their client, "" for no limit on arrivals. Who has a place already
    keeps it, so this may run twice. Raises `AnsweringError`: what `reason_against` names, done,
    screened_out, withdrawn, and `TooManyError`.
    """
    collection = _locked(collection)
    now = timezone.now()
    submission = submission_of_worker(collection, who.external_id)
    if submission is not None:
        _refuse_ended(submission)
        if holds_place(submission, now):
            note_session(submission, who)
            return submission
    reason = reason_against(collection, who.external_id)
    if reason:
        raise AnsweringError(reason)
    if submission is None:
        if not collection.signed:
            arrivals.admit(collection, address)
        worker, _ = Worker.objects.get_or_create(
            owner=collection.version.question_set.owner,
            panel=collection.panel,
            external_id=who.external_id or f"anonymous-{secrets.token_hex(8)}",
        )
        submission = Submission(
            version=collection.version,
            worker=worker,
            started_at=now,
            order_seed=_order_seed(collection, worker.external_id),
        )
    submission.language = language
    submission.device = devices.joined(submission.device, device) or device
    _seat(collection, submission, now)
    consent = wording.before(collection.version, language).consent
    Consent.objects.update_or_create(
        submission=submission,
        defaults={
            "text_hash": hash_of(consent.text),
            "language": (consent.language if consent.text else "") or frame,
            "given_at": now,
        },
    )
    note_session(submission, who)
    return submission


@transaction.atomic
def retake(submission: Submission) -> Submission:
    """Give somebody whose time had run out a place again, with what they have written so far.

    Raises `AnsweringError`: closed, place_lost where it was given to somebody else, done and what
    else ended it.
    """
    collection = _locked(submission.version.collection)
    now = timezone.now()
    current = Submission.objects.select_related("version__question_set").get(pk=submission.pk)
    _refuse_ended(current)
    if collection.state == Collection.State.CLOSED:
        raise AnsweringError("closed")
    if not holds_place(current, now):
        if current.state == State.RETURNED or not n_free(collection, now):
            raise AnsweringError("place_lost")
        _seat(collection, current, now)
    return current


def holds_place(submission: Submission, now: datetime | None = None) -> bool:
    """Return whether somebody is answering and has a place."""
    until = submission.reserved_until
    return submission.state == State.OPEN and until is not None and until > (now or timezone.now())


def keep_place(submission: Submission, every_seconds: int = 30) -> None:
    """Note that the worker was seen, which keeps their place; rarely, for drafts come often."""
    now = timezone.now()
    seen = submission.last_seen_at
    if seen is not None and (now - seen).total_seconds() < every_seconds:
        return
    submission.last_seen_at = now
    submission.reserved_until = now + _lasting(submission.version.collection)
    Submission.objects.filter(pk=submission.pk, state=State.OPEN, reserved_until__gt=now).update(
        last_seen_at=now, reserved_until=submission.reserved_until
    )


def release_expired(collection: Collection) -> int:
    """Say of everybody whose time ran out that it did; return of how many. Counts do not wait."""
    return Submission.objects.filter(
        version=collection.version_id,
        source=Submission.Source.COLLECTED,
        state=State.OPEN,
        reserved_until__lte=timezone.now(),
    ).update(state=State.TIMED_OUT)


def note_session(submission: Submission, who: Visitor) -> None:
    """Keep the panel's session in which somebody came; the same one once."""
    known = submission.panel_sessions.values_list("session_id", flat=True)[:MOST_SESSIONS]
    if who.session_id and who.session_id not in (ids := list(known)) and len(ids) < MOST_SESSIONS:
        PanelSession.objects.get_or_create(
            submission=submission,
            session_id=who.session_id,
            defaults={"study_id": who.study_id},
        )


def _locked(collection: Collection) -> Collection:
    return (
        Collection.objects.select_for_update(of=("self",))
        .select_related("version__question_set__owner")
        .get(pk=collection.pk)
    )


def _refuse_ended(submission: Submission) -> None:
    if submission.source == Submission.Source.IMPORTED:
        raise AnsweringError("excluded")  # their answers came in a file
    if submission.withdrawn_at is not None:
        raise AnsweringError("withdrawn")
    if submission.state == State.SUBMITTED:
        raise AnsweringError("done")
    if submission.state == State.SCREENED_OUT:
        raise AnsweringError("screened_out")


def _seat(collection: Collection, submission: Submission, now: datetime) -> None:
    """Give a place and questions; the row of the collection is held."""
    submission.state = State.OPEN
    submission.last_seen_at = now
    submission.reserved_until = now + _lasting(collection)
    submission.save()
    asked = [
        Asked(*values)
        for values in collection.version.questions.exclude(text="")
        .order_by("position", "pk")
        .values_list("pk", "passage_id", "role")
    ]
    before = {one.question_id: one for one in submission.assignments.all()}
    taken = _taken(collection, now, but=submission)
    most = collection.answers_per_question
    if before and all(most is None or taken.get(pk, 0) < most for pk in before):
        return  # it was theirs, and still may be
    begun = {pk for pk, one in before.items() if one.shown_at is not None}
    graded = chosen(
        asked,
        taken,
        most_each=most,
        wanted=questions_each(collection),
        kept=begun,
        seed=submission.order_seed,
    )
    if not graded:
        raise AnsweringError("full")
    others = [one for one in asked if one.role in ("practice", "attention")]
    fresh = [
        Assignment(
            submission=submission,
            question_id=place.question,
            position=place.position,
            page=place.page,
        )
        for place in in_order(graded, others, submission.order_seed)
    ]
    for one in fresh:
        old = before.get(one.question_id)
        if old is not None:
            one.shown_at, one.answered_at, one.told_at = old.shown_at, old.answered_at, old.told_at
    submission.assignments.all().delete()
    Assignment.objects.bulk_create(fresh)


def _taken(collection: Collection, now: datetime, but: Submission | None = None) -> dict[int, int]:
    rows = taking(collection, now)
    if but is not None:
        rows = rows.exclude(pk=but.pk)
    counted = (
        Assignment.objects.filter(submission__in=rows)
        .order_by()
        .values("question")
        .annotate(n=Count("pk"))
    )
    return dict(counted.values_list("question", "n"))


def _is_excluded(collection: Collection, external_id: str) -> bool:
    return (
        Submission.objects.filter(
            version__question_set__in=collection.excludes.all(),
            worker__owner=collection.version.question_set.owner_id,
            worker__panel=collection.panel,
            worker__external_id=external_id,
        )
        .exclude(version=collection.version_id)
        .exists()
    )


def _lasting(collection: Collection) -> timedelta:
    return timedelta(minutes=collection.reservation_minutes)


def _order_seed(collection: Collection, external_id: str) -> int:
    """Return the seed of one worker's order: it hangs on the collection's seed and on their id."""
    digest = hashlib.sha256(f"{collection.seed} {external_id}".encode()).digest()
    return int.from_bytes(digest[:6], "big")
