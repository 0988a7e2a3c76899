"""Command ``evaluate views``, and the text that ``run views`` prints."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from annotations.exchange import OutputFolder
from evaluation.consensus.inputs import Progress
from evaluation.core.charts.chart import Chart
from evaluation.core.messages.console import format_table, remove_control_characters
from evaluation.core.options import TERMINAL
from evaluation.model_overview.charts import correlations_chart, views_chart
from evaluation.model_overview.files import (
    FIGURES,
    FileViews,
    ViewRunType,
    ViewsRequest,
    views_of_files,
)
from evaluation.model_overview.messages import CLAIMS, QUESTIONS, SIDES
from evaluation.model_overview.run.conclusions import answered, portrait
from evaluation.model_overview.run.findings import ViewsSummary
from evaluation.model_overview.run.gathering import ViewsParameters
from evaluation.model_overview.storage import kinds_of_files
from evaluation.models import Run


def run_evaluate(
    parameters: ViewsParameters, arguments: Mapping[str, Any], progress: Progress
) -> str:
    """Combine the results in folders, write the tables, and return the text to print."""
    kinds = {kind.name: ViewRunType(kind.title, kind.views) for kind in kinds_of_files()}
    request = ViewsRequest(
        [_folder(text, kinds) for text in arguments["folders"]],
        kinds,
        parameters,
        arguments["output"],
        arguments["questions"],
    )
    with OutputFolder(request.output) as folder:
        made = views_of_files(request, progress)
        made.write(folder)
        for name, chart in zip(FIGURES, _charts(made), strict=True):
            if chart is not None:
                folder.open(name).write(chart.standalone().encode())
    return f"{text_of(made.summary)}\n\nFiles: {request.output}"


def _folder(text: str, kinds: Mapping[str, ViewRunType]) -> tuple[str, Path]:
    name, sign, path = text.partition("=")
    return (name, Path(path)) if sign and name in kinds else ("", Path(text))


def _charts(made: FileViews) -> tuple[Chart | None, Chart | None]:
    titles = {view.name: view.title for view in made.results.together.views}
    return (
        views_chart(made.results.together),
        correlations_chart(made.summary.correlations, titles),
    )


CORRELATION = ("view", "other", "spearman", "low", "high", "questions", "models")
# Models and correlations shown; files have all.
MAX_SHOWN = 20


def text_of(views_summary: ViewsSummary) -> str:
    """Return a model overview as text: questions answered, models, and correlations."""
    counts = (
        f"{len(views_summary.models)} models, {views_summary.questions} questions, "
        f"{len(views_summary.views)} views of "
        f"{views_summary.answers} answers, from: "
        f"{', '.join(source.title for source in views_summary.sources)}"
    )
    parts = [counts]
    if views_summary.missing:
        sides = ", ".join(SIDES[side].lower() for side in views_summary.missing)
        parts.append(f"Views without results: {sides}.")
    if views_summary.repeated:
        parts.append(f"{views_summary.repeated:,} rows repeat an earlier row and do not count.")
    parts += [
        f"{QUESTIONS[source.name]}\n  {TERMINAL.format(source.said)}"
        for source in answered(views_summary)
    ]
    parts += [
        _model(views_summary, place) for place in range(len(views_summary.models))[:MAX_SHOWN]
    ]
    rows = [
        (row.view, row.other, row.spearman, row.low, row.high, row.n_questions, row.n_models)
        for row in views_summary.correlations[:MAX_SHOWN]
    ]
    if rows:
        parts.append(format_table(CORRELATION, rows))
    return "\n\n".join(parts)


def _model(views_summary: ViewsSummary, place: int) -> str:
    one = portrait(views_summary, place)
    lines = [remove_control_characters(one.model)]
    for claim in one.claims:
        lines.append(f"  {CLAIMS[claim.name]}")
        lines += [f"    {TERMINAL.format(evidence.said)}" for evidence in claim.evidence]
        if claim.missing:
            sides = ", ".join(SIDES[side].lower() for side in claim.missing)
            lines.append(f"    Views without results: {sides}.")
    return "\n".join(lines)


def report_of_run(run: Run) -> str:
    """Return the text that ``run views`` prints about a finished run."""
    return text_of(ViewsSummary.from_json(run.summary))
