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

from annotations.exchange.ids import is_blank
from annotations.models import OtherText, Question, Response, Submission

LONGEST_DRAFT: Final = 200_000
"""Characters that are stored of one text, long before it may be handed in."""

MOST_OTHERS: Final = 20
"""Other texts that are stored beside one answer: a link alone must not fill the disk."""

SAVED: Final = "saved"
SAME: Final = "same"
BOTH_KEPT: Final = "both_kept"
OLDER_EMPTY: Final = "older_empty"
NOT_STORED: Final = "not_stored"
ENDED: Final = "ended"
NO_CHOICE: Final = "no_choice"


@dataclass(frozen=True, slots=True)
class Saved:
    """What became of a text: one of the words above, and how the answer now stands."""

    outcome: str
    text: str
    revision: int


def cleaned(text: str) -> str:
    """Return a text as it is stored: line breaks as one character, nothing a database refuses.

    A text of which nothing can be seen is no answer and becomes "". Everything else stays as
    written, also spaces at the ends, combining marks and characters of any script.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\x00", "")
    text = text.encode("utf-8", "replace").decode("utf-8")
    return "" if is_blank(text) else text


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
    What became of it. Nothing is stored of what is none of the question's choices (no_choice), of a
    text of more than `LONGEST_DRAFT` characters, of one
    more beside `MOST_OTHERS` other texts (not_stored) and of one for a submission that ended
    (ended).
    """
    text = cleaned(text)
    if len(text) > LONGEST_DRAFT:
        return Saved(NOT_STORED, text, revision or 0)
    if not can_answer(question, text):
        return Saved(NO_CHOICE, text, revision or 0)
    for _ in range(5):
        stored = stored_of(submission, [question.pk]).get(question.pk)
        if stored is None:
            try:
                with transaction.atomic():
                    if not hold(submission):
                        return Saved(ENDED, "", 0)
                    made = _new(submission, question, text)
                    made.save(force_insert=True)
            except IntegrityError:
                continue  # another request was first
            return Saved(SAVED, text, made.revision)
        saved = _over(stored, text, revision, tab, take_over)
        if saved is not None:
            return saved
    return Saved(NOT_STORED, text, revision or 0)


def can_answer(question: Question, text: str) -> bool:
    """Whether a text may answer a question: of a choice one of its choices, or nothing."""
    return not text or question.kind != Question.Kind.CHOICE or text in question.choices


def hold(submission: Submission) -> bool:
    """Lock the row of a submission until the transaction ends; False once it is withdrawn.

    Who withdraws holds the same row while they delete the texts. A text that is added or removed
    without it would come to be beside an answer that is deleted at that moment.
    """
    rows = Submission.objects.select_for_update(of=("self",), no_key=True)
    return list(rows.filter(pk=submission.pk).values_list("withdrawn_at", flat=True)) == [None]


@dataclass(frozen=True, slots=True)
class Sent:
    """A text of a page: `stored` is its answer as it was just read, None where there was none."""

    question: Question
    text: str
    revision: int | None
    stored: Response | None


def save_all(submission: Submission, sent: Sequence[Sent]) -> dict[int, Saved]:
    """Store the texts of a form as `save` does, by the key of the question; new ones at once.

    To be called in a transaction that holds the submission (`hold`).
    """
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
    replaces = revision == stored.revision or not stored.text
    if not replaces and not text:
        return Saved(OLDER_EMPTY, stored.text, stored.revision)
    if replaces and not (tab and has_others(stored)):
        return Saved(SAVED, text, stored.revision + 1) if _replace(stored, text) else None
    with transaction.atomic():
        if not hold(stored.submission):
            return Saved(ENDED, "", 0)
        if replaces:
            return Saved(SAVED, text, stored.revision + 1) if _replace(stored, text, tab) else None
        if not take_over:
            # Deleted while we waited for the lock: there is nothing to keep a text beside.
            if not Response.objects.filter(pk=stored.pk).exists():
                return None
            if not _has_room(stored, text, tab):
                return Saved(NOT_STORED, text, stored.revision)
            _keep(stored, text, tab)
            return Saved(BOTH_KEPT, stored.text, stored.revision)
        if not _has_room(stored, stored.text, ""):
            return Saved(NOT_STORED, text, stored.revision)
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


def _has_room(stored: Response, text: str, tab: str) -> bool:
    """Whether a text may be stored beside an answer, in the place of its own tab or as one more.

    Where there are too many, the oldest that the worker saw and left gives its place.
    """
    others = list(stored.other_texts.order_by("pk").values_list("pk", "tab", "settled_at"))
    if len(others) < MOST_OTHERS or (tab and any(one == tab for _, one, _ in others)):
        return True
    if not tab and stored.other_texts.filter(text=text).exists():
        return True
    left = [pk for pk, _, settled_at in others if settled_at is not None]
    return bool(stored.other_texts.filter(pk__in=left[:1]).delete()[0]) if left else False


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
