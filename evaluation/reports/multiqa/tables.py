"""The tables of a run, with the columns of the files that the commands write and read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import astuple, fields

from evaluation.flow.metrics import OVERALL, MetricRow
from evaluation.flow.multiqa.crowd import CrowdRow
from evaluation.flow.multiqa.rows import ItemRow, ReplyRow, RewordingRow, SystemPair
from evaluation.flow.multiqa.summary import MultiqaSummary
from evaluation.methods.multiqa.items import OF_ITEMS
from evaluation.models import Run
from evaluation.reports.spreadsheet import Table
from evaluation.steps.multiqa.found import (
    comparisons_of,
    crowd_of,
    items_of,
    metrics_of,
    replies_of,
    rewordings_of,
)
from evaluation.steps.multiqa.loading import load
from evaluation.steps.multiqa.running import options_of


def metrics_table(run: Run) -> Table:
    """Return the numbers of metrics.csv: of all items, of groups, then of each item."""
    return Table(MetricRow._fields, _metrics(run))


def _metrics(run: Run) -> Iterator[MetricRow]:
    rows = metrics_of(run)
    yield from (row for row in rows if row.group == OVERALL)
    yield from (row for row in rows if row.group != OVERALL)
    for row in items_of(run):
        yield from row.metrics()


ITEM_COLUMNS = (*ItemRow._fields[:9], *OF_ITEMS, "original_reply", "modal_reply")


def items_table(run: Run) -> Table:
    """Return the rows of items.csv."""
    return Table(ITEM_COLUMNS, (row.cells() for row in items_of(run)))


def replies_table(run: Run) -> Table:
    """Return the replies, as evaluations of files read them, with what became of each."""
    return Table(ReplyRow._fields, replies_of(run))


def questions_table(run: Run) -> Table:
    """Return the questions as items of a file, which evaluations of files read.

    They are those of the version as it is now: published versions never change.
    """
    header = ("item", "kind", "dataset", "context", "question", "choices", "answers", "matcher")
    items = load(run.version, options_of(run)).items
    return Table(
        header,
        (
            (
                *(one.item, one.kind, one.dataset, one.context, one.question),
                json.dumps(one.choices, ensure_ascii=False) if one.choices else "",
                json.dumps(one.answers, ensure_ascii=False),
                one.matcher,
            )
            for one in items
        ),
    )


def rewordings_table(run: Run) -> Table:
    """Return the wordings beside the originals, the dropped ones with why."""
    return Table(RewordingRow._fields, rewordings_of(run))


def comparisons_table(run: Run) -> Table:
    """Return every two models compared by each number."""
    header = tuple(one.name for one in fields(SystemPair))
    return Table(header, (astuple(row) for row in comparisons_of(run)))


def crowd_table(run: Run) -> Table:
    """Return the rows of crowd.csv."""
    return Table(CrowdRow._fields, crowd_of(run))


def usage_table(run: Run) -> Table:
    """Return requests, tokens and money by step and model."""
    header = (
        *("step", "model", "requests", "reused", "errors"),
        *("prompt_tokens", "completion_tokens", "cost"),
    )
    usage = MultiqaSummary.of(run.summary).usage
    return Table(header, ([getattr(one, name) for name in header] for one in usage))
