"""Endpoint with which the page's script saves a text while the worker types."""

from __future__ import annotations

from contextlib import nullcontext
from uuid import UUID

from django.db import transaction
from django.http import HttpRequest, HttpResponse, JsonResponse

from annotations.answering import drafts, signals
from annotations.answering.errors import AnsweringError
from annotations.answering.places import extend_reservation, has_place, reserve_place_again
from annotations.answering.progress import SurveyProgress
from annotations.models import Question
from annotations.worker_pages.rendering import disable_caching
from annotations.worker_pages.visit import (
    Visit,
    find_end_code,
    parse_form_number,
    require_submission,
)

STATUS_BY_OUTCOME = {
    drafts.BOTH_KEPT: 409,
    drafts.OLDER_EMPTY: 409,
    drafts.NOT_STORED: 413,
    drafts.ENDED: 410,
    drafts.NO_CHOICE: 400,
}
MAX_TAB_LENGTH = 36
STORABLE_REFUSALS = ("", "closed", "place_lost")
"""End codes at which a text is still stored: none, and those of a text that came too late."""


@require_submission
def save_draft(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Store the posted text of one answer and return the result as JSON.

    Form fields: `question` (id), `text`, `revision` (of the text that the page showed), `tab` and
    `signals` (the counts of the page). JSON keys: `saved` and `revision`; `text` if another tab
    saved a different text (409); `ended` with a code if nothing can be submitted any more (410);
    `counted` false if signals are no longer wanted. The page may show "Saved" only if `saved` is
    true.
    """
    if request.method != "POST":
        # The script of a page tests with GET whether the server can be reached.
        return _build_json_response(200, here=True)
    ended = find_end_code(visit) or _reserve_expired_place(visit)
    try:
        question = _find_open_question(visit, request.POST.get("question", ""))
    except AnsweringError as error:
        return _build_json_response(410, saved=False, ended=error.code)
    text = request.POST.get("text")
    if ended not in STORABLE_REFUSALS:
        return _build_json_response(410, saved=False, ended=ended)
    if question is None or text is None:
        return _build_json_response(400, saved=False)
    sent = request.POST.get(signals.FIELD, "")
    # One commit for both: every worker sends a draft every few seconds.
    with transaction.atomic() if sent else nullcontext():
        saved = drafts.save_draft(
            visit.submission,
            question,
            text,
            parse_form_number(request.POST.get("revision", "")),
            tab=request.POST.get("tab", "").replace("\x00", "")[:MAX_TAB_LENGTH],
            take_over=False,
        )
        signals.store_signal_counts(visit.submission, {question.pk: sent})
    extend_reservation(visit.submission)
    facts: dict[str, object] = {"revision": saved.revision}
    if sent and not signals.are_signals_counted(visit.submission):
        facts["counted"] = False
    status = STATUS_BY_OUTCOME.get(saved.outcome, 200)
    if status == 409:
        facts["text"] = saved.text
    if ended:
        status, facts["ended"] = 410, ended
    # Of two different texts both are stored, except an empty field of an outdated page.
    is_kept = saved.outcome in (drafts.SAVED, drafts.SAME, drafts.BOTH_KEPT)
    return _build_json_response(status, saved=is_kept, **facts)


def _reserve_expired_place(visit: Visit) -> str:
    """Reserve an expired place again; return the code for why it failed, or ""."""
    if has_place(visit.submission):
        return ""
    try:
        visit.submission = reserve_place_again(visit.submission)
    except AnsweringError as error:
        return error.code
    visit.progress = SurveyProgress(visit.submission)
    return ""


def _find_open_question(visit: Visit, value: str) -> Question | None:
    """Return the question with this public id if the worker may answer it now; else None."""
    try:
        public_id = UUID(value)
    except ValueError:
        return None
    for page in visit.progress.pages:
        for assignment in page.assignments:
            if assignment.question.public_id == public_id:
                is_open = visit.progress.may_show_page(page) and not page.answers_are_final
                return assignment.question if is_open else None
    return None


def _build_json_response(status: int, **facts: object) -> HttpResponse:
    """Return a response with `facts` as JSON, which no cache may store."""
    return disable_caching(JsonResponse(facts, status=status))
