"""The tables of a run, with the columns of the files."""

from __future__ import annotations

from collections.abc import Sequence

from evaluation.flow.eloquent.found import ItemRow, SetRow
from evaluation.flow.eloquent.judging import Judgement
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
    """Return the replies, each with its prompt."""
    header = ("system", "item", "language", "variant", "prompt", "reply", "status")
    return Table(
        header,
        (
            (one.system, one.item, one.language, one.place + 1, one.prompt, one.text, one.status)
            for one in findings_with_people(run).replies
        ),
    )


def judgements_table(run: Run) -> Table:
    """Return what judges said, as evaluations of files read it."""
    header = ("item", "system", "language", "judge", "repeat", "score", "reason", "judge_reply")
    rows: Sequence[Judgement] = findings_with_people(run).judgements
    return Table(
        header,
        (
            (
                *(one.item, one.system, one.language, one.judge, one.repeat),
                *(one.score, one.reason, one.reply),
            )
            for one in rows
        ),
    )


def agreement_table(run: Run) -> Table:
    """Return every two judges compared."""
    header = (
        *("judge", "other", "n", "difference", "absolute_difference"),
        *("kappa", "pearson", "spearman", "reason"),
    )
    rows = findings_with_people(run).agreements
    return Table(header, ([getattr(one, name) for name in header] for one in rows))
