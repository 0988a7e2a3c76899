"""Result pages of a run of any type: declared pages, else report and tables."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from itertools import islice
from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponseBase
from django.urls import resolve, reverse

from annotations.web.query import parse_number
from evaluation.models import Run
from evaluation.runs.result_pages import Context, kind_or_404, results_page, run_or_404
from evaluation.runs.run_types import Kind, RunSummary

# Rows of a table on the page; the file has all.
SHOWN = 50
# No list is longer; a page begins before.
MOST = 10_000_000


def show_first_page(request: HttpRequest, run: UUID) -> HttpResponseBase:
    """Show the first results page, with the view that the run type declares."""
    pages = kind_or_404(run_or_404(request, run)).pages
    address = next((page.address for page in pages if not page.slug), "")
    if not address:
        return show_page(request, run=run)
    view = resolve(reverse(f"admin:{address}", kwargs={"run": run})).func
    shown: HttpResponseBase = view(request, run=run)
    return shown


@results_page("evaluation/kind.html", RunSummary)
def show_page(request: HttpRequest, run: Run, slug: str = "") -> Context:
    """Show one declared page of a run, or its generic report and tables."""
    kind = kind_or_404(run)
    shared = {
        "title": f"{kind.title}: {run.version.question_set.name}",
        "subtitle": f"Version {run.version.number}",
        "warnings": run.warnings,
    }
    for declared in kind.pages:
        if declared.slug == slug and not declared.address:
            if declared.paged is not None:
                first = parse_number(request.GET, "after", 0, MOST, blank=True) or 0
                return {**shared, "template": declared.template, **declared.paged(run, first)}
            return {**shared, "template": declared.template, **declared.context(run)}
    if slug:
        raise Http404("the kind has no such page")
    return {**shared, "facts": list_facts(kind.found(run)), "tables": load_first_rows(kind, run)}


def list_facts(report: Any) -> list[tuple[str, Any]]:
    """Return the plain fields of a report, with names turned into words."""
    return [
        (field.name.replace("_", " "), value)
        for field in fields(report)
        if not is_dataclass(value := getattr(report, field.name))
        and not isinstance(value, list | tuple | dict)
    ]


def load_first_rows(kind: Kind, run: Run) -> list[dict[str, Any]]:
    """Return the first 50 rows of each table, and whether there are more."""
    tables = []
    for name, table_of in kind.tables.items():
        table = table_of(run)
        rows = list(islice(table.rows, SHOWN + 1))
        tables.append(
            {"name": name, "header": table.header, "rows": rows[:SHOWN], "more": len(rows) > SHOWN}
        )
    return tables
