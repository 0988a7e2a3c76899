"""Result tables of MultiQ&A, each declared once for runs and downloads.

`metrics` and `items` are shown with other columns or more rows than are stored: the numbers of
each item are stored once, with the item.
"""

from __future__ import annotations

from evaluation.multiqa.methods.panel import ITEM_METRICS
from evaluation.multiqa.run.evaluation import CrowdRow
from evaluation.multiqa.run.rows import ItemRow, ReplyRow, RewordingRow, SystemPair
from evaluation.runs.flow.metrics import MetricRow
from evaluation.runs.flow.result_tables import ResultTable

METRICS = ResultTable("metrics", MetricRow, "metrics.csv")
ITEMS = ResultTable("items", ItemRow, "items.csv")
REPLIES = ResultTable("replies", ReplyRow)
REWORDINGS = ResultTable("rewordings", RewordingRow)
COMPARISONS = ResultTable("comparisons", SystemPair)
CROWD = ResultTable("crowd", CrowdRow, "crowd.csv")

ITEM_COLUMNS = (*ItemRow._fields[:9], *ITEM_METRICS, "original_reply", "modal_reply")
"""Columns of items.csv: a column for each number of an item."""
