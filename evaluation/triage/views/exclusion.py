"""Pages that accept all undecided workers, and that start a run without excluded ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from annotations.exchange.writing.formats import write_csv, write_lines, write_panel_csv
from annotations.ledger.panel_lists import build_list_name
from annotations.models import rights
from annotations.web.downloads import build_download_response
from annotations.web.query import parse_choice, parse_flag, parse_public_id
from annotations.web.scope import RefusedError, get_user_id
from evaluation.core.messages.message import format_count
from evaluation.core.options import SITE, OptionError
from evaluation.grading.results.pages import grading_file, grading_page
from evaluation.grading.summary import AqerSummary
from evaluation.models import Run, WorkerVerdict
from evaluation.models.runs import LONGEST_NAME
from evaluation.runs.background import exclusions
from evaluation.runs.forms import RunLabelForm
from evaluation.runs.reports.about import build_run_file_name
from evaluation.runs.result_pages import Context, build_breadcrumbs, get_kind_or_404, get_run_or_404
from evaluation.triage.batches import (
    NoWorkersLeftError,
    WorkersChangedError,
    accept_undecided,
    take_back_accepted_batch,
)
from evaluation.triage.report.exclusion import ExclusionPreview, RunPanelLists, preview_exclusion
from evaluation.triage.report.queue import MAX_LISTED, WorkerScope, find_undecided_workers
from evaluation.triage.storage import NothingToTakeBackError

ACCEPT_PROBLEMS = {
    "none_left": "No worker is left to accept.",
    "moved": "A decision was made or an alarm changed after you opened this page. No one was "
    "accepted. Check the current list below, then accept.",
}
"""Sentences that explain why no worker was accepted, by code."""

SCOPES = {"everybody": "all workers of the run", "look": "workers to review"}


@require_http_methods(["GET", "HEAD", "POST"])
def show_batch(request: HttpRequest, run: UUID) -> HttpResponseBase:
    """Show the workers that a batch would accept; a POST accepts them."""
    if request.method != "POST":
        return _render_batch_page(request, run=run)
    graded_run = _get_editable_run(request, run)
    scope, with_alarms = _read_batch_query(request.POST)
    try:
        batch = accept_undecided(
            graded_run, request.user, request.POST.get("seen", ""), scope, with_alarms=with_alarms
        )
    except NoWorkersLeftError:
        return _render_batch_problem(request, run, ACCEPT_PROBLEMS["none_left"])
    except WorkersChangedError:
        return _render_batch_problem(request, run, ACCEPT_PROBLEMS["moved"])
    messages.success(
        request,
        f"{format_count(batch.n, 'person')} accepted. “Take back” on this page undoes it as one.",
    )
    return redirect("admin:results-triage", graded_run.public_id)


@require_POST
def undo_batch(request: HttpRequest, run: UUID, together: UUID) -> HttpResponseBase:
    """Take back all acceptances of a batch, and redirect to the queue."""
    graded_run = _get_editable_run(request, run)
    try:
        taken_back = take_back_accepted_batch(graded_run, request.user, together)
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
def _render_batch_page(request: HttpRequest, run: Run, problem: str | None = None) -> Context:
    """Return the page context: workers who would be accepted, and who stay open and why.

    The query has `who` (scope) and `alarms` (whether alarmed workers are accepted, too).
    """
    scope, with_alarms = _read_batch_query(request.GET)
    undecided = find_undecided_workers(run, scope, with_alarms=with_alarms)
    queue_link = reverse("admin:results-triage", kwargs={"run": run.public_id})
    return {
        "title": "Accept everybody else",
        "breadcrumbs": [*build_breadcrumbs(run), ("Decide about people", queue_link)],
        "rest": undecided,
        "accepted": undecided.accepted_rows,
        "more": max(0, undecided.n - MAX_LISTED),
        "silent": undecided.silent_rows,
        "more_silent": max(0, len(undecided.silent) - MAX_LISTED),
        "left": undecided.left_rows,
        "more_left": max(0, undecided.n_left_out + len(undecided.again) - MAX_LISTED),
        "whos": SCOPES.items(),
        "problem": problem,
        "may": rights(request.user, run.version.question_set).edit,
    }


def _render_batch_problem(request: HttpRequest, run: UUID, problem: str) -> HttpResponseBase:
    """Render the page again with the user's choices and a problem; status 409."""
    # `make_results_page` renders only GET and HEAD.
    request.method = "GET"
    # The page reads the user's choices from the query.
    request.GET = request.POST
    response: Any = _render_batch_page(request, run=run, problem=problem)
    response.status_code = 409
    return response


def _read_batch_query(query: Any) -> tuple[WorkerScope, bool]:
    """Return (scope of the batch, whether workers named by alarms are included)."""
    scope = cast(WorkerScope, parse_choice(query, "who", SCOPES, "everybody"))
    return scope, parse_flag(query, "alarms")


def _get_editable_run(request: HttpRequest, run: UUID) -> Run:
    """Return a finished AQER run that the user may edit; else raise 404 or RefusedError."""
    graded_run = get_run_or_404(request, run)
    get_kind_or_404(graded_run, AqerSummary)
    if not rights(request.user, graded_run.version.question_set).edit:
        raise RefusedError("change")
    if graded_run.state != Run.State.DONE:
        raise Http404("the run has no results")
    return graded_run


FileWriter = tuple[str, Callable[[RunPanelLists], Any]]

DECISIONS = "decisions"
"""Name of the table of all decisions, which no panel takes."""

FILES: dict[str, FileWriter] = {
    "mturk": (
        "csv",
        lambda files: write_panel_csv(
            files.build_mturk_table().header, files.build_mturk_table().rows
        ),
    ),
    "prolific-approve": ("txt", lambda files: write_lines(files.list_prolific_approvals())),
    "prolific-reject": (
        "csv",
        lambda files: write_panel_csv(
            files.build_prolific_rejections().header, files.build_prolific_rejections().rows
        ),
    ),
    DECISIONS: (
        "csv",
        lambda files: write_csv(
            files.build_decision_table().header, files.build_decision_table().rows
        ),
    ),
}
"""Files by name: the extension, and the function that yields the chunks of the file."""


@require_http_methods(["GET", "HEAD", "POST"])
def start_run_without_excluded(request: HttpRequest, run: UUID) -> HttpResponseBase:
    """Show the effect of a run without the excluded workers; a POST starts the run."""
    if request.method != "POST":
        return _render_exclusion_page(request, run=run)
    graded_run = get_run_or_404(request, run)
    kind = get_kind_or_404(graded_run, AqerSummary)
    if not rights(request.user, graded_run.version.question_set).edit:
        raise RefusedError("change")
    if graded_run.state != Run.State.DONE:
        raise Http404("the run has no results")
    label = RunLabelForm(request.POST)
    if not label.is_valid():
        return _render_exclusion_problem(request, run, 400, label=label)
    seen = [verdict for verdict in request.POST.get("verdicts", "").split(",") if verdict]
    # All problems but an invalid option mean that the data changed since the page.
    status = 409
    try:
        new_run = exclusions.start_run_without_excluded(
            graded_run, get_user_id(request), seen, **label.get_labels()
        )
    except exclusions.NoExclusionsError:
        problem = "No worker is excluded, so the run would be the same."
    except exclusions.StaleDecisionsError:
        problem = (
            "The decisions changed since this page was opened. Below is what would happen now: "
            "read it, then start the run."
        )
    except exclusions.OtherSettingsError:
        problem = (
            "This run is of another version of the platform, whose settings are not known any "
            "more. Grade anew, and leave the workers out there."
        )
    except OptionError as error:
        status = 400
        problem = " ".join(
            f"{SITE.format_field_problem(kind.options, problem_found)}."
            for problem_found in error.problems
        )
    else:
        messages.success(request, "Started. Its results will be compared with this run.")
        return redirect("admin:run", new_run.public_id)
    return _render_exclusion_problem(request, run, status, problem=problem, label=label)


def _render_exclusion_problem(
    request: HttpRequest, run: UUID, status: int, **values: Any
) -> HttpResponseBase:
    """Render the page again with the posted label and a problem, with a given status code."""
    # `make_results_page` renders only GET and HEAD.
    request.method = "GET"
    response: Any = _render_exclusion_page(request, run=run, **values)
    response.status_code = status
    return response


@grading_page("evaluation/triage/apply.html")
def _render_exclusion_page(
    request: HttpRequest, run: Run, problem: str | None = None, label: RunLabelForm | None = None
) -> Context:
    """Return the page context: excluded workers, what remains, questions below 3 answers."""
    queue_link = reverse("admin:results-triage", kwargs={"run": run.public_id})
    result = preview_exclusion(run)
    return {
        "title": "Grade without the excluded",
        "breadcrumbs": [*build_breadcrumbs(run), ("Decide about people", queue_link)],
        "preview": result,
        "label": label or RunLabelForm(initial=_suggest_label(run, result)),
        "problem": problem,
        "may": rights(request.user, run.version.question_set).edit,
    }


def _suggest_label(run: Run, result: ExclusionPreview) -> dict[str, str]:
    """Return the suggested run name: the old one plus the number of excluded workers.

    As initial value of the form.

    Without the old name where both would be too long.
    """
    suffix = f"without {format_count(len(result.left_out), 'worker')}"
    old_name = run.name.strip()
    name = f"{old_name}, {suffix}" if old_name else suffix.capitalize()
    return {"name": name if len(name) <= LONGEST_NAME else suffix.capitalize()}


@grading_file
def send_decision_file(request: HttpRequest, run: Run, name: str) -> StreamingHttpResponse:
    """Send a file of decisions for a panel, or the table of all decisions.

    Files for a panel have the name and the content of the payment pages' files. `batch` in the
    query is the public id of one batch of Mechanical Turk, sent with all its rows.
    """
    if name not in FILES:
        raise Http404("there is no such file")
    files = RunPanelLists(run)
    file_name = (
        build_run_file_name(run, name) if name == DECISIONS else build_list_name(run.version, name)
    )
    if name == "mturk" and request.GET.get("batch"):
        batch = parse_public_id(request.GET, "batch")
        table = files.build_batch_table(batch) if batch else None
        if table is None:
            raise Http404("the set has no such batch")
        return build_download_response(write_panel_csv(table.header, table.rows), file_name, "csv")
    extension, write_chunks = FILES[name]
    return build_download_response(write_chunks(files), file_name, extension)
