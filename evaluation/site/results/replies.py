"""Pages about replies to prompts of the same meaning: texts side by side, and models compared."""

from __future__ import annotations

from django.http import HttpRequest

from annotations.web.query import choice, number
from evaluation.flow.eloquent.summary import EloquentSummary
from evaluation.models import Run
from evaluation.reports.comparisons import CORRECTED_BY
from evaluation.reports.eloquent import findings_with_people
from evaluation.reports.eloquent.compared import compared_report, differences_page, groups_of
from evaluation.reports.eloquent.texts import texts_page
from evaluation.site.results.comparisons import asked_correction
from evaluation.site.results.page import Context, results_page


@results_page("evaluation/reply_texts.html", EloquentSummary)
def texts(request: HttpRequest, run: Run) -> Context:
    """Show replies beside each other, the most unlike first; `model` and `start` choose."""
    findings = findings_with_people(run)
    names = ("", *findings.systems)
    model = choice(request.GET, "model", names, "")
    start = number(request.GET, "start", 0, 99_999_999, blank=True) or 0
    return {
        "title": "Texts side by side",
        "subtitle": run.version.question_set.name,
        "page": texts_page(findings, start, model),
        "systems": findings.systems,
        "model": model,
    }


@results_page("evaluation/reply_models.html", EloquentSummary)
def compared(request: HttpRequest, run: Run) -> Context:
    """Show which model is more robust, in which groups, and on which items two differ most."""
    findings = findings_with_people(run)
    correction = asked_correction(request.GET)
    systems = findings.systems
    report = compared_report(findings, groups_of(run, findings, correction))
    shown, first, second = None, "", ""
    if len(systems) > 1:
        first = choice(request.GET, "first", systems, systems[0])
        second = choice(request.GET, "second", systems, systems[1])
        start = number(request.GET, "start", 0, 99_999_999, blank=True) or 0
        shown = differences_page(findings, first, second, start) if first != second else None
    return {
        "title": "Models compared",
        "subtitle": run.version.question_set.name,
        "report": report,
        "correction": correction,
        "corrections": CORRECTED_BY,
        "parts": (
            ("By kind of variation", report.variations),
            ("By language", report.languages),
            ("Across languages", report.across),
        ),
        "first": first,
        "second": second,
        "differences": shown,
    }
