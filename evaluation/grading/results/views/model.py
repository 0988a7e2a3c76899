"""Web page of a language model in a run."""

from __future__ import annotations

from uuid import UUID

from django.http import Http404, HttpRequest

from evaluation.grading.results.pages import grading_page
from evaluation.grading.results.report.model import build_model_report
from evaluation.models import Run
from evaluation.runs.result_pages import Context


@grading_page("evaluation/model.html")
def show_model(request: HttpRequest, run: Run, model: UUID) -> Context:
    """Show a model's scores, its facts compared with the crowd's, and its answers.

    `after` (a page of answers) comes from the address.
    """
    report = build_model_report(run, model, request.GET.get("after", ""))
    if report is None:
        raise Http404("the run has no such model")
    return {"title": report.model.name, "report": report}
