"""What somebody types, kept while they type: nothing of it is ever overwritten unseen.

A page says which revision of a text it was made from. If another tab or device has saved since,
both texts are kept: the one that was sent last is in the box, the other beside it until the worker
has chosen. An empty box of an old page overwrites nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from django.db import IntegrityError, transaction
from django.db.models import F
from django.db.models.functions import Coalesce
from django.utils import timezone

from annotations.models import OtherText, Question, Response, Submission

LONGEST_DRAFT: Final = 200_000
"""Characters that are stored of one text, long before it may be handed in."""

SAVED: Final = "saved"
SAME: Final = "same"
BOTH_KEPT: Final = "both_kept"
OLDER_EMPTY: Final = "older_empty"
NOT_STORED: Final = "not_stored"
ENDED: Final = "ended"


@dataclass(frozen=True, slots=True)
class Saved:
    """What became of a text: one of the words above, and how the answer now stands."""

    outcome: str
    text: str
    revision: int


def cleaned(text: str) -> str:
    """Return a text as it is stored: line breaks as one character, nothing a database refuses.

    A text of white space alone is no answer and becomes "". Everything else stays as written, also
    spaces at the ends, combining marks and characters of any script.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\x00", "")
    text = text.encode("utf-8", "replace").decode("utf-8")
    return text if text.strip() else ""


def save(
    submission: Submission,
    question: Question,
    text: str,
    revision: int | None,
    *,
    tab: str = "",
    take_over: bool = True,
) -> Saved:
    """Store a text of an answer that was not handed in for good.

    Parameters
    ----------
    revision : of the text that the page was made from; 0 for none, None if the page did not say.
    tab : the name of the tab that sends it while somebody types, "" for a form.
    take_over : whether, of two texts, this one becomes the answer's and the other is kept beside;
        if not it is the other way round, as for a tab that saves by itself.

    Returns
    -------
    What became of it. Nothing is stored of a text of more than `LONGEST_DRAFT` characters
    (not_stored) and of one for a submission that ended (ended).
    """
    text = cleaned(text)
    if len(text) > LONGEST_DRAFT:
        return Saved(NOT_STORED, text, revision or 0)
    for _ in range(5):
        stored = stored_of(submission, [question.pk]).get(question.pk)
        if stored is None:
            try:
                with transaction.atomic():
                    made = _new(submission, question, text)
                    made.save(force_insert=True)
            except IntegrityError:
                continue  # another request was first
            return Saved(SAVED, text, made.revision)
        saved = _over(stored, text, revision, tab, take_over)
        if saved is not None:
            return saved
    return Saved(NOT_STORED, text, revision or 0)


@dataclass(frozen=True, slots=True)
class Sent:
    """A text of a page: `stored` is its answer as it was just read, None where there was none."""

    question: Question
    text: str
    revision: int | None
    stored: Response | None


def save_all(submission: Submission, sent: Sequence[Sent]) -> dict[int, Saved]:
    """Store the texts of a form as `save` does, by the key of the question; new ones at once."""
    became: dict[int, Saved] = {}
    new: list[Response] = []
    for one in sent:
        text = cleaned(one.text)
        if len(text) > LONGEST_DRAFT:
            continue
        if one.stored is None:
            new.append(_new(submission, one.question, text))
        elif saved := _over(one.stored, text, one.revision, "", True):
            became[one.question.pk] = saved
    if new:
        # Where another request was first with one of them, none is stored here, and each by itself.
        with suppress(IntegrityError), transaction.atomic():
            Response.objects.bulk_create(new)
            became |= {one.question_id: Saved(SAVED, one.text, one.revision) for one in new}
    return {
        one.question.pk: became.get(one.question.pk)
        or save(submission, one.question, one.text, one.revision)
        for one in sent
    }


def stored_of(submission: Submission, questions: Sequence[int]) -> dict[int, Response]:
    """Return the answers to some questions, with what saving needs of them, by the question."""
    rows = (
        submission.responses.filter(question__in=questions)
        .only("submission", "question", "text", "state", "revision", "signals")
        # A row for each other text; whether there is one is all that is asked here.
        .annotate(beside=F("other_texts"))
    )
    return {one.question_id: one for one in rows}


def has_others(stored: Response) -> bool:
    """Whether other texts of an answer are kept, settled or not, as `stored_of` found it."""
    return getattr(stored, "beside", 0) is not None


def exchange(other: OtherText) -> Saved:
    """Make a text that was kept beside the answer's own, and keep that one in its place."""
    with transaction.atomic():
        stored = Response.objects.select_for_update(of=("self",)).get(pk=other.response_id)
        if stored.state == Response.State.SUBMITTED:
            return Saved(ENDED, stored.text, stored.revision)
        before = stored.text
        stored.text, stored.status = other.text, _status(other.text)
        stored.revision += 1
        stored.first_draft_at = stored.first_draft_at or timezone.now()
        stored.save(update_fields=["text", "status", "revision", "first_draft_at", "updated_at"])
        if before:
            other.text, other.tab = before, ""
            other.save(update_fields=["text", "tab"])
        else:
            other.delete()
    return Saved(SAVED, stored.text, stored.revision)


def settle(submission: Submission, seen: list[int]) -> None:
    """Note that the worker saw these other texts and left them; they are not shown any more."""
    if seen:
        others = OtherText.objects.filter(pk__in=seen, response__submission=submission)
        others.filter(settled_at=None).update(settled_at=timezone.now())


def _new(submission: Submission, question: Question, text: str) -> Response:
    return Response(
        submission=submission,
        question_id=question.pk,  # by its key: the question is shared by other requests
        text=text,
        status=_status(text),
        first_draft_at=timezone.now() if text else None,
        signals=Response.Counted.OFF if submission.signals_off else "",
        language=submission.language,
    )


def _over(
    stored: Response, text: str, revision: int | None, tab: str, take_over: bool
) -> Saved | None:
    """Store a text over one that was read; None if somebody stored another meanwhile."""
    if stored.state == Response.State.SUBMITTED:
        return Saved(ENDED, stored.text, stored.revision)
    if stored.text == text:
        return Saved(SAME, text, stored.revision)
    if revision == stored.revision or not stored.text:
        return Saved(SAVED, text, stored.revision + 1) if _replace(stored, text, tab) else None
    if not text:
        return Saved(OLDER_EMPTY, stored.text, stored.revision)
    if not take_over:
        _keep(stored, text, tab)
        return Saved(BOTH_KEPT, stored.text, stored.revision)
    with transaction.atomic():
        if not _replace(stored, text):
            return None
        _keep(stored, stored.text, "")
        return Saved(BOTH_KEPT, text, stored.revision + 1)


def _replace(stored: Response, text: str, tab: str = "") -> bool:
    """Store a text unless somebody else stored one meanwhile.

    What the same tab wrote before, beside the text of another, is part of this one.
    """
    now = timezone.now()
    hit = Response.objects.filter(
        pk=stored.pk, revision=stored.revision, state=Response.State.DRAFT
    ).update(
        text=text,
        status=_status(text),
        revision=F("revision") + 1,
        language=stored.submission.language,
        first_draft_at=Coalesce("first_draft_at", now) if text else F("first_draft_at"),
        updated_at=now,
    )
    if hit and tab and has_others(stored):
        stored.other_texts.filter(tab=tab).delete()
    return bool(hit)


def _keep(stored: Response, text: str, tab: str) -> None:
    if tab:
        OtherText.objects.update_or_create(
            response=stored, tab=tab, defaults={"text": text, "settled_at": None}
        )
    elif not stored.other_texts.filter(text=text).exists():
        OtherText.objects.create(response=stored, text=text)
    else:
        stored.other_texts.filter(text=text).update(settled_at=None)


def _status(text: str) -> str:
    return Response.Status.TEXT if text else Response.Status.EMPTY
