"""Page of a collection, with the interim grading of the answers so far."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.views.decorators.http import require_GET, require_POST

from annotations.answering import monitor
from annotations.desk.collecting import monitor_page, pages
from annotations.web.scope import get_editable_set_with_answers, get_user_id
from annotations.web.texts import mark_code
from evaluation.consensus.parameters import AqerParameters
from evaluation.core.options import SITE, OptionError
from evaluation.interim import turns as interims
from evaluation.interim.report import build_interim_report
from evaluation.models.collecting import FEWEST
from evaluation.runs.background.progress import HOW_TO_START, is_any_process_running


def show_collection(request: HttpRequest, set_id: UUID) -> HttpResponseBase:
    """Show the page of a collection, with its latest interim grading."""
    return _add_interim_report(monitor_page.show_collection(request, set_id))


@require_GET
def show_live_part(request: HttpRequest, set_id: UUID) -> HttpResponseBase:
    """Show the part of the collection's page that updates itself."""
    return _add_interim_report(monitor_page.render_progress_section(request, set_id))


@require_POST
def raise_places(request: HttpRequest, set_id: UUID) -> HttpResponseBase:
    """Raise the number of places for workers; show an invalid form again."""
    return _add_interim_report(pages.add_places(request, set_id))


@require_POST
def admit_ids(request: HttpRequest, set_id: UUID) -> HttpResponseBase:
    """Create signed links for worker ids, or admit the ids; show an invalid form again."""
    return _add_interim_report(pages.submit_worker_ids(request, set_id))


@require_POST
def start_grading(request: HttpRequest, set_id: UUID) -> HttpResponse:
    """Start an interim grading of a set's collection, and redirect to its page with a message."""
    question_set = get_editable_set_with_answers(request, set_id)
    collection = monitor.find_newest_collection(question_set)
    if collection is None:
        raise Http404("it is not published to workers")
    try:
        interims.start_interim(collection, get_user_id(request))
        message = "The answers so far are being graded. You may leave this page."
        messages.success(request, message, "grading_begun")
    except interims.TooFewError as error:
        messages.error(
            request,
            f"{error.done:,} of the {FEWEST} people that a grading needs have handed in: "
            "try again when there are more.",
            "too_few_people",
        )
    except OptionError as error:
        messages.error(
            request,
            " ".join(
                SITE.format_field_problem(AqerParameters, problem) for problem in error.problems
            ),
        )
    return redirect("admin:collecting", question_set.public_id)


def _add_interim_report(response: HttpResponseBase) -> HttpResponseBase:
    """Add the interim report to the context of a collection's page; return the response."""
    context = response.context_data if isinstance(response, TemplateResponse) else None
    if context is not None and "collection" in context:
        latest = build_interim_report(context["collection"])
        context["so_far"] = latest
        if latest.going is not None and not is_any_process_running():
            context["waiting"] = mark_code(HOW_TO_START)
    return response
