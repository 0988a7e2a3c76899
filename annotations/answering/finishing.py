"""End of a submission: submitted, screened out after the practice, or withdrawn."""

from __future__ import annotations

from django.db import transaction
from django.db.models import F, OuterRef, Subquery
from django.utils import timezone

from annotations.answering import checks, devices
from annotations.answering.errors import AnsweringError
from annotations.answering.places import has_place, reserve_place_again
from annotations.answering.progress import SurveyProgress
from annotations.answering.submission_signal import submission_stored
from annotations.answering.withdrawals import withdrawing
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


def resolve_max_characters(collection: Collection, question: Question) -> int:
    """Return the maximum length of an answer to a question, in characters.

    The smaller of the question's own limit, if any, and the collection's.
    """
    own = question.max_characters
    return collection.most_characters if own is None else min(own, collection.most_characters)


def find_unfinished_page(progress: SurveyProgress) -> int | None:
    """Return the number of the first incomplete page of a submission; None if all are complete.

    A page is incomplete if it was not submitted, or if one of its answers is missing or too long.
    """
    texts = dict(progress.submission.responses.values_list("question_id", "text"))
    for page in progress.pages:
        for assignment in page.assignments:
            too_long = len(texts.get(assignment.question_id, "")) > resolve_max_characters(
                progress.collection, assignment.question
            )
            if assignment.answered_at is None or assignment.question_id not in texts or too_long:
                return page.number
    return None


def submit_answers(submission: Submission, device: str = "") -> Submission:
    """Submit all answers of a worker, which then can no longer change; return the submission.

    A second call has no effect.

    `device` is the kind of device of this request. A worker who failed the attention checks
    submits like everybody, but gets another code.

    Raises `AnsweringError`: not_yet while a page is incomplete; closed, place_lost, screened_out,
    withdrawn.
    """
    if submission.state != State.SUBMITTED and not has_place(submission):
        # Before the submission is locked: taking a place locks the collection first, and the
        # other order could deadlock.
        reserve_place_again(submission)
    with transaction.atomic():
        current = _load_locked_submission(submission)
        if current.state == State.SUBMITTED:
            return current
        if current.version.collection.state == Collection.State.CLOSED:
            raise AnsweringError("closed")
        if not has_place(current):
            raise AnsweringError("place_lost")
        progress = SurveyProgress(current)
        if find_unfinished_page(progress) is not None:
            raise AnsweringError("not_yet")
        now = timezone.now()
        if current.started_at is not None:
            now = max(now, current.started_at)  # the clock may have been set back
        times = Assignment.objects.filter(submission=current, question=OuterRef("question")).values
        current.responses.filter(
            question__in=current.assignments.values("question"), state=Response.State.DRAFT
        ).update(
            state=Response.State.SUBMITTED,
            started_at=Subquery(times("shown_at")[:1]),
            submitted_at=Subquery(times("answered_at")[:1]),
            revision=F("revision"),
            # The counts of single pages are needed only while they grow; their sums stay.
            signal_pages={},
        )
        current.state = State.SUBMITTED
        current.submitted_at = current.last_seen_at = now
        collection = current.version.collection
        current.failed_checks = checks.has_failed_attention_checks(progress)
        current.code = (
            collection.code_failed_checks if current.failed_checks else collection.code_done
        )
        current.device = devices.merge_devices(current.device, device)
        current.save(
            update_fields=[
                *("state", "submitted_at", "last_seen_at", "code", "failed_checks", "device")
            ]
        )
        submission_stored.send(Submission, submission=current)
        return current


def screen_out_worker(submission: Submission) -> Submission:
    """End the submission of a worker who failed the practice, which frees the place; return it.

    Changes nothing unless the submission is open.
    """
    with transaction.atomic():
        current = _load_locked_submission(submission)
        if current.state == State.OPEN:
            current.state, current.last_seen_at = State.SCREENED_OUT, timezone.now()
            current.code = current.version.collection.code_screened_out
            current.save(update_fields=["state", "last_seen_at", "code"])
        return current


def withdraw_answers(submission: Submission) -> Submission:
    """Delete all answers of a worker, also after submission; free the place.

    Deletes assignments, other texts and appeals, and empties the device and the use of assistive
    technology. Receivers of `withdrawing` delete or blank what runs computed from the answers;
    copies of the texts are deleted later by a background process.
    """
    # The submission stays: otherwise the same worker could begin again, and no record would show
    # what a payment was for.
    with transaction.atomic():
        current = _load_locked_submission(submission)
        if current.withdrawn_at is None:
            withdrawing.send(Submission, submission=current)
            OtherText.objects.filter(response__submission=current).delete()
            current.responses.all().delete()
            current.assignments.all().delete()
            current.state, current.withdrawn_at = State.RETURNED, timezone.now()
            current.device, current.assistive = "", False
            current.save(update_fields=["state", "withdrawn_at", "device", "assistive"])
            Appeal.objects.delete_withdrawn([current.pk])
        return current


def _load_locked_submission(submission: Submission) -> Submission:
    """Return the submission as stored now, locked until the transaction ends."""
    # Only the submission: locks on the joined collection and set would make all workers wait.
    return (
        Submission.objects.select_for_update(of=("self",))
        .select_related("version__collection", "version__question_set")
        .get(pk=submission.pk)
    )
