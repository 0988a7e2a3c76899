"""Pages of runs: the list, the page of one run, and its actions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import NoReverseMatch, reverse
from django.views.decorators.http import require_GET, require_POST

from annotations.models import rights
from annotations.web.pages import build_breadcrumbs
from annotations.web.scope import get_editable
from annotations.web.texts import mark_code
from evaluation.admission import storage as recruiting
from evaluation.core.options import Parameters
from evaluation.grading.results.report.of_record import read_official_run_of
from evaluation.models import Run
from evaluation.models.runs import ACTIVE
from evaluation.models.runs_of_record import choose
from evaluation.runs.background import runs as lifecycle
from evaluation.runs.background.liveness import HOW_TO_START, is_any_running
from evaluation.runs.background.progress import compute_progress, format_duration
from evaluation.runs.forms.run_label import RunLabelForm
from evaluation.runs.reports.list_filters import RunFilter
from evaluation.runs.reports.lists import filter_unarchived, select_list_rows
from evaluation.runs.reports.reply_counts import count_replies
from evaluation.runs.reports.run_titles import build_title
from evaluation.runs.reports.verdicts import build_applied_context
from evaluation.runs.result_pages import run_or_404
from evaluation.runs.run_types import Kind, UnknownKindError, get_options, get_run_kind
from evaluation.runs.run_types.run_list import list_runs

RUNS_PER_PAGE = 25


def show_runs(request: HttpRequest) -> HttpResponse:
    """List the visible runs, searched, filtered and sorted as `RunFilter` declares."""
    rows = filter_unarchived(lifecycle.visible_runs(request.user))
    list_of = (
        RunFilter(request.GET, rows)
        .offering(request.user)
        .listing(request, RUNS_PER_PAGE, select_list_rows)
    )
    page = list_of["page"]
    waits = any(run.state in ACTIVE for run in page)
    context = {
        "title": "Runs",
        **list_of,
        "runs": list_runs(page),
        "waiting": mark_code(HOW_TO_START) if waits and not is_any_running() else "",
    }
    return TemplateResponse(request, "admin/runs/list.html", context)


def show_run(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Show the state, settings and actions of one run."""
    shown = run_or_404(request, run_id)
    return _show_page(request, shown, RunLabelForm(instance=shown))


def _show_page(request: HttpRequest, shown: Run, label: RunLabelForm) -> HttpResponse:
    """Render a run's page, with the errors of its label form."""
    question_set = shown.version.question_set
    name, took = build_title(shown, get_options(shown)), None
    if shown.finished_at and shown.started_at:
        took = format_duration((shown.finished_at - shown.started_at).total_seconds())
    context = {
        "title": name.title,
        "subtitle": f"{shown.get_kind_display()} of {question_set.name}, version "
        f"{shown.version.number}, {shown.created_at:%-d %B %Y, %H:%M} UTC",
        "called": name,
        "label": label,
        "record": read_official_run_of(shown),
        "breadcrumbs": build_breadcrumbs(question_set),
        "notice": question_set.notice,
        "run": shown,
        "rights": rights(request.user, question_set),
        "question_set": question_set,
        "progress": compute_progress(shown),
        "how_to_start": mark_code(HOW_TO_START),
        "took": took,
        **build_applied_context(shown),
        **build_kind_context(shown),
    }
    status = 400 if label.errors else 200
    return TemplateResponse(request, "admin/runs/run.html", context, status=status)


def build_kind_context(run: Run) -> dict[str, Any]:
    """Return the page context that depends on the run type."""
    try:
        kind = get_run_kind(run)
    except UnknownKindError as error:
        return {"unknown": error, **_build_settings_context(Parameters, run)}
    done = run.state == Run.State.DONE
    return {
        "kind": kind,
        **_build_settings_context(kind.options, run, kind.named(run) if kind.named else {}),
        "counts": kind.counts_of(run).items() if done else (),
        "came": count_replies(kind.summary_of(run)) if done else (),
        "results": find_results_address(run),
        **build_standing_context(kind, run),
    }


def build_standing_context(kind: Kind, run: Run) -> dict[str, Any]:
    """Return context and template of the run type's own status part; {} without one."""
    if kind.standing is None:
        return {}
    return {**kind.standing.context(run), "standing": kind.standing.template}


def _build_settings_context(
    options: type[Parameters], run: Run, named: Mapping[str, str] = MappingProxyType({})
) -> dict[str, Any]:
    """Return all settings of a run, and those that differ from the defaults."""
    settings = [
        replace(one, value=named.get(one.name, one.value))
        for one in options.settings(run.parameters)
    ]
    return {"settings": settings, "differences": [one for one in settings if not one.is_default]}


@require_GET
def show_run_standing(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Render the run type's own status part, for the page's script."""
    shown = run_or_404(request, run_id)
    try:
        context = build_standing_context(get_run_kind(shown), shown)
    except UnknownKindError as error:
        raise Http404(str(error)) from error
    if not context:
        raise Http404("runs of this kind have no such part")
    return TemplateResponse(request, context["standing"], context)


@require_GET
def send_run_status(request: HttpRequest, run_id: UUID) -> JsonResponse:
    """Send a run's progress as JSON, for the script of its page."""
    return JsonResponse(compute_progress(run_or_404(request, run_id)).as_dict())


@require_POST
def cancel_run(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Cancel an unfinished run."""
    shown = get_editable(request, Run.objects.all(), run_id)
    if lifecycle.cancel_run(shown):
        messages.success(request, "The run is cancelled. The next one uses its vectors.")
    else:
        messages.info(request, f"The run had ended before: it is {shown.get_state_display()}.")
    return redirect("admin:run", shown.public_id)


@require_POST
def pause_run(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Pause a queued or running run."""
    shown = get_editable(request, Run.objects.all(), run_id)
    if not lifecycle.pause_run(shown) and shown.is_finished:
        messages.info(request, f"The run had ended before: it is {shown.get_state_display()}.")
    return redirect("admin:run", shown.public_id)


@require_POST
def resume_run(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Resume a paused run."""
    shown = get_editable(request, Run.objects.all(), run_id)
    if not lifecycle.resume_run(shown) and shown.is_finished:
        messages.info(request, f"The run had ended before: it is {shown.get_state_display()}.")
    return redirect("admin:run", shown.public_id)


@require_POST
def label_run(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Save a run's name and notes; show its page again with the form's errors."""
    shown = get_editable(request, Run.objects.select_related("version__question_set"), run_id)
    label = RunLabelForm(request.POST, instance=shown)
    if not label.is_valid():
        shown.refresh_from_db(fields=["name", "notes"])
        return _show_page(request, shown, label)
    lifecycle.rename_run(shown, **label.said())
    messages.success(request, "The name and the notes are saved.")
    return redirect("admin:run", shown.public_id)


@require_POST
def make_run_official(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Make a finished run the official one of its set: exports and the API use it.

    Who says so on the results (`back`) stays there.
    """
    shown = get_editable(request, Run.objects.select_related("version__question_set"), run_id)
    if shown.state == Run.State.DONE:
        choose(shown, request.user)
        # Admission rules on this set's scores are applied anew, now by this run.
        recruiting.follow(shown.version.question_set_id)
        text = "This run counts for the set from now on: exports, the API and the overview use it."
        messages.success(request, text, "run_counts")
    else:
        said = "Only a run that is done can count for the set."
        messages.error(request, said, "run_not_done")
    results = find_results_address(shown) if request.POST.get("back") == "results" else ""
    return redirect(results) if results else redirect("admin:run", shown.public_id)


def find_results_address(run: Run) -> str:
    """Return the URL of a finished run's results; "" without one."""
    if run.state != Run.State.DONE:
        return ""
    try:
        return reverse("admin:results-run", args=[run.public_id])
    except NoReverseMatch:
        return ""
