"""Results of a run of any kind: the pages that its kind declares, else its report and tables."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from itertools import islice
from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponseBase

from evaluation.kinds import Kind
from evaluation.models import Run
from evaluation.site.results.page import Context, kind_or_404, results_page
from evaluation.site.results.run import results
from evaluation.site.runs import run_or_404

# Rows of a table on the page; the file has all.
SHOWN = 50


def first(request: HttpRequest, run: UUID) -> HttpResponseBase:
    """Show the first page of the results; AQER has pages of its own."""
    own = run_or_404(request, run).kind == "aqer"
    return results(request, run=run) if own else page(request, run=run)


@results_page("evaluation/kind.html", kind="")
def page(request: HttpRequest, run: Run, slug: str = "") -> Context:
    """Show a page of a run as its kind declares it."""
    kind = kind_or_404(run)
    shared = {
        "title": f"{kind.title}: {run.version.question_set.name}",
        "subtitle": f"Version {run.version.number}",
        "kind": kind,
        "slug": slug,
        "warnings": run.warnings,
    }
    for declared in kind.pages:
        if declared.slug == slug:
            return {**shared, "template": declared.template, **declared.context(run)}
    if slug:
        raise Http404("the kind has no such page")
    return {**shared, "facts": facts(kind.found(run)), "tables": shown_tables(kind, run)}


def facts(report: Any) -> list[tuple[str, Any]]:
    """Return the fields of a report that are plain values, with their names as words."""
    return [
        (field.name.replace("_", " "), value)
        for field in fields(report)
        if not is_dataclass(value := getattr(report, field.name))
        and not isinstance(value, list | tuple | dict)
    ]


def shown_tables(kind: Kind, run: Run) -> list[dict[str, Any]]:
    """Return the first rows of each table, and whether there are more."""
    shown = []
    for name, table_of in kind.tables.items():
        table = table_of(run)
        rows = list(islice(table.rows, SHOWN + 1))
        shown.append(
            {"name": name, "header": table.header, "rows": rows[:SHOWN], "more": len(rows) > SHOWN}
        )
    return shown
