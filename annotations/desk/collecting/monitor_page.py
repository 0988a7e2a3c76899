"""The page of a collection while workers answer, with a section that a script reloads."""

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
from annotations.answering.languages import describe_interface_language
from annotations.answering.rank_notice import find_rank_notice
from annotations.desk.collecting.forms import PlacesForm, WorkerIdsForm
from annotations.models import Collection, QuestionSet, Submission, rights
from annotations.web.pages import NEWEST_FIRST, build_breadcrumbs, load_page
from annotations.web.scope import get_set_with_answers, select_visible

STATE_LABELS = {
    "open": "answering",
    "submitted": "done",
    "returned": "withdrew",
    "timed_out": "out of time",
    "screened_out": "did not pass the practice",
}
"""Labels of the states of a submission."""
MAX_STAGES_SHOWN = 8
"""Most stages for which the page says how many workers left there; the rest is one number."""


def show_collection(
    request: HttpRequest,
    set_id: UUID,
    *,
    add: PlacesForm | None = None,
    ids: WorkerIdsForm | None = None,
) -> TemplateResponse:
    """Show a set's newest collection and its progress; without one, how to publish the set.

    `add` and `ids` are invalid forms, shown again with their errors and status 400.
    """
    question_set = get_set_with_answers(request, set_id)
    collection = monitor.find_newest_collection(question_set)
    context = build_collection_context(request, question_set, "People answer")
    latest = question_set.latest_version()
    context["reason"] = rules.find_publishing_error(latest) or ""
    context["newer"] = collection is not None and latest != collection.version
    if collection is None:
        return TemplateResponse(request, "annotations/collecting/begin.html", context)
    context |= build_progress_context(request, collection) | {
        "frame": describe_interface_language(collection.version),
        "link": links.build_collection_link(collection),
        "panel_link": links.build_prolific_link(collection),
        "ids": ids or WorkerIdsForm(auto_id="%s"),
        "add": add or PlacesForm(initial={"more": 10, "was": collection.places}, auto_id="%s"),
        "n_admitted": collection.admissions.count(),
    }
    status = 400 if add is not None or ids is not None else 200
    return TemplateResponse(
        request, "annotations/collecting/collecting.html", context, status=status
    )


@require_GET
def render_progress_section(request: HttpRequest, set_id: UUID) -> TemplateResponse:
    """Return the HTML of the progress section, which the collection page's script polls."""
    question_set = get_set_with_answers(request, set_id)
    collection = monitor.find_newest_collection(question_set)
    if collection is None:
        raise Http404("it is not published to workers")
    context = build_progress_context(request, collection) | {
        "question_set": question_set,
        "rights": rights(request.user, question_set),
    }
    response = TemplateResponse(request, "annotations/collecting/live.html", context)
    # The browser would otherwise show old counts after "Back".
    response["Cache-Control"] = "no-store"
    return response


def build_progress_context(request: HttpRequest, collection: Collection) -> dict[str, Any]:
    """Return the template context of the progress section: counts, stages, submissions.

    The number of queries does not depend on the number of workers.
    """
    now = monitor.load_collection_status(collection)
    rows = monitor.select_collected_submissions(
        collection, select_visible(request, Submission.objects.all())
    )
    page = load_page(request, rows, NEWEST_FIRST)
    # Only for the rows of this page, not for all submissions.
    page = replace(page, rows=monitor.load_submissions_with_stages(collection, page.rows))
    checked_at = timezone.now()
    for submission in page:
        submission.where = stages.describe_stage(submission)
        submission.seen = _format_age(submission.last_seen_at, checked_at)
    more = now.left[MAX_STAGES_SHOWN:]
    n_questions = monitor.annotate_answer_counts(collection).order_by().count()
    return {
        "collection": collection,
        "now": now,
        "at": checked_at,
        "states": [(STATE_LABELS[state], n) for state, n in now.states.items()],
        "left": now.left[:MAX_STAGES_SHOWN],
        "left_elsewhere": sum(stage.people for stage in more),
        "questions": monitor.list_least_answered_questions(collection),
        "n_questions": n_questions,
        "rank_notice": find_rank_notice(collection, n_questions),
        "page": page,
    }


def build_collection_context(
    request: HttpRequest, question_set: QuestionSet, title: str
) -> dict[str, Any]:
    """Return the template context that all collection pages of a question set share."""
    return {
        "title": title,
        "subtitle": question_set.name,
        "breadcrumbs": build_breadcrumbs(question_set),
        "notice": question_set.notice,
        "question_set": question_set,
        "rights": rights(request.user, question_set),
    }


def _format_age(then: Any, now: Any) -> str:
    """Return how long before `now` the time `then` was, such as "3 minutes ago"; "" if None."""
    if then is None:
        return ""
    if (now - then).total_seconds() < 60:
        return "less than a minute ago"
    return f"{timesince(then, now, depth=1)} ago"
