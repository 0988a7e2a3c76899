"""Tables of a run that put all views together; the columns are those of the files."""

from __future__ import annotations

from dataclasses import astuple, fields
from typing import Any

from annotations.models import Question
from evaluation.flow.views.finding import (
    CorrelationRow,
    DisagreementRow,
    StandingRow,
    disagreement_of,
    disagreement_rows,
)
from evaluation.flow.views.summary import ViewsSummary
from evaluation.flow.views.tables import cell_header, cell_rows, model_rows
from evaluation.models import Run
from evaluation.reports.spreadsheet import Table
from evaluation.steps.views import together_of


def views_table(run: Run) -> Table:
    """Return a row for each question and model: the number of every view, and disagreement."""
    together = together_of(run, ViewsSummary.of(run.summary))
    return Table(cell_header(together), cell_rows(together))


def correlations_table(run: Run) -> Table:
    """Return how every two views go together, then each model's own."""
    summary = ViewsSummary.of(run.summary)
    rows = (*summary.correlations, *summary.own)
    return Table(_header(CorrelationRow), map(astuple, rows))


def models_table(run: Run) -> Table:
    """Return where each model stands in each view."""
    summary = ViewsSummary.of(run.summary)
    return Table(_header(StandingRow), map(astuple, model_rows(summary)))


def disagreements_table(run: Run) -> Table:
    """Return every answer with two sides or more, the strongest disagreement first."""
    together = together_of(run, ViewsSummary.of(run.summary))
    rows = disagreement_rows(together, disagreement_of(together))
    texts = dict(Question.objects.filter(version=run.version_id).values_list("external_id", "text"))
    return Table(
        (*_header(DisagreementRow), "text"),
        ((*astuple(row), texts.get(row.question)) for row in rows),
    )


def _header(row: Any) -> tuple[str, ...]:
    return tuple(field.name for field in fields(row))
