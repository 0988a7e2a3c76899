"""Places of a collection, which limit its workers: count, reserve and release them.

A reservation locks the row of the collection until the transaction ends, so that two requests
cannot take the same free place. (On SQLite every writing transaction is exclusive anyway.) Taken
places are counted, not stored: submitted submissions, and open ones whose reservation has not
expired. So a place becomes free without any process having to run.
"""

from __future__ import annotations

import hashlib
import math
import secrets
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Count, Q, QuerySet
from django.utils import timezone

from annotations.answering import arrivals, assistive, devices, signals
from annotations.answering.errors import AnsweringError
from annotations.answering.links import Visitor
from annotations.answering.order import QuestionRow, choose_questions, order_questions
from annotations.answering.wording import wording
from annotations.models import Assignment, Collection, Consent, PanelSession, Submission, Worker
from annotations.models.question_sets import hash_consent_text

State = Submission.State
MAX_SESSIONS = 20
"""Most panel sessions of a submission: a panel sends one or two, a script could send more."""
GRADED = Q(role__in=("graded", "gold"))


def build_place_condition(now: datetime) -> Q:
    """Return the query condition that a submission occupies a place at the time `now`."""
    return Q(state=State.SUBMITTED) | Q(state=State.OPEN, reserved_until__gt=now)


def select_place_holders(collection: Collection, now: datetime) -> QuerySet[Submission]:
    """Return the submissions with a place: submitted, or open with a valid reservation."""
    return Submission.objects.filter(
        build_place_condition(now),
        version=collection.version_id,
        source=Submission.Source.COLLECTED,
    )


def count_free_places(
    collection: Collection, now: datetime | None = None, n_taken: int | None = None
) -> int:
    """Return the number of free places; 0 if all questions have enough answers.

    Pass `n_taken`, the number of places taken, if it is counted already.
    """
    now = now or timezone.now()
    if n_taken is None:
        n_taken = select_place_holders(collection, now).count()
    free = collection.places - n_taken
    if free <= 0:
        return 0
    if collection.answers_per_question is not None:
        answer_counts = _count_answers_by_question(collection, now)
        questions = collection.version.questions.filter(GRADED).values_list("pk", flat=True)
        if all(answer_counts.get(pk, 0) >= collection.answers_per_question for pk in questions):
            return 0
    return free


def compute_questions_per_worker(collection: Collection) -> int | None:
    """Return the number of graded questions that a worker gets; None for all.

    The collection's own setting, if any. Otherwise as many as give each of n questions its k
    answers from p places: n k / p, rounded up.
    """
    if collection.questions_per_worker is not None:
        return collection.questions_per_worker
    if collection.answers_per_question is None:
        return None
    n = wording.load_question_counts(collection.version).n_graded
    return max(1, math.ceil(n * collection.answers_per_question / collection.places))


def find_refusal(collection: Collection, external_id: str) -> str:
    """Return the code of the reason why a new worker may not take part; "" if the worker may.

    Reserves nothing. `external_id` is the panel's id of the worker, "" for an anonymous one.
    """
    if collection.state != Collection.State.OPEN:
        return collection.state
    if collection.version.question_set.archived_at is not None:
        return "archived"
    if external_id and _is_worker_excluded(collection, external_id):
        return "excluded"
    if (collection.listed_only or collection.by_score) and not (
        external_id and collection.admissions.filter(external_id=external_id).exists()
    ):
        return "not_chosen" if collection.by_score else "not_listed"
    return "" if count_free_places(collection) else "full"


def find_worker_submission(collection: Collection, external_id: str) -> Submission | None:
    """Return a worker's earlier submission; None for a new or anonymous worker."""
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
def reserve_place(
    collection: Collection,
    visitor: Visitor,
    language: str = "",
    interface_language: str = "",
    device: str = "",
    address: str = "",
    *,
    is_uncounted: bool = False,
    is_assistive: bool = False,
) -> Submission:
    """Reserve a place for a worker who consented, and assign questions; return the submission.

    May run twice: a worker who has a place keeps it.

    Parameters
    ----------
    visitor : the panel's ids of the worker.
    language : of the consent text and of the questions.
    interface_language : stored with the consent if the language of its text is unknown.
    device : the kind of device, "" if unknown.
    address : of the client, "" for no rate limit.
    is_uncounted, is_assistive : choices beside the consent, for
        `signals.switch_signal_counting` and `assistive.record_assistive_use`.

    Raises `AnsweringError`: the codes of `find_refusal`, done, screened_out, withdrawn; and
    `TooManyError`.
    """
    collection = _lock_collection(collection)
    now = timezone.now()
    submission = find_worker_submission(collection, visitor.external_id)
    if submission is not None:
        _refuse_ended_submission(submission)
        if has_place(submission, now):
            store_panel_session(submission, visitor)
            _store_consent_choices(submission, is_uncounted=is_uncounted, is_assistive=is_assistive)
            return submission
    reason = find_refusal(collection, visitor.external_id)
    if reason:
        raise AnsweringError(reason)
    is_new = submission is None
    if submission is None:
        # A signed link works for one worker only and needs no rate limit.
        if not collection.signed:
            arrivals.count_arrival(collection, address)
        # A random id keeps anonymous workers apart.
        worker = _ensure_worker(
            collection, visitor.external_id or f"anonymous-{secrets.token_hex(8)}"
        )
        submission = Submission(
            version=collection.version,
            worker=worker,
            started_at=now,
            order_seed=_derive_order_seed(collection, worker.external_id),
            signals_off=is_uncounted or (is_assistive and collection.signals),
            assistive=is_assistive,
        )
    submission.language = language
    submission.device = devices.merge_devices(submission.device, device) or device
    _assign_place(collection, submission, now)
    consent = wording.load_intro(collection.version, language).consent
    facts: dict[str, Any] = {
        "text_hash": hash_consent_text(consent.text),
        "language": (consent.language if consent.text else "") or interface_language,
        "given_at": now,
    }
    if is_new:  # no other request can have stored a consent: one query instead of two
        Consent.objects.create(submission=submission, **facts)
    else:
        Consent.objects.update_or_create(submission=submission, defaults=facts)
        _store_consent_choices(submission, is_uncounted=is_uncounted, is_assistive=is_assistive)
    store_panel_session(submission, visitor, is_new=is_new)
    return submission


@transaction.atomic
def reserve_place_again(submission: Submission) -> Submission:
    """Reserve a place for a submission whose reservation expired; return the submission.

    Drafts stay. A worker who still has a place keeps it. Raises `AnsweringError`: closed,
    place_lost if no place is free, done, screened_out, withdrawn, excluded.
    """
    collection = _lock_collection(submission.version.collection)
    now = timezone.now()
    current = Submission.objects.select_related("version__question_set").get(pk=submission.pk)
    _refuse_ended_submission(current)
    if collection.state == Collection.State.CLOSED:
        raise AnsweringError("closed")
    if not has_place(current, now):
        if current.state == State.RETURNED or not count_free_places(collection, now):
            raise AnsweringError("place_lost")
        _assign_place(collection, current, now)
    return current


def has_place(submission: Submission, now: datetime | None = None) -> bool:
    """Return whether a submission is open and its reservation has not expired."""
    until = submission.reserved_until
    return submission.state == State.OPEN and until is not None and until > (now or timezone.now())


def extend_reservation(submission: Submission, every_seconds: int = 30) -> None:
    """Extend a worker's reservation, at most once in `every_seconds`."""
    # Drafts arrive every few seconds: writing each time would load the database.
    now = timezone.now()
    seen = submission.last_seen_at
    if seen is not None and (now - seen).total_seconds() < every_seconds:
        return
    submission.last_seen_at = now
    submission.reserved_until = now + _get_reservation_duration(submission.version.collection)
    Submission.objects.filter(pk=submission.pk, state=State.OPEN, reserved_until__gt=now).update(
        last_seen_at=now, reserved_until=submission.reserved_until
    )


def time_out_expired_submissions(collection: Collection) -> int:
    """Mark open submissions with an expired reservation as timed out; return their number."""
    # Only for the display: counts of free places compare `reserved_until` themselves.
    return Submission.objects.filter(
        version=collection.version_id,
        source=Submission.Source.COLLECTED,
        state=State.OPEN,
        reserved_until__lte=timezone.now(),
    ).update(state=State.TIMED_OUT)


def store_panel_session(submission: Submission, visitor: Visitor, *, is_new: bool = False) -> None:
    """Store the panel's session id of a visit, unless it is already stored.

    `is_new` saves the query for stored sessions: a new submission has none.
    """
    if not visitor.session_id:
        return
    sessions = submission.panel_sessions.values_list("session_id", flat=True)
    known = [] if is_new else list(sessions[:MAX_SESSIONS])
    if visitor.session_id not in known and len(known) < MAX_SESSIONS:
        session = PanelSession(
            submission=submission, session_id=visitor.session_id, study_id=visitor.study_id
        )
        # The same form may arrive twice at once: the unique constraint keeps one row.
        PanelSession.objects.bulk_create([session], ignore_conflicts=True)


def _ensure_worker(collection: Collection, external_id: str) -> Worker:
    """Return the worker with an external id, creating the row if needed."""
    # Another collection of the same owner may create the same worker at this moment, and then that
    # row is used. `get_or_create` would need a savepoint, which costs two more queries.
    key: dict[str, Any] = {
        "owner": collection.version.question_set.owner,
        "panel": collection.panel,
        "external_id": external_id,
    }
    Worker.objects.bulk_create([Worker(**key)], ignore_conflicts=True)
    return Worker.objects.get(**key)


def _store_consent_choices(
    submission: Submission, *, is_uncounted: bool, is_assistive: bool
) -> None:
    """Store a returning worker's choices beside the consent: no counting, assistive technology."""
    if is_uncounted:
        signals.switch_signal_counting(submission, off=True)
    if is_assistive:
        assistive.record_assistive_use(submission, used=True)


def _lock_collection(collection: Collection) -> Collection:
    """Return the current collection, locked until the transaction ends."""
    # Free places are counted under this lock: two workers cannot both take the last one. The set
    # and its owner, which are joined, stay unlocked.
    return (
        Collection.objects.select_for_update(of=("self",))
        .select_related("version__question_set__owner")
        .get(pk=collection.pk)
    )


def _refuse_ended_submission(submission: Submission) -> None:
    """Raise `AnsweringError` if a submission was imported or has ended."""
    if submission.source == Submission.Source.IMPORTED:
        raise AnsweringError("excluded")
    if submission.withdrawn_at is not None:
        raise AnsweringError("withdrawn")
    if submission.state == State.SUBMITTED:
        raise AnsweringError("done")
    if submission.state == State.SCREENED_OUT:
        raise AnsweringError("screened_out")


def _assign_place(collection: Collection, submission: Submission, now: datetime) -> None:
    """Reserve a place for a submission and assign its questions.

    The caller holds the lock of the collection. Earlier assignments stay if all their questions
    still need answers; otherwise questions are selected again, those seen before first. Raises
    `AnsweringError`: full.
    """
    submission.state = State.OPEN
    submission.last_seen_at = now
    submission.reserved_until = now + _get_reservation_duration(collection)
    is_new = submission.pk is None
    submission.save()
    questions = [
        QuestionRow(*values)
        for values in collection.version.questions.exclude(text="")
        .order_by("position", "pk")
        .values_list("pk", "passage_id", "role")
    ]
    earlier_rows = () if is_new else submission.assignments.all()
    earlier = {assignment.question_id: assignment for assignment in earlier_rows}
    answer_counts = _count_answers_by_question(collection, now, excluded=submission)
    max_answers = collection.answers_per_question
    if earlier and all(
        max_answers is None or answer_counts.get(pk, 0) < max_answers for pk in earlier
    ):
        return
    graded = choose_questions(
        questions,
        answer_counts,
        max_answers=max_answers,
        n_questions=compute_questions_per_worker(collection),
        begun={pk for pk, assignment in earlier.items() if assignment.shown_at is not None},
        seed=submission.order_seed,
    )
    if not graded:
        raise AnsweringError("full")
    others = [row for row in questions if row.role in ("practice", "attention")]
    assignments = [
        Assignment(
            submission=submission,
            question_id=place.question,
            position=place.position,
            page=place.page,
        )
        for place in order_questions(graded, others, submission.order_seed)
    ]
    for new in assignments:
        old = earlier.get(new.question_id)
        if old is not None:
            new.shown_at, new.answered_at, new.told_at = old.shown_at, old.answered_at, old.told_at
    if earlier:
        submission.assignments.all().delete()
    Assignment.objects.bulk_create(assignments)


def _count_answers_by_question(
    collection: Collection, now: datetime, excluded: Submission | None = None
) -> dict[int, int]:
    """Return the number of answers and reserved places by question key, without zeros.

    The assignments of the submission `excluded` are not counted.
    """
    rows = select_place_holders(collection, now)
    if excluded is not None:
        rows = rows.exclude(pk=excluded.pk)
    counted = (
        Assignment.objects.filter(submission__in=rows)
        .order_by()
        .values("question")
        .annotate(n=Count("pk"))
    )
    return dict(counted.values_list("question", "n"))


def _is_worker_excluded(collection: Collection, external_id: str) -> bool:
    """Return whether a worker answered a question set that the collection excludes."""
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


def _get_reservation_duration(collection: Collection) -> timedelta:
    """Return how long a place stays reserved after the worker's last request."""
    return timedelta(minutes=collection.reservation_minutes)


def _derive_order_seed(collection: Collection, external_id: str) -> int:
    """Return the random seed for a worker's question order."""
    digest = hashlib.sha256(f"{collection.seed} {external_id}".encode()).digest()
    # 48 bits fit the column, and JSON numbers are exact up to 53 bits.
    return int.from_bytes(digest[:6], "big")
