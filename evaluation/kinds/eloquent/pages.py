"""The pages of a run: scores with their picture, and the texts beside each other."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from evaluation.charts import Chart
from evaluation.charts.reply_scores import ItemScores, scores_chart
from evaluation.files.submissions import Submitter, file_name, submissions
from evaluation.flow.eloquent.found import Findings
from evaluation.kinds.kind import Page
from evaluation.models import Run
from evaluation.reports.eloquent import eloquent_report, findings_with_people

CHART = "reply-scores"


def figure(findings: Findings) -> Chart | None:
    """Return the picture of the items' scores; None without a score."""
    cells = {(row.item, row.system): row.score for row in findings.items}
    if all(score is None for score in cells.values()):
        return None
    variations = {row.item: row.variation for row in findings.items}
    return scores_chart(
        [
            ItemScores(item, variation, [cells[item, system] for system in findings.systems])
            for item, variation in variations.items()
        ],
        findings.systems,
    )


def chart_of(run: Run) -> Chart | None:
    """Return the picture of a run."""
    return figure(findings_with_people(run))


def scores(run: Run) -> Mapping[str, Any]:
    """Return the report and the picture."""
    report = eloquent_report(run)
    return {
        "report": report,
        "by_people": any(one.human_n for one in report.systems),
        "chart": chart_of(run),
    }


PAGES = (
    Page("", "Scores", "evaluation/reply_scores.html", scores),
    Page("models", "Models compared", address="results-reply-models"),
    Page("texts", "Texts side by side", address="results-reply-texts"),
)
CHARTS = {CHART: chart_of}


def submission_files(run: Run) -> Mapping[str, bytes]:
    """Return the replies in the lab's submission form, a file for each model and language."""
    submitter = Submitter(date=run.finished_at.date().isoformat() if run.finished_at else "")
    forms = submissions(findings_with_people(run).replies, submitter)
    return {
        file_name(form): (json.dumps(form, ensure_ascii=False, indent=2) + "\n").encode()
        for form in forms
    }
