"""What a terminal shows of panels."""

from __future__ import annotations

from collections.abc import Mapping

from evaluation.flow.panels.summary import PanelsSummary
from evaluation.models import LanguageModel, Run
from evaluation.options import TERMINAL
from evaluation.words.console import text_table
from evaluation.words.message import counted

PANEL = ("panel", "people", "models", "answers", "dispersion", "agreement", "models' votes")
DISTANCE = ("panels", "questions", "cosine", "low", "high", "least", "rank r", "swapped")
STANDING = ("model", "panel", "score", "rank")


def text_of(found: PanelsSummary, names: Mapping[str, str] | None = None) -> str:
    """Return the sentences, then panels, distances and models; `names` of models by their ids."""
    panels = [
        (
            *(panel.name, panel.people, panel.models, panel.answers, panel.dispersion),
            *(panel.agreement, panel.model_share),
        )
        for panel in found.panels
    ]
    distances = [
        (
            *(f"{one.first}, {one.second}", one.questions, one.cosine, one.low, one.high),
            *(one.least, one.spearman_models, f"{one.swapped} of {one.model_pairs}"),
        )
        for one in found.distances
    ]
    standings = [
        ((names or {}).get(one.model, one.model), one.panel, one.score, one.rank)
        for one in found.standings
    ]
    counts = (
        f"{counted(found.answers, 'answer')} of {counted(found.workers, 'worker')} and "
        f"{found.model_answers:,} of {counted(found.models, 'model')} to "
        f"{counted(found.questions, 'question')}"
    )
    return "\n\n".join(
        [
            counts,
            "\n".join(TERMINAL.all_said(found.messages)),
            text_table(PANEL, panels),
            text_table(DISTANCE, distances),
            text_table(STANDING, standings),
        ]
    )


def text_of_run(run: Run) -> str:
    """Return the same of a run that is done."""
    found = PanelsSummary.of(run.summary)
    ids = {one.model for one in found.standings}
    known = LanguageModel.objects.filter(public_id__in=ids).values_list("public_id", "name")
    return text_of(found, {str(public): name for public, name in known})
