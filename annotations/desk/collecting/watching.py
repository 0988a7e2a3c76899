"""The page of a collecting while people answer, and the part of it that renews itself."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.timesince import timesince
from django.views.decorators.http import require_GET

from annotations.answering import collecting as rules
from annotations.answering import links, monitor, stages
from annotations.answering.languages import said_of
from annotations.desk.collecting.forms import IdsForm, PlacesForm
from annotations.models import Collection, QuestionSet, Submission, rights
from annotations.web.pages import NEWEST_FIRST, breadcrumbs, page_of
from annotations.web.scope import answered_set, visible

STATES = {
    "open": "answering",
    "submitted": "done",
    "returned": "withdrew",
    "timed_out": "out of time",
    "screened_out": "did not pass the practice",
}
"""Where people are, in words."""
LEFT_TOLD = 8
"""Sentences about who left where; the rest is told as a number."""


def collect(
    request: HttpRequest,
    set_id: UUID,
    *,
    add: PlacesForm | None = None,
    ids: IdsForm | None = None,
) -> TemplateResponse:
    """Show what is published and how far it is, or the form that publishes.

    `add` and `ids` are forms that were refused: they are shown as they were sent.
    """
    question_set = answered_set(request, set_id)
    collection = monitor.newest(question_set)
    context = page_context(request, question_set, "People answer")
    latest = question_set.latest_version()
    context["reason"] = rules.why_not_publishable(latest) or ""
    context["newer"] = collection is not None and latest != collection.version
    if collection is None:
        return TemplateResponse(request, "annotations/collecting/begin.html", context)
    context |= live_context(request, collection) | {
        "frame": said_of(collection.version),
        "link": links.link(collection),
        "panel_link": links.panel_link(collection),
        "ids": ids or IdsForm(auto_id="%s"),
        "add": add or PlacesForm(initial={"more": 10, "was": collection.places}, auto_id="%s"),
        "n_admitted": collection.admissions.count(),
    }
    status = 400 if add is not None or ids is not None else 200
    return TemplateResponse(
        request, "annotations/collecting/collecting.html", context, status=status
    )


@require_GET
def live(request: HttpRequest, set_id: UUID) -> TemplateResponse:
    """Return the part of the page that changes while people answer, for the script of the page."""
    question_set = answered_set(request, set_id)
    collection = monitor.newest(question_set)
    if collection is None:
        raise Http404("it is not published to workers")
    context = live_context(request, collection) | {
        "question_set": question_set,
        "rights": rights(request.user, question_set),
    }
    response = TemplateResponse(request, "annotations/collecting/live.html", context)
    response["Cache-Control"] = "no-store"
    return response


def live_context(request: HttpRequest, collection: Collection) -> dict[str, Any]:
    """Return what changes while people answer; the queries do not grow with the people."""
    now = monitor.collecting_now(collection)
    rows = monitor.people(collection, visible(request, Submission.objects.all()))
    page = page_of(request, rows, NEWEST_FIRST)
    page = replace(page, rows=monitor.with_where(collection, page.rows))
    at = timezone.now()
    for one in page:
        one.where = stages.where(one)
        one.seen = _ago(one.last_seen_at, at)
    more = now.left[LEFT_TOLD:]
    return {
        "collection": collection,
        "now": now,
        "at": at,
        "states": [(STATES[state], n) for state, n in now.states.items()],
        "left": now.left[:LEFT_TOLD],
        "left_elsewhere": sum(one.people for one in more),
        "questions": monitor.fewest_answers(collection),
        "n_questions": monitor.question_counts(collection).order_by().count(),
        "page": page,
    }


def page_context(request: HttpRequest, question_set: QuestionSet, title: str) -> dict[str, Any]:
    """Return what every page of collecting says of its set."""
    return {
        "title": title,
        "subtitle": question_set.name,
        "breadcrumbs": breadcrumbs(question_set),
        "notice": question_set.notice,
        "question_set": question_set,
        "rights": rights(request.user, question_set),
    }


def _ago(then: Any, now: Any) -> str:
    """Return how long ago somebody was seen, to the minute."""
    if then is None:
        return ""
    if (now - then).total_seconds() < 60:
        return "less than a minute ago"
    return f"{timesince(then, now, depth=1)} ago"
