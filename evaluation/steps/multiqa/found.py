"""What a run that is done found, read back table by table."""

from __future__ import annotations

from collections.abc import Iterator

from evaluation.flow.metrics import MetricRow
from evaluation.flow.multiqa.crowd import CrowdRow
from evaluation.flow.multiqa.rows import ItemRow, ReplyRow, RewordingRow, SystemPair
from evaluation.models import Run
from evaluation.steps.findings import kept_rows

METRICS, ITEMS, REPLIES = "metrics", "items", "replies"
REWORDINGS, COMPARISONS, CROWD = "rewordings", "comparisons", "crowd"


def metrics_of(run: Run) -> list[MetricRow]:
    """Return the numbers of every system and group; those of single items are in `items_of`."""
    return list(kept_rows(run, METRICS, MetricRow))


def items_of(run: Run) -> Iterator[ItemRow]:
    """Yield what the replies to each item come to, system by system."""
    return kept_rows(run, ITEMS, ItemRow)


def replies_of(run: Run) -> Iterator[ReplyRow]:
    """Yield the replies, system by system, the originals of all items first."""
    return kept_rows(run, REPLIES, ReplyRow)


def rewordings_of(run: Run) -> Iterator[RewordingRow]:
    """Yield the wordings beside the originals, the dropped ones too."""
    return kept_rows(run, REWORDINGS, RewordingRow)


def comparisons_of(run: Run) -> list[SystemPair]:
    """Return every two systems, compared by each number."""
    return list(kept_rows(run, COMPARISONS, SystemPair))


def crowd_of(run: Run) -> Iterator[CrowdRow]:
    """Yield what people's consensus says of each system and item."""
    return kept_rows(run, CROWD, CrowdRow)
