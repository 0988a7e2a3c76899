"""What a rejected worker writes back, once for each rejection, and the answer to it.

Who came in a file has no page to write on, and writes to the panel: somebody notes it here.

An answer may approve: by `annotations.ledger.deciding.decide`, as a further row of the same log.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet, Subquery

from annotations.ledger.deciding import (
    IDS,
    DecidedMeanwhileError,
    decide,
    locked,
    newest_of,
)
from annotations.models import Appeal, AppealAnswer, Decision, QuestionSetVersion, Submission

LONGEST = 2_000
"""Characters of an appeal, and of the answer to it."""
NOT_NOTED = {
    "own_page": "They have a page here and write back there, once.",
    "not_rejected": "They are not rejected.",
    "appealed": "Another text is kept already, one for each rejection.",
}
"""Why what somebody wrote elsewhere is not kept, in words for who notes it; by AppealError.code."""


class AppealError(ValueError):
    """Why a text is not kept: empty, too_long, not_rejected, appealed, answered or own_page."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


@dataclass(frozen=True, slots=True)
class RejectionStanding:
    """How a worker's rejection stands: the newest one, what they wrote of it, what counts now."""

    rejection: Decision
    newest: Decision
    appeal: Appeal | None

    @property
    def is_rejected(self) -> bool:
        """Whether the rejection is what counts."""
        return self.newest.pk == self.rejection.pk

    @property
    def answer(self) -> AppealAnswer | None:
        """What the worker was answered."""
        return getattr(self.appeal, "answer", None)

    @property
    def may_appeal(self) -> bool:
        """Whether the worker can write now."""
        return self.is_rejected and self.appeal is None


def standing_of(submission: Submission) -> RejectionStanding | None:
    """Return how the newest rejection of a submission stands; None where there never was one."""
    rows = Decision.objects.filter(submission=submission).order_by("-pk")
    newest = rows.first()
    if newest is None:
        return None
    rejected = rows.filter(kind=Decision.Kind.REJECT)
    rejection = rejected.select_related("appeal__answer").first()
    if rejection is None:
        return None
    return RejectionStanding(rejection, newest, getattr(rejection, "appeal", None))


def has_page(submission: Submission) -> bool:
    """Whether its worker has pages here, on which they write back and read the answer."""
    return submission.source == Submission.Source.COLLECTED


def appeal(submission: Submission, text: str, noted_by: Any = None) -> Appeal:
    """Keep what a worker writes against the rejection that counts; the same once more is the same.

    `noted_by` is who copied it from elsewhere, which is for those alone who have no page here:
    of others it would be the one text that they may write. Line breaks are kept as one character.
    Raises AppealError, and WithdrawnError.
    """
    text = _checked(text)
    if noted_by is not None and has_page(submission):
        raise AppealError("own_page")
    with transaction.atomic():
        locked([submission.pk])
        now = standing_of(submission)
        if now is None or not now.is_rejected:
            raise AppealError("not_rejected")
        if now.appeal is not None:
            if now.appeal.text == text:
                return now.appeal
            raise AppealError("appealed")
        return Appeal.objects.create(decision=now.rejection, text=text, noted_by=noted_by)


def answer(of: Appeal, user: Any, text: str, *, approve: bool) -> AppealAnswer:
    """Keep the answer to an appeal, which approves or leaves it rejected; once, and for good.

    The same once more is the same. Raises AppealError, WithdrawnError, and DecidedMeanwhileError
    where the rejection is not what counts any more: the worker was told of that already.
    """
    text = _checked(text)
    with transaction.atomic():
        submission = of.decision.submission
        locked([submission.pk])
        given = AppealAnswer.objects.filter(appeal=of).first()
        if given is not None:
            if (given.text, given.approval_id is not None) == (text, approve):
                return given
            raise AppealError("answered")
        newest = newest_of([submission.pk])[submission.pk]
        if newest.pk != of.decision_id:
            raise DecidedMeanwhileError(newest)
        approval = None
        if approve:
            seen = newest.public_id
            approval = decide(submission, user, Decision.Kind.APPROVE, seen=seen)
        return AppealAnswer.objects.create(
            appeal=of, text=text, approval=approval, answered_by=user
        )


def newest_appeals(submissions: Sequence[int]) -> dict[int, Appeal]:
    """Return the newest appeal of each submission that has one, with its answer."""
    keys, found = sorted(submissions), {}
    for begin in range(0, len(keys), IDS):
        rows = Appeal.objects.filter(decision__submission__in=keys[begin : begin + IDS])
        rows = rows.select_related("decision", "noted_by", "answer__answered_by").order_by("pk")
        found.update({row.decision.submission_id: row for row in rows})
    return found


def with_appeal(submissions: QuerySet[Any, Any], *, waiting: bool) -> QuerySet[Any, Any]:
    """Return the submissions with an appeal that waits for an answer, or with any at all.

    It waits while the rejection counts: who approved without an answer has settled it too.
    """
    if not waiting:
        theirs = Appeal.objects.filter(decision__submission=OuterRef("pk"))
        return submissions.filter(Exists(theirs))
    newest = Decision.objects.filter(submission=OuterRef("pk")).order_by("-pk").values("pk")[:1]
    waits = Appeal.objects.filter(decision=OuterRef("newest"), answer=None)
    return submissions.alias(newest=Subquery(newest)).filter(Exists(waits))


def n_waiting(version: QuestionSetVersion) -> int:
    """Return how many people of a version wait for an answer."""
    return with_appeal(Submission.objects.filter(version=version), waiting=True).count()


def _checked(text: str) -> str:
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\x00", "").strip()
    text = text.encode("utf-8", "replace").decode("utf-8")
    if not text:
        raise AppealError("empty")
    if len(text) > LONGEST:
        raise AppealError("too_long")
    return text
