"""Pages that accept all undecided workers of a run in one batch and take the batch back."""

from __future__ import annotations

from typing import Any, cast
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from annotations.models import rights
from annotations.web.query import parse_choice, parse_flag
from annotations.web.scope import RefusedError
from evaluation.core.messages.message import format_count
from evaluation.grading.results.pages import grading_page
from evaluation.grading.summary import AqerSummary
from evaluation.models import Run, WorkerVerdict
from evaluation.runs.result_pages import Context, kind_or_404, run_or_404, way_here
from evaluation.triage.batches import (
    MovedMeanwhileError,
    NobodyLeftError,
    accept_undecided,
    take_back_accepted,
)
from evaluation.triage.report.queue import MAX_LISTED, WorkerScope, find_undecided
from evaluation.triage.storage import NothingToTakeBackError

ACCEPT_PROBLEMS = {
    "none_left": "No worker is left to accept.",
    "moved": "Somebody decided, or an alarm changed, since this page was opened: nobody was "
    "accepted. Below is who it would be now: read it, then accept them.",
}
"""Sentences that explain why no worker was accepted, by code."""

WHO = {"everybody": "everybody in the run", "look": "who is worth looking at"}


@require_http_methods(["GET", "HEAD", "POST"])
def confirm_batch(request: HttpRequest, run: UUID) -> HttpResponseBase:
    """Show the workers that a batch would accept; a POST accepts them."""
    if request.method != "POST":
        return _render_page(request, run=run)
    graded_run = _get_editable_run(request, run)
    scope, with_alarms = _read_query(request.POST)
    try:
        batch = accept_undecided(
            graded_run, request.user, request.POST.get("seen", ""), scope, with_alarms=with_alarms
        )
    except NobodyLeftError:
        return _render_problem(request, run, ACCEPT_PROBLEMS["none_left"])
    except MovedMeanwhileError:
        return _render_problem(request, run, ACCEPT_PROBLEMS["moved"])
    messages.success(
        request,
        f"{format_count(batch.n, 'person')} accepted. “Take back” on this page undoes it as one.",
    )
    return redirect("admin:results-triage", graded_run.public_id)


@require_POST
def undo_batch(request: HttpRequest, run: UUID, together: UUID) -> HttpResponseBase:
    """Take back all acceptances of a batch."""
    graded_run = _get_editable_run(request, run)
    try:
        taken_back = take_back_accepted(graded_run, request.user, together)
    except WorkerVerdict.DoesNotExist:
        raise Http404("nothing of that id was accepted in the run") from None
    except NothingToTakeBackError:
        messages.warning(request, "That is taken back already.")
        return redirect("admin:results-triage", graded_run.public_id)
    sentence = f"Taken back: {format_count(taken_back.n, 'person')} accepted at once."
    if taken_back.n_otherwise:
        n = format_count(taken_back.n_otherwise, "person")
        sentence += f" What was decided of {n} since stays as it is."
    messages.success(request, sentence)
    return redirect("admin:results-triage", graded_run.public_id)


@grading_page("evaluation/triage/accept.html")
def _render_page(request: HttpRequest, run: Run, problem: str | None = None) -> Context:
    """Return the page context: workers who would be accepted, and who stay open and why.

    The query has `who` (scope) and `alarms` (whether alarmed workers are accepted, too).
    """
    scope, with_alarms = _read_query(request.GET)
    undecided = find_undecided(run, scope, with_alarms=with_alarms)
    queue_link = reverse("admin:results-triage", kwargs={"run": run.public_id})
    return {
        "title": "Accept everybody else",
        "breadcrumbs": [*way_here(run), ("Decide about people", queue_link)],
        "rest": undecided,
        "accepted": undecided.accepted_rows,
        "more": max(0, undecided.n - MAX_LISTED),
        "silent": undecided.silent_rows,
        "more_silent": max(0, len(undecided.silent) - MAX_LISTED),
        "left": undecided.left_rows,
        "more_left": max(0, undecided.n_left_out + len(undecided.again) - MAX_LISTED),
        "whos": WHO.items(),
        "problem": problem,
        "may": rights(request.user, run.version.question_set).edit,
    }


def _render_problem(request: HttpRequest, run: UUID, problem: str) -> HttpResponseBase:
    """Render the page again with the user's choices and a problem; status 409."""
    # `results_page` renders only GET and HEAD.
    request.method = "GET"
    # The page reads the user's choices from the query.
    request.GET = request.POST
    response: Any = _render_page(request, run=run, problem=problem)
    response.status_code = 409
    return response


def _read_query(query: Any) -> tuple[WorkerScope, bool]:
    """Return the scope and whether workers named by alarms are included."""
    scope = cast(WorkerScope, parse_choice(query, "who", WHO, "everybody"))
    return scope, parse_flag(query, "alarms")


def _get_editable_run(request: HttpRequest, run: UUID) -> Run:
    """Return a finished AQER run that the user may edit; else raise 404 or RefusedError."""
    graded_run = run_or_404(request, run)
    kind_or_404(graded_run, AqerSummary)
    if not rights(request.user, graded_run.version.question_set).edit:
        raise RefusedError("change")
    if graded_run.state != Run.State.DONE:
        raise Http404("the run has no results")
    return graded_run
