"""What a run that compares replies to prompts of the same meaning found, for pages and REST.

`people` puts what experts said beside what programs judged; `report`, `texts` and `tables` show
both.
"""

from evaluation.reports.eloquent.compared import comparisons_table
from evaluation.reports.eloquent.people import SAME_MEANING, findings_with_people
from evaluation.reports.eloquent.report import EloquentReport, eloquent_report
from evaluation.reports.eloquent.tables import (
    agreement_table,
    items_table,
    judgements_table,
    metrics_table,
    replies_table,
    sets_table,
)
from evaluation.reports.eloquent.texts import TextsPage, texts_page

__all__ = [
    "SAME_MEANING",
    "EloquentReport",
    "TextsPage",
    "agreement_table",
    "comparisons_table",
    "eloquent_report",
    "findings_with_people",
    "items_table",
    "judgements_table",
    "metrics_table",
    "replies_table",
    "sets_table",
    "texts_page",
]
