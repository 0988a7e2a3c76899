"""The ends: handing everything in, not passing the practice, taking the answers back."""

from __future__ import annotations

from django.db import transaction
from django.db.models import F, OuterRef, Subquery
from django.dispatch import Signal
from django.utils import timezone

from annotations.answering import checks, devices
from annotations.answering.places import holds_place, retake
from annotations.answering.refused import AnsweringError
from annotations.answering.way import Way
from annotations.models import (
    Appeal,
    Assignment,
    Collection,
    OtherText,
    Question,
    Response,
    Submission,
)

State = Submission.State
withdrawing = Signal()
"""Sent before what a worker wrote is deleted, with the `submission`, in the same transaction."""


def longest(collection: Collection, question: Question) -> int:
    """Return how many characters an answer to a question may have."""
    own = question.max_characters
    return collection.most_characters if own is None else min(own, collection.most_characters)


def unfinished_page(way: Way) -> int | None:
    """Return the first page that cannot be handed in as it stands; None if all can."""
    texts = dict(way.submission.responses.values_list("question_id", "text"))
    for page in way.pages:
        for one in page.assignments:
            too_long = len(texts.get(one.question_id, "")) > longest(way.collection, one.question)
            if one.answered_at is None or one.question_id not in texts or too_long:
                return page.number
    return None


def submit(submission: Submission, device: str = "") -> Submission:
    """Hand in for good; a second time changes nothing. `device` is the kind they hand in from.

    Who got fewer attention checks right than are needed is shown another code, and hands in like
    everybody.
    Raises `AnsweringError`: not_yet while a page is missing; closed, place_lost, screened_out,
    withdrawn.
    """
    if submission.state != State.SUBMITTED and not holds_place(submission):
        # Before the row is locked: who takes a place locks the collection first.
        retake(submission)
    with transaction.atomic():
        current = _locked(submission)
        if current.state == State.SUBMITTED:
            return current
        if current.version.collection.state == Collection.State.CLOSED:
            raise AnsweringError("closed")
        if not holds_place(current):
            raise AnsweringError("place_lost")
        way = Way(current)
        if unfinished_page(way) is not None:
            raise AnsweringError("not_yet")
        now = timezone.now()
        if current.started_at is not None:
            now = max(now, current.started_at)  # the clock may have been set back
        given = Assignment.objects.filter(submission=current, question=OuterRef("question")).values
        current.responses.filter(
            question__in=current.assignments.values("question"), state=Response.State.DRAFT
        ).update(
            state=Response.State.SUBMITTED,
            started_at=Subquery(given("shown_at")[:1]),
            submitted_at=Subquery(given("answered_at")[:1]),
            revision=F("revision"),
            signal_pages={},
        )
        current.state = State.SUBMITTED
        current.submitted_at = current.last_seen_at = now
        collection = current.version.collection
        current.failed_checks = checks.has_failed(way)
        current.code = (
            collection.code_failed_checks if current.failed_checks else collection.code_done
        )
        current.device = devices.joined(current.device, device)
        current.save(
            update_fields=[
                *("state", "submitted_at", "last_seen_at", "code", "failed_checks", "device")
            ]
        )
        return current


def screen_out(submission: Submission) -> Submission:
    """End the way of somebody who did not pass the practice; their place is free again."""
    with transaction.atomic():
        current = _locked(submission)
        if current.state == State.OPEN:
            current.state, current.last_seen_at = State.SCREENED_OUT, timezone.now()
            current.code = current.version.collection.code_screened_out
            current.save(update_fields=["state", "last_seen_at", "code"])
        return current


def withdraw(submission: Submission) -> Submission:
    """Delete all that somebody wrote here, also after it was handed in; their place is free again.

    What runs have computed of it goes with it or stays without its text; copies of the texts go
    soon after, in the background (`withdrawing`). From what they answered, and whether they use
    assistive technology, is emptied. That they took part, and when, is kept: else the same person
    could begin anew, and nobody could say what was paid for.
    """
    with transaction.atomic():
        current = _locked(submission)
        if current.withdrawn_at is None:
            withdrawing.send(Submission, submission=current)
            OtherText.objects.filter(response__submission=current).delete()
            current.responses.all().delete()
            current.assignments.all().delete()
            current.state, current.withdrawn_at = State.RETURNED, timezone.now()
            current.device, current.assistive = "", False
            current.save(update_fields=["state", "withdrawn_at", "device", "assistive"])
            Appeal.objects.forget([current.pk])
        return current


def _locked(submission: Submission) -> Submission:
    return (
        Submission.objects.select_for_update(of=("self",))
        .select_related("version__collection", "version__question_set")
        .get(pk=submission.pk)
    )
