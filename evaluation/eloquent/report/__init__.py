"""Report, pages and tables of an ELOQUENT run, with judgements by experts and models."""

from evaluation.eloquent.report.comparison import build_comparisons_table
from evaluation.eloquent.report.results import (
    FINDINGS_TABLES,
    SAME_MEANING,
    EloquentReport,
    TextsPage,
    build_report,
    build_texts_page,
    load_findings_with_experts,
)

TABLES = {**FINDINGS_TABLES, "comparisons": build_comparisons_table}
"""Functions that load the tables of a finished run, by name."""

__all__ = [
    "SAME_MEANING",
    "TABLES",
    "EloquentReport",
    "TextsPage",
    "build_report",
    "build_texts_page",
    "load_findings_with_experts",
]
