"""Appeals of workers against a rejection, one per rejection, and the requesters' answers.

Imported workers have no page of their own and write to the panel. A requester then copies their
text into an appeal.

An answer may approve the submission. It then adds a row to the log of decisions
(`annotations.ledger.decisions.decide_on_submission`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet, Subquery

from annotations.ledger.decisions import (
    KEYS_PER_QUERY,
    DecidedMeanwhileError,
    decide_on_submission,
    load_newest_decisions,
    lock_submissions,
)
from annotations.models import Appeal, AppealAnswer, Decision, QuestionSetVersion, Submission

LONGEST = 2_000
"""Most characters of an appeal, and of its answer."""
NOT_STORED_REASONS = {
    "own_page": "They have a page here and write back there, once.",
    "not_rejected": "They are not rejected.",
    "appealed": "Another text is stored already; each rejection has one.",
}
"""Why a copied appeal is not stored, in words for the requester; by `AppealError.code`."""


class AppealError(ValueError):
    """Error for an appeal, or an answer to one, that is not allowed; nothing is stored.

    `code` is empty, too_long, not_rejected, appealed, answered or own_page.
    """

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


@dataclass(frozen=True, slots=True)
class RejectionStatus:
    """Newest rejection of a submission, its appeal, and the newest decision on the submission."""

    rejection: Decision
    newest: Decision
    appeal: Appeal | None

    @property
    def is_rejected(self) -> bool:
        """Whether the rejection is in force: no later decision replaces it."""
        return self.newest.pk == self.rejection.pk

    @property
    def answer(self) -> AppealAnswer | None:
        """Requester's answer to the appeal; None if there is none."""
        return getattr(self.appeal, "answer", None)

    @property
    def may_appeal(self) -> bool:
        """Whether the worker may appeal: the rejection is in force and has no appeal."""
        return self.is_rejected and self.appeal is None


def find_newest_rejection(submission: Submission) -> RejectionStatus | None:
    """Return a submission's newest rejection with its appeal; None without a rejection."""
    rows = Decision.objects.filter(submission=submission).order_by("-pk")
    newest = rows.first()
    if newest is None:
        return None
    rejected = rows.filter(kind=Decision.Kind.REJECT)
    rejection = rejected.select_related("appeal__answer").first()
    if rejection is None:
        return None
    return RejectionStatus(rejection, newest, getattr(rejection, "appeal", None))


def has_worker_page(submission: Submission) -> bool:
    """Return whether the worker has a page on this site to appeal and read the answer.

    True for collected submissions, False for imported ones.
    """
    return submission.source == Submission.Source.COLLECTED


def create_appeal(submission: Submission, text: str, noted_by: Any = None) -> Appeal:
    """Store and return a worker's appeal against the rejection in force.

    The same text again returns the stored appeal. `noted_by` is the requester who copied the text
    from elsewhere. This is refused for workers with a page, whose only appeal it would use up.
    Line breaks are stored as one character. Raises AppealError, WithdrawnError.
    """
    text = _clean_appeal_text(text)
    if noted_by is not None and has_worker_page(submission):
        raise AppealError("own_page")
    with transaction.atomic():
        lock_submissions([submission.pk])
        standing = find_newest_rejection(submission)
        if standing is None or not standing.is_rejected:
            raise AppealError("not_rejected")
        if standing.appeal is not None:
            # A double click, or a page that is sent again, repeats the text.
            if standing.appeal.text == text:
                return standing.appeal
            raise AppealError("appealed")
        return Appeal.objects.create(decision=standing.rejection, text=text, noted_by=noted_by)


def answer_appeal(appeal: Appeal, user: Any, text: str, *, approve: bool) -> AppealAnswer:
    """Store and return a requester's answer to an appeal; with `approve` also the approval.

    There is one answer, which is never changed; the same answer again returns the stored one.
    Raises AppealError, WithdrawnError. Raises DecidedMeanwhileError if the rejection no longer
    counts: the worker has already seen the newer decision.
    """
    text = _clean_appeal_text(text)
    with transaction.atomic():
        submission = appeal.decision.submission
        lock_submissions([submission.pk])
        stored = AppealAnswer.objects.filter(appeal=appeal).first()
        if stored is not None:
            if (stored.text, stored.approval_id is not None) == (text, approve):
                return stored
            raise AppealError("answered")
        newest = load_newest_decisions([submission.pk])[submission.pk]
        # An answer to an outdated rejection would contradict what the worker reads by now.
        if newest.pk != appeal.decision_id:
            raise DecidedMeanwhileError(newest)
        approval = None
        if approve:
            # `decide_on_submission` compares again; under our lock the newest decision cannot
            # have changed.
            seen = newest.public_id
            approval = decide_on_submission(submission, user, Decision.Kind.APPROVE, seen=seen)
        return AppealAnswer.objects.create(
            appeal=appeal, text=text, approval=approval, answered_by=user
        )


def load_newest_appeals(submissions: Sequence[int]) -> dict[int, Appeal]:
    """Return the newest appeal, with its answer, of each submission that has one, by its key."""
    keys, appeals = sorted(submissions), {}
    for begin in range(0, len(keys), KEYS_PER_QUERY):
        rows = Appeal.objects.filter(decision__submission__in=keys[begin : begin + KEYS_PER_QUERY])
        rows = rows.select_related("decision", "noted_by", "answer__answered_by").order_by("pk")
        appeals.update({row.decision.submission_id: row for row in rows})
    return appeals


def filter_appealed(submissions: QuerySet[Any, Any], *, unanswered: bool) -> QuerySet[Any, Any]:
    """Return the submissions with an appeal; with `unanswered`, those whose appeal has no answer.

    An appeal against a rejection that no longer counts is not unanswered: an approval also ends it.
    """
    if not unanswered:
        appeals = Appeal.objects.filter(decision__submission=OuterRef("pk"))
        return submissions.filter(Exists(appeals))
    newest = Decision.objects.filter(submission=OuterRef("pk")).order_by("-pk").values("pk")[:1]
    open_appeals = Appeal.objects.filter(decision=OuterRef("newest"), answer=None)
    return submissions.alias(newest=Subquery(newest)).filter(Exists(open_appeals))


def count_unanswered_appeals(version: QuestionSetVersion) -> int:
    """Return the number of a version's workers with an unanswered appeal."""
    return filter_appealed(Submission.objects.filter(version=version), unanswered=True).count()


def _clean_appeal_text(text: str) -> str:
    """Return a text of an appeal, stripped; raise `AppealError` if it is empty or too long."""
    # PostgreSQL stores neither NUL nor lone surrogates; the latter become question marks.
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\x00", "").strip()
    text = text.encode("utf-8", "replace").decode("utf-8")
    if not text:
        raise AppealError("empty")
    if len(text) > LONGEST:
        raise AppealError("too_long")
    return text
