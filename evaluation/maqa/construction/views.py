"""Result page, tables and start page of a construction run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annotations.models import QuestionSetVersion
from annotations.writing import describe_reason
from evaluation.maqa.construction.storage import (
    BATCHES,
    CANDIDATES,
    CandidateRow,
    ConstructionSummary,
    estimate_requests,
)
from evaluation.models import Run
from evaluation.runs.flow.stored import collect_column_help
from evaluation.runs.reports.lists import build_table_readers
from evaluation.runs.run_types.kind import DataReadiness, Page, Start
from evaluation.runs.steps.checkpoints import read_result_table

MAX_SHOWN = 100
RESULT_TABLES = (CANDIDATES, BATCHES)
TABLES = build_table_readers(RESULT_TABLES)
COLUMNS = collect_column_help(RESULT_TABLES)


def build_candidates_context(run: Run) -> Mapping[str, Any]:
    """Return the template context of the run's page: counts, reasons and candidates."""
    summary = ConstructionSummary.from_json(run.summary)
    rows: list[CandidateRow] = list(read_result_table(run, CANDIDATES))
    reasons = sorted(summary.reasons.items(), key=lambda reason: -reason[1])
    return {
        "summary": summary,
        "question_set": run.version.question_set,
        "reasons": [(describe_reason(code), n) for code, n in reasons],
        "rows": [(row, describe_reason(row.reason)) for row in rows[:MAX_SHOWN]],
        "more": max(0, len(rows) - MAX_SHOWN),
        "table_names": list(TABLES),
    }


PAGES = (Page("", "Candidates", "evaluation/maqa/candidates.html", build_candidates_context),)


def describe_version_inputs(version: QuestionSetVersion | None) -> DataReadiness:
    """Return the start page's note on a version: how many questions can be sources."""
    rows = None if version is None else version.questions.graded().exclude(text="")
    n = 0 if rows is None else rows.count()
    return DataReadiness(
        f"{n} questions of the set have a text and can be sources."
        if n
        else "No question of the set has a text: write topics."
    )


START = Start(
    words="Candidates enter a question set only after validators accept them and you confirm a "
    "preview.",
    before=describe_version_inputs,
    foreseen=estimate_requests,
)
