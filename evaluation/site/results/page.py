"""What pages and files of results share: the run, who may see it, what if it is not done."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponseBase
from django.template.response import TemplateResponse
from django.views.decorators.http import require_safe

from annotations.web.pages import Breadcrumbs
from evaluation.kinds import Kind, UnknownKindError, kind_of
from evaluation.models import Run
from evaluation.reports import about
from evaluation.site.results.links import question_set_link, results_link, status_link
from evaluation.site.runs import run_or_404
from evaluation.words.site import said

Context = dict[str, Any]
View = Callable[..., HttpResponseBase]


def kind_or_404(run: Run) -> Kind:
    """Return the kind of a run; 404 for one that the site does not know (any more)."""
    try:
        return kind_of(run)
    except UnknownKindError as error:
        raise Http404(str(error)) from error


def results_page(template: str, kind: str = "aqer") -> Callable[[Callable[..., Context]], View]:
    """Make a view of a function that takes the request, a run that is done and further ids.

    It returns what the template shows, beside what every page does; a run that is not done gets a
    page that says so, and one of another kind is not found. `kind` is "" for any. The function may
    name another `template`.
    """

    def made(shown: Callable[..., Context]) -> View:
        @require_safe
        @wraps(shown)
        def view(request: HttpRequest, run: UUID, **ids: Any) -> HttpResponseBase:
            found = run_or_404(request, run, kind)
            if found.state != Run.State.DONE:
                return _without_results(request, found)
            context = {
                "breadcrumbs": way_here(found),
                "notice": found.version.question_set.notice,
                "about": about(found),
                "status_link": status_link(found),
            }
            own = shown(request, found, **ids)
            return TemplateResponse(request, own.get("template", template), context | own)

        return view

    return made


def results_file(made: View, kind: str = "aqer") -> View:
    """Make a view of a function that takes the request, a run and further ids and sends a file.

    404 for a run that is not done or of another kind; `kind` is "" for any.
    """

    @require_safe
    @wraps(made)
    def view(request: HttpRequest, run: UUID, **ids: Any) -> HttpResponseBase:
        found = run_or_404(request, run, kind)
        if found.state != Run.State.DONE:
            raise Http404("the run has no results")
        return made(request, found, **ids)

    return view


def way_here(run: Run) -> Breadcrumbs:
    """Return the pages above the ones of a worker, a question or the models."""
    return [
        (run.version.question_set.name, question_set_link(run)),
        ("Results", results_link(run)),
    ]


def _without_results(request: HttpRequest, run: Run) -> HttpResponseBase:
    """Return the page of a run that is waiting, running, failed or cancelled."""
    context = {
        "title": f"Results of {run.version.question_set.name}",
        "about": about(run),
        "error": said(run.error),
        "status_link": status_link(run),
        "breadcrumbs": way_here(run)[:1],
    }
    return TemplateResponse(request, "evaluation/no_results.html", context)
