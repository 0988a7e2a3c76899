"""What decisions about people lead to: a run without the excluded, and lists for panels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from annotations.exchange.writing.formats import csv_chunks, lines_chunks, panel_csv_chunks
from annotations.models import rights
from annotations.web.downloads import download
from annotations.web.query import public_id
from annotations.web.scope import RefusedError, user_id
from evaluation.background import exclusions
from evaluation.flow.aqer_summary import AqerSummary
from evaluation.models import Run
from evaluation.models.runs import LONGEST_NAME
from evaluation.options import SITE, OptionError
from evaluation.reports.called import file_of
from evaluation.reports.triage import Preview, preview
from evaluation.reports.triage.files import PanelFiles
from evaluation.site.results.page import (
    Context,
    kind_or_404,
    results_file,
    results_page,
    way_here,
)
from evaluation.site.run_label import RunLabelForm
from evaluation.site.runs import run_or_404
from evaluation.words.message import counted

Made = tuple[str, Callable[[PanelFiles], Any]]

FILES: dict[str, Made] = {
    "mturk": ("csv", lambda of: panel_csv_chunks(of.mturk().header, of.mturk().rows)),
    "prolific-approve": ("txt", lambda of: lines_chunks(of.prolific_approved())),
    "prolific-reject": (
        "csv",
        lambda of: panel_csv_chunks(of.prolific_rejected().header, of.prolific_rejected().rows),
    ),
    "decisions": ("csv", lambda of: csv_chunks(of.decisions().header, of.decisions().rows)),
}
"""By name: the form, and what makes it."""


@require_http_methods(["GET", "HEAD", "POST"])
def triage_apply(request: HttpRequest, run: UUID) -> HttpResponseBase:
    """Show what a run without the excluded would have left; what is posted starts it."""
    if request.method != "POST":
        return _page(request, run=run)
    shown = run_or_404(request, run)
    kind = kind_or_404(shown, AqerSummary)
    if not rights(request.user, shown.version.question_set).edit:
        raise RefusedError("change")
    if shown.state != Run.State.DONE:
        raise Http404("the run has no results")
    label = RunLabelForm(request.POST)
    if not label.is_valid():
        return _again(request, run, 400, label=label)
    seen = [one for one in request.POST.get("verdicts", "").split(",") if one]
    status = 409
    try:
        started = exclusions.apply(shown, user_id(request), seen, **label.said())
    except exclusions.NobodyExcludedError:
        problem = "Nobody is excluded: a run without nobody would be the same run."
    except exclusions.ChangedMeanwhileError:
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
        problem = " ".join(f"{SITE.sentence(kind.options, one)}." for one in error.problems)
    else:
        messages.success(request, "Started. Its results stand beside those of this run.")
        return redirect("admin:run", started.public_id)
    return _again(request, run, status, problem=problem, label=label)


def _again(request: HttpRequest, run: UUID, status: int, **values: Any) -> HttpResponseBase:
    """Return the page with what was posted, and what is wrong with it."""
    request.method = "GET"
    response: Any = _page(request, run=run, **values)
    response.status_code = status
    return response


@results_page("evaluation/triage/apply.html")
def _page(
    request: HttpRequest, run: Run, problem: str | None = None, label: RunLabelForm | None = None
) -> Context:
    """Show who is left out, what remains, and which questions become thin."""
    above = reverse("admin:results-triage", kwargs={"run": run.public_id})
    found = preview(run)
    return {
        "title": "Grade without the excluded",
        "breadcrumbs": [*way_here(run), ("Decide about people", above)],
        "preview": found,
        "label": label or RunLabelForm(initial=_label(run, found)),
        "problem": problem,
        "may": rights(request.user, run.version.question_set).edit,
    }


def _label(run: Run, found: Preview) -> dict[str, str]:
    """Return the name that a run gets if nobody writes another."""
    what = f"without {counted(len(found.left_out), 'worker')}"
    before = run.name.strip()
    name = f"{before}, {what}" if before else what.capitalize()
    return {"name": name if len(name) <= LONGEST_NAME else what.capitalize()}


@results_file
def triage_file(request: HttpRequest, run: Run, name: str) -> StreamingHttpResponse:
    """Send a list for a panel, or all decisions.

    `batch` in the address names a batch of Mechanical Turk that is to be whole.
    """
    if name not in FILES:
        raise Http404("there is no such file")
    files = PanelFiles(run)
    if name == "mturk" and request.GET.get("batch"):
        wanted = public_id(request.GET, "batch")
        table = files.batch(wanted) if wanted else None
        if table is None:
            raise Http404("the set has no such batch")
        return download(
            panel_csv_chunks(table.header, table.rows), file_of(run, "batch-reviewed"), "csv"
        )
    form, make = FILES[name]
    return download(make(files), file_of(run, name), form)
