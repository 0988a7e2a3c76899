"""Command ``evaluate views``, and the text that ``run views`` prints."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from annotations.exchange import OutputFolder
from evaluation.core.charts.chart import Chart
from evaluation.core.messages.console import format_table, remove_control_characters
from evaluation.core.options import TERMINAL
from evaluation.model_overview.charts import build_correlations_chart, build_views_chart
from evaluation.model_overview.files import (
    FIGURES,
    FileViews,
    ViewRunType,
    ViewsRequest,
    combine_folders,
)
from evaluation.model_overview.messages import CLAIMS, QUESTIONS, SIDES
from evaluation.model_overview.run.conclusions import answer_questions, build_portrait
from evaluation.model_overview.run.findings import ViewsSummary
from evaluation.model_overview.run.gathering import ViewsParameters
from evaluation.model_overview.storage import list_kinds_of_files
from evaluation.models import Run
from evaluation.runs.run_types.kind import Progress


def run_evaluate(
    parameters: ViewsParameters, arguments: Mapping[str, Any], progress: Progress
) -> str:
    """Combine the results in folders, write the tables, and return the text to print."""
    kinds = {kind.name: ViewRunType(kind.title, kind.views) for kind in list_kinds_of_files()}
    request = ViewsRequest(
        [_parse_folder(text, kinds) for text in arguments["folders"]],
        kinds,
        parameters,
        arguments["output"],
        arguments["questions"],
    )
    with OutputFolder(request.output) as folder:
        made = combine_folders(request, progress)
        made.write(folder)
        for name, chart in zip(FIGURES, _build_charts(made), strict=True):
            if chart is not None:
                folder.open(name).write(chart.standalone().encode())
    return f"{format_summary(made.summary)}\n\nFiles: {request.output}"


def _parse_folder(text: str, kinds: Mapping[str, ViewRunType]) -> tuple[str, Path]:
    name, sign, path = text.partition("=")
    return (name, Path(path)) if sign and name in kinds else ("", Path(text))


def _build_charts(made: FileViews) -> tuple[Chart | None, Chart | None]:
    titles = {view.name: view.title for view in made.results.together.views}
    return (
        build_views_chart(made.results.together),
        build_correlations_chart(made.summary.correlations, titles),
    )


CORRELATION = ("view", "other", "spearman", "low", "high", "questions", "models")
# Models and correlations shown; files have all.
MAX_SHOWN = 20


def format_summary(views_summary: ViewsSummary) -> str:
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
        for source in answer_questions(views_summary)
    ]
    parts += [
        _format_model(views_summary, place)
        for place in range(len(views_summary.models))[:MAX_SHOWN]
    ]
    rows = [
        (row.view, row.other, row.spearman, row.low, row.high, row.n_questions, row.n_models)
        for row in views_summary.correlations[:MAX_SHOWN]
    ]
    if rows:
        parts.append(format_table(CORRELATION, rows))
    return "\n\n".join(parts)


def _format_model(views_summary: ViewsSummary, place: int) -> str:
    one = build_portrait(views_summary, place)
    lines = [remove_control_characters(one.model)]
    for claim in one.claims:
        lines.append(f"  {CLAIMS[claim.name]}")
        lines += [f"    {TERMINAL.format(evidence.said)}" for evidence in claim.evidence]
        if claim.missing:
            sides = ", ".join(SIDES[side].lower() for side in claim.missing)
            lines.append(f"    Views without results: {sides}.")
    return "\n".join(lines)


def format_run(run: Run) -> str:
    """Return the text that ``run views`` prints about a finished run."""
    return format_summary(ViewsSummary.from_json(run.summary))
