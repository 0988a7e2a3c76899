"""What the pages of results share: the run, who may see it, and what if it is not done."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponseBase
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.views.generic import TemplateView

from evaluation.models import Run
from evaluation.reports import BadCursorError, about
from evaluation.site.results.links import question_set_link, results_link, status_link


def visible_run(request: HttpRequest, public_id: UUID) -> Run:
    """Return a run that the user may see, with its question set; 404 for all others."""
    runs = Run.objects.visible_to(request.user).select_related("version__question_set")
    return get_object_or_404(runs, public_id=public_id)


class ResultsPage(TemplateView):
    """A page of the results of the run in `self.results_of`."""

    results_of: Run

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        """Show the page, or that there are no results."""
        self.results_of = visible_run(request, kwargs["run"])
        if self.results_of.state != Run.State.DONE:
            return self.without_results()
        try:
            return super().get(request, *args, **kwargs)
        except BadCursorError as error:
            raise Http404("no such page of the list") from error

    def without_results(self) -> HttpResponseBase:
        """Return the page of a run that is waiting, running, failed or cancelled."""
        run = self.results_of
        context = {
            "title": f"Results of {run.version.question_set.name}",
            "about": about(run),
            "error": run.error,
            "status_link": status_link(run),
            "breadcrumbs": self.way_here()[:1],
        }
        return TemplateResponse(self.request, "evaluation/no_results.html", context)

    def way_here(self) -> list[tuple[str, str]]:
        """Return the pages above the ones of a worker, a question or the models."""
        run = self.results_of
        return [
            (run.version.question_set.name, question_set_link(run)),
            ("Results", results_link(run)),
        ]

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Add what every page shows."""
        run = self.results_of
        return super().get_context_data(
            breadcrumbs=self.way_here(),
            notice=run.version.question_set.notice,
            about=about(run),
            status_link=status_link(run),
            **kwargs,
        )
