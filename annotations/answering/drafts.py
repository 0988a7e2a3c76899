"""Drafts of answers, saved while a worker types; no text is overwritten without being shown.

A page sends the revision of the text that it shows. If another tab or device has saved since, both
texts are stored. One becomes the answer's text, the other an `OtherText` until the worker chooses.
An empty field of an outdated page overwrites nothing.
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

MAX_DRAFT_LENGTH: Final = 200_000
"""Longest draft in characters. The limit of an answer is lower and applies when it is submitted."""

MAX_OTHER_TEXTS: Final = 20
"""Most other texts of one answer. Without a limit, a person with a link could fill the disk."""

# Outcomes of saving a text.
SAVED: Final = "saved"
SAME: Final = "same"
BOTH_KEPT: Final = "both_kept"
OLDER_EMPTY: Final = "older_empty"
NOT_STORED: Final = "not_stored"
ENDED: Final = "ended"
NO_CHOICE: Final = "no_choice"


@dataclass(frozen=True, slots=True)
class SaveResult:
    """Result of saving a text: a code such as `SAVED`, and the stored text with its revision."""

    outcome: str
    text: str
    revision: int


def clean_text(text: str) -> str:
    r"""Return a text in its stored form: LF line ends, no NUL characters, no lone surrogates.

    A text without a visible character becomes "". Everything else stays as written, also spaces at
    the ends and combining marks.
    """
    # PostgreSQL refuses NUL characters, and UTF-8 cannot encode lone surrogates.
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\x00", "")
    text = text.encode("utf-8", "replace").decode("utf-8")
    return "" if is_blank(text) else text


def save_draft(
    submission: Submission,
    question: Question,
    text: str,
    revision: int | None,
    *,
    tab: str = "",
    take_over: bool = True,
) -> SaveResult:
    """Store the text of a worker's answer to a question, and return the outcome.

    Parameters
    ----------
    revision : the revision of the text that the page showed; 0 for none, None if unknown.
    tab : the name of the tab that saves automatically, "" for a submitted form.
    take_over : which of two conflicting texts becomes the answer's. True: this one, and the stored
        one becomes an other text. False: the reverse, as for a tab that saves automatically.

    A text is not stored if it is not one of the question's choices (no_choice), if it has more than
    `MAX_DRAFT_LENGTH` characters or would exceed `MAX_OTHER_TEXTS` (not_stored), or if the
    submission has ended (ended).
    """
    text = clean_text(text)
    if len(text) > MAX_DRAFT_LENGTH:
        return SaveResult(NOT_STORED, text, revision or 0)
    if not is_valid_answer(question, text):
        return SaveResult(NO_CHOICE, text, revision or 0)
    # Without a lock: if another request stores a text between our reading and writing, try again.
    for _ in range(5):
        stored = load_responses(submission, [question.pk]).get(question.pk)
        if stored is None:
            try:
                with transaction.atomic():
                    if not lock_submission(submission):
                        return SaveResult(ENDED, "", 0)
                    response = _build_response(submission, question, text)
                    response.save(force_insert=True)
            except IntegrityError:
                continue  # another request was first
            return SaveResult(SAVED, text, response.revision)
        result = _overwrite_text(stored, text, revision, tab, take_over)
        if result is not None:
            return result
    return SaveResult(NOT_STORED, text, revision or 0)


def is_valid_answer(question: Question, text: str) -> bool:
    """Return whether a text is valid as an answer; a choice question accepts its choices or ""."""
    return not text or question.kind != Question.Kind.CHOICE or text in question.choices


def lock_submission(submission: Submission) -> bool:
    """Lock a submission until the transaction ends; return False if it was withdrawn."""
    # `withdraw` locks the same row while it deletes the texts. Without the lock, an other text
    # could be inserted for an answer that is just being deleted.
    # `no_key`: inserting rows that refer to the submission must not wait for this lock.
    rows = Submission.objects.select_for_update(of=("self",), no_key=True)
    return list(rows.filter(pk=submission.pk).values_list("withdrawn_at", flat=True)) == [None]


@dataclass(frozen=True, slots=True)
class PostedText:
    """A posted text of one answer; `stored` is the answer in the database, None without one."""

    question: Question
    text: str
    revision: int | None
    stored: Response | None


def save_drafts(submission: Submission, texts: Sequence[PostedText]) -> dict[int, SaveResult]:
    """Store the posted texts as `save_draft` does; return the results by question key.

    Call it in a transaction that holds the lock of `lock_submission`.
    """
    results: dict[int, SaveResult] = {}
    new: list[Response] = []
    for posted in texts:
        text = clean_text(posted.text)
        if len(text) > MAX_DRAFT_LENGTH:
            continue
        if posted.stored is None:
            new.append(_build_response(submission, posted.question, text))
        elif result := _overwrite_text(posted.stored, text, posted.revision, "", True):
            results[posted.question.pk] = result
    if new:
        # If another request inserted one of them first, the whole insert fails, and each text is
        # saved by itself below.
        with suppress(IntegrityError), transaction.atomic():
            Response.objects.bulk_create(new)
            results |= {row.question_id: SaveResult(SAVED, row.text, row.revision) for row in new}
    return {
        posted.question.pk: results.get(posted.question.pk)
        or save_draft(submission, posted.question, posted.text, posted.revision)
        for posted in texts
    }


def load_responses(submission: Submission, questions: Sequence[int]) -> dict[int, Response]:
    """Return a submission's stored answers to the given questions, by question key.

    Only the columns that saving needs are loaded.
    """
    rows = (
        submission.responses.filter(question__in=questions)
        .only("submission", "question", "text", "state", "revision", "signals")
        # The join gives a row for each other text, but `has_other_texts` needs only one of them.
        .annotate(beside=F("other_texts"))
    )
    return {response.question_id: response for response in rows}


def has_other_texts(stored: Response) -> bool:
    """Return whether an answer has alternative texts from another tab or device.

    The answer was read by `load_responses`; alternative texts that the worker rejected count too.
    """
    return getattr(stored, "beside", 0) is not None


def choose_other_text(other: OtherText) -> SaveResult:
    """Replace an answer's text by the alternative that the worker chose; keep the replaced text.

    An other text is deleted if the answer had no text. Changes nothing once the answer is submitted
    (outcome `ENDED`).
    """
    with transaction.atomic():
        # Read under the lock: a hand-in from another tab comes before or after the swap.
        stored = Response.objects.select_for_update(of=("self",)).get(pk=other.response_id)
        if stored.state == Response.State.SUBMITTED:
            return SaveResult(ENDED, stored.text, stored.revision)
        before = stored.text
        stored.text, stored.status = other.text, _choose_status(other.text)
        stored.revision += 1
        stored.first_draft_at = stored.first_draft_at or timezone.now()
        stored.save(update_fields=["text", "status", "revision", "first_draft_at", "updated_at"])
        if before:
            other.text, other.tab = before, ""
            other.save(update_fields=["text", "tab"])
        else:
            other.delete()
    return SaveResult(SAVED, stored.text, stored.revision)


def reject_other_texts(submission: Submission, keys: list[int]) -> None:
    """Mark alternative texts (by key) as rejected by the worker, so that they are hidden."""
    if keys:
        others = OtherText.objects.filter(pk__in=keys, response__submission=submission)
        others.filter(settled_at=None).update(settled_at=timezone.now())


def _build_response(submission: Submission, question: Question, text: str) -> Response:
    """Return an unsaved draft of a submission's answer to a question."""
    return Response(
        submission=submission,
        question_id=question.pk,  # by key: the question object is shared between requests
        text=text,
        status=_choose_status(text),
        first_draft_at=timezone.now() if text else None,
        signals=Response.Counted.OFF if submission.signals_off else "",
        language=submission.language,
    )


def _overwrite_text(
    stored: Response, text: str, revision: int | None, tab: str, take_over: bool
) -> SaveResult | None:
    """Store a new text of an answer, or both texts after a conflict; None asks to try again.

    None means that another request changed the answer meanwhile.
    """
    if stored.state == Response.State.SUBMITTED:
        return SaveResult(ENDED, stored.text, stored.revision)
    if stored.text == text:
        return SaveResult(SAME, text, stored.revision)
    is_current = revision == stored.revision or not stored.text
    if not is_current and not text:
        return SaveResult(OLDER_EMPTY, stored.text, stored.revision)
    if is_current and not (tab and has_other_texts(stored)):
        return SaveResult(SAVED, text, stored.revision + 1) if _update_text(stored, text) else None
    with transaction.atomic():
        if not lock_submission(stored.submission):
            return SaveResult(ENDED, "", 0)
        if is_current:
            return (
                SaveResult(SAVED, text, stored.revision + 1)
                if _update_text(stored, text, tab)
                else None
            )
        if not take_over:
            # The answer was deleted while we waited for the lock: an other text needs its row.
            if not Response.objects.filter(pk=stored.pk).exists():
                return None
            if not _make_room_for_other_text(stored, text, tab):
                return SaveResult(NOT_STORED, text, stored.revision)
            _store_other_text(stored, text, tab)
            return SaveResult(BOTH_KEPT, stored.text, stored.revision)
        if not _make_room_for_other_text(stored, stored.text, ""):
            return SaveResult(NOT_STORED, text, stored.revision)
        if not _update_text(stored, text):
            return None
        _store_other_text(stored, stored.text, "")
        return SaveResult(BOTH_KEPT, text, stored.revision + 1)


def _update_text(stored: Response, text: str, tab: str = "") -> bool:
    """Store a text if the answer's revision is unchanged; return whether it was stored.

    An other text of the same tab is deleted, because this text continues it.
    """
    now = timezone.now()
    # The filter on the revision is the lock: of two requests, one updates the row.
    n_updated = Response.objects.filter(
        pk=stored.pk, revision=stored.revision, state=Response.State.DRAFT
    ).update(
        text=text,
        status=_choose_status(text),
        revision=F("revision") + 1,
        language=stored.submission.language,
        first_draft_at=Coalesce("first_draft_at", now) if text else F("first_draft_at"),
        updated_at=now,
    )
    if n_updated and tab and has_other_texts(stored):
        stored.other_texts.filter(tab=tab).delete()
    return bool(n_updated)


def _make_room_for_other_text(stored: Response, text: str, tab: str) -> bool:
    """Return whether an alternative text can be added; delete a rejected one if that is needed.

    A tab replaces its own other text, and an equal text needs no row. At `MAX_OTHER_TEXTS` the
    oldest rejected one is deleted.
    """
    others = list(stored.other_texts.order_by("pk").values_list("pk", "tab", "settled_at"))
    if len(others) < MAX_OTHER_TEXTS or (tab and any(name == tab for _, name, _ in others)):
        return True
    if not tab and stored.other_texts.filter(text=text).exists():
        return True
    settled = [pk for pk, _, settled_at in others if settled_at is not None]
    return bool(stored.other_texts.filter(pk__in=settled[:1]).delete()[0]) if settled else False


def _store_other_text(stored: Response, text: str, tab: str) -> None:
    """Store an alternative text of an answer: at most one per tab, without repetitions."""
    if tab:
        OtherText.objects.update_or_create(
            response=stored, tab=tab, defaults={"text": text, "settled_at": None}
        )
    elif not stored.other_texts.filter(text=text).exists():
        OtherText.objects.create(response=stored, text=text)
    else:
        stored.other_texts.filter(text=text).update(settled_at=None)


def _choose_status(text: str) -> str:
    """Return the status of an answer by its text: empty or answered."""
    return Response.Status.TEXT if text else Response.Status.EMPTY
