"""The tables of a run, with the columns of the files."""

from __future__ import annotations

from evaluation.flow.eloquent.found import ItemRow, SetRow
from evaluation.flow.eloquent.tables import (
    AGREEMENT,
    JUDGEMENT,
    REPLY,
    agreement_rows,
    judgement_cells,
    reply_cells,
)
from evaluation.flow.metrics import MetricRow
from evaluation.models import Run
from evaluation.reports.eloquent.people import findings_with_people
from evaluation.reports.spreadsheet import Table


def metrics_table(run: Run) -> Table:
    """Return the numbers of metrics.csv."""
    return Table(MetricRow._fields, findings_with_people(run).metrics)


def items_table(run: Run) -> Table:
    """Return the rows of items.csv."""
    return Table(ItemRow._fields, findings_with_people(run).items)


def sets_table(run: Run) -> Table:
    """Return the rows of reply_sets.csv."""
    return Table(SetRow._fields, findings_with_people(run).sets)


def replies_table(run: Run) -> Table:
    """Return the rows of replies.csv."""
    return Table(REPLY, map(reply_cells, findings_with_people(run).replies))


def judgements_table(run: Run) -> Table:
    """Return the rows of judgements.csv, with what people said."""
    return Table(JUDGEMENT, map(judgement_cells, findings_with_people(run).judgements))


def agreement_table(run: Run) -> Table:
    """Return every two judges compared."""
    return Table(AGREEMENT, agreement_rows(findings_with_people(run)))
