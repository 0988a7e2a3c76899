"""A text that is saved while somebody types: for the script of the page, in a form's fields."""

from __future__ import annotations

from contextlib import nullcontext
from uuid import UUID

from django.db import transaction
from django.http import HttpRequest, HttpResponse, JsonResponse

from annotations.answering import drafts, signals
from annotations.answering.places import holds_place, keep_place, retake
from annotations.answering.refused import AnsweringError
from annotations.answering.way import Way
from annotations.models import Question
from annotations.worker_pages.showing import not_kept
from annotations.worker_pages.visit import Visit, own, whole_number, why_not

STATUS = {
    drafts.BOTH_KEPT: 409,
    drafts.OLDER_EMPTY: 409,
    drafts.NOT_STORED: 413,
    drafts.ENDED: 410,
    drafts.NO_CHOICE: 400,
}
LONGEST_TAB = 36
KEPT = ("", "closed", "place_lost")
"""Where a text is kept: while somebody answers, and where it only came too late."""


@own
def draft(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Keep one text: `question` (its id), `text`, `revision` (of the text it was made from), `tab`.

    `signals` is what the page counted, of which `counted` false in the answer says that it is not
    wanted any more. The answer is JSON: `saved`, `revision`, where another tab wrote something
    else (409) its `text`, and where nothing can be handed in any more (410) the reason as `ended`.
    "Saved" may be said only where `saved` is true.
    """
    if request.method != "POST":
        # So a page learns whether there is anybody to send a form to.
        return _said(200, here=True)
    ended = why_not(visit) or _taken_again(visit)
    question = _question(visit, request.POST.get("question", ""))
    text = request.POST.get("text")
    if ended not in KEPT:
        return _said(410, saved=False, ended=ended)
    if question is None or text is None:
        return _said(400, saved=False)
    sent = request.POST.get(signals.FIELD, "")
    # One commit for both: a draft comes every few seconds from everybody.
    with transaction.atomic() if sent else nullcontext():
        saved = drafts.save(
            visit.submission,
            question,
            text,
            whole_number(request.POST.get("revision", "")),
            tab=request.POST.get("tab", "").replace("\x00", "")[:LONGEST_TAB],
            take_over=False,
        )
        signals.note(visit.submission, {question.pk: sent})
    keep_place(visit.submission)
    facts: dict[str, object] = {"revision": saved.revision}
    if sent and not signals.are_counted(visit.submission):
        facts["counted"] = False
    status = STATUS.get(saved.outcome, 200)
    if status == 409:
        facts["text"] = saved.text
    if ended:
        status, facts["ended"] = 410, ended
    # An empty box of an older page is the one thing that is left out where two differ.
    is_kept = saved.outcome in (drafts.SAVED, drafts.SAME, drafts.BOTH_KEPT)
    return _said(status, saved=is_kept, **facts)


def _taken_again(visit: Visit) -> str:
    """Take a place that ran out again; return the code of why not, "" for who has one."""
    if holds_place(visit.submission):
        return ""
    try:
        visit.submission = retake(visit.submission)
    except AnsweringError as error:
        return error.code
    visit.way = Way(visit.submission)
    return ""


def _question(visit: Visit, value: str) -> Question | None:
    """Return a question that was shown to the worker and may be answered; else None."""
    try:
        public_id = UUID(value)
    except ValueError:
        return None
    for page in visit.way.pages:
        for one in page.assignments:
            if one.question.public_id == public_id:
                is_open = visit.way.has_reached(page) and not page.answers_are_final
                return one.question if is_open else None
    return None


def _said(status: int, **facts: object) -> HttpResponse:
    return not_kept(JsonResponse(facts, status=status))
