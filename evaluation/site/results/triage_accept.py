"""Accepting everybody of whom nobody decided by one press, and taking it back by one."""

from __future__ import annotations

from typing import Any, cast
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from annotations.models import rights
from annotations.web.query import choice, flag
from annotations.web.scope import RefusedError
from evaluation.background.accepting import (
    MovedMeanwhileError,
    NobodyLeftError,
    accept_rest,
    take_back_accepted,
)
from evaluation.flow.aqer_summary import AqerSummary
from evaluation.models import Run, WorkerVerdict
from evaluation.reports.triage.rest import NAMED, Who, rest_of
from evaluation.site.results.page import Context, kind_or_404, results_page, way_here
from evaluation.site.runs import run_or_404
from evaluation.triaging import NothingToTakeBackError
from evaluation.words.message import counted

ACCEPT_PROBLEMS = {
    "none_left": "There is nobody left whom this could accept.",
    "moved": "Somebody decided, or an alarm changed, since this page was opened: nobody was "
    "accepted. Below is who it would be now: read it, then accept them.",
}
"""Why nobody was accepted, by code."""

WHO = {"everybody": "everybody in the run", "look": "who is worth looking at"}


@require_http_methods(["GET", "HEAD", "POST"])
def triage_accept(request: HttpRequest, run: UUID) -> HttpResponseBase:
    """Say who would be accepted and who would not; what is posted accepts them."""
    if request.method != "POST":
        return _page(request, run=run)
    shown = _editable(request, run)
    who, with_alarms = _asked(request.POST)
    try:
        done = accept_rest(
            shown, request.user, request.POST.get("seen", ""), who, with_alarms=with_alarms
        )
    except NobodyLeftError:
        return _again(request, run, ACCEPT_PROBLEMS["none_left"])
    except MovedMeanwhileError:
        return _again(request, run, ACCEPT_PROBLEMS["moved"])
    messages.success(
        request,
        f"{counted(done.n, 'person')} accepted. “Take back” on this page undoes it as one.",
    )
    return redirect("admin:results-triage", shown.public_id)


@require_POST
def triage_accept_undo(request: HttpRequest, run: UUID, together: UUID) -> HttpResponseBase:
    """Take back what one press accepted."""
    shown = _editable(request, run)
    try:
        back = take_back_accepted(shown, request.user, together)
    except WorkerVerdict.DoesNotExist:
        raise Http404("nothing of that id was accepted in the run") from None
    except NothingToTakeBackError:
        messages.warning(request, "That is taken back already.")
        return redirect("admin:results-triage", shown.public_id)
    said = f"Taken back: {counted(back.n, 'person')} accepted at once."
    if back.n_otherwise:
        n = counted(back.n_otherwise, "person")
        said += f" What was decided of {n} since stays as it is."
    messages.success(request, said)
    return redirect("admin:results-triage", shown.public_id)


@results_page("evaluation/triage/accept.html")
def _page(request: HttpRequest, run: Run, problem: str | None = None) -> Context:
    """Show who would be accepted, who would stay open and why; `who` and `alarms` choose."""
    who, with_alarms = _asked(request.GET)
    rest = rest_of(run, who, with_alarms=with_alarms)
    above = reverse("admin:results-triage", kwargs={"run": run.public_id})
    return {
        "title": "Accept everybody else",
        "breadcrumbs": [*way_here(run), ("Decide about people", above)],
        "rest": rest,
        "accepted": rest.accepted_rows,
        "more": max(0, rest.n - NAMED),
        "silent": rest.silent_rows,
        "more_silent": max(0, len(rest.silent) - NAMED),
        "left": rest.left_rows,
        "more_left": max(0, rest.n_left_out + len(rest.again) - NAMED),
        "whos": WHO.items(),
        "problem": problem,
        "may": rights(request.user, run.version.question_set).edit,
    }


def _again(request: HttpRequest, run: UUID, problem: str) -> HttpResponseBase:
    """Return the page as it is now, with what was chosen, and what is wrong."""
    request.method = "GET"
    request.GET = request.POST
    response: Any = _page(request, run=run, problem=problem)
    response.status_code = 409
    return response


def _asked(query: Any) -> tuple[Who, bool]:
    who = cast(Who, choice(query, "who", WHO, "everybody"))
    return who, flag(query, "alarms")


def _editable(request: HttpRequest, run: UUID) -> Run:
    shown = run_or_404(request, run)
    kind_or_404(shown, AqerSummary)
    if not rights(request.user, shown.version.question_set).edit:
        raise RefusedError("change")
    if shown.state != Run.State.DONE:
        raise Http404("the run has no results")
    return shown
