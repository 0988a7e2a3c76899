"""Text output of ``evaluate panels`` and ``run panels``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annotations.exchange import OutputFolder
from evaluation.consensus.inputs import Progress
from evaluation.core.messages.console import format_table
from evaluation.core.messages.message import format_count
from evaluation.core.options import TERMINAL
from evaluation.crowd_vs_llm.files import PanelsRequest, compare_files
from evaluation.crowd_vs_llm.run.comparison import PanelsParameters
from evaluation.crowd_vs_llm.run.summary import PanelsSummary
from evaluation.models import LanguageModel, Run


def evaluate(parameters: PanelsParameters, arguments: Mapping[str, Any], progress: Progress) -> str:
    """Compare panels (workers, models, both) from files, write tables, return text to print."""
    request = PanelsRequest(
        answers=arguments["answers"],
        duplicates=arguments["duplicates"],
        models=arguments["models"],
        keep_thinking=arguments["keep_thinking"],
        columns=arguments["columns"],
        parameters=parameters,
        output=arguments["output"],
    )
    with OutputFolder(request.output) as folder:
        comparison = compare_files(request, progress)
        comparison.write(folder)
    warnings = [f"Warning: {warning}" for warning in comparison.warnings]
    return "\n\n".join([format_summary(comparison.summary), *warnings, f"Files: {request.output}"])


PANEL = ("panel", "people", "models", "answers", "dispersion", "agreement", "models' votes")
DISTANCE = ("panels", "questions", "cosine", "low", "high", "least", "rank r", "swapped")
STANDING = ("model", "panel", "score", "rank")


def format_summary(summary: PanelsSummary, names: Mapping[str, str] | None = None) -> str:
    """Return a comparison's counts, messages and tables as text for the terminal.

    `names` are the names of models by public id; None where the summary has names.
    """
    panels = [
        (
            *(panel.name, panel.people, panel.models, panel.answers, panel.dispersion),
            *(panel.agreement, panel.model_share),
        )
        for panel in summary.panels
    ]
    distances = [
        (
            *(f"{row.first}, {row.second}", row.questions, row.cosine, row.low, row.high),
            *(row.least, row.spearman_models, f"{row.swapped} of {row.model_pairs}"),
        )
        for row in summary.distances
    ]
    standings = [
        ((names or {}).get(row.model, row.model), row.panel, row.score, row.rank)
        for row in summary.standings
    ]
    counts = (
        f"{format_count(summary.answers, 'answer')} of {format_count(summary.workers, 'worker')} "
        f"and {summary.model_answers:,} of {format_count(summary.models, 'model')} to "
        f"{format_count(summary.questions, 'question')}"
    )
    return "\n\n".join(
        [
            counts,
            "\n".join(TERMINAL.format_all(summary.messages)),
            format_table(PANEL, panels),
            format_table(DISTANCE, distances),
            format_table(STANDING, standings),
        ]
    )


def format_run(run: Run) -> str:
    """Return the text that ``run panels`` prints about a finished run."""
    summary = PanelsSummary.from_json(run.summary)
    ids = {row.model for row in summary.standings}
    known = LanguageModel.objects.filter(public_id__in=ids).values_list("public_id", "name")
    return format_summary(summary, {str(public): name for public, name in known})
