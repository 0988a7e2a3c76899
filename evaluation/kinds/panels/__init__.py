"""Whose consensus? Panels of people, of models and of both (Yahav et al. 2025, section 7.4)."""

from evaluation.flow.panels.parameters import PanelsParameters
from evaluation.flow.panels.summary import PanelsSummary
from evaluation.kinds.kind import Kind
from evaluation.kinds.panels.evaluate import EVALUATE
from evaluation.kinds.panels.page import CHARTS, PANELS_PAGE
from evaluation.kinds.panels.terminal import text_of_run
from evaluation.reports.panels import (
    distances_table,
    panels_report,
    panels_table,
    questions_table,
    standings_table,
)
from evaluation.steps.outside import problems_of_workers
from evaluation.steps.panels import compare_panels

PANELS = Kind(
    name="panels",
    title="Panels of people and models",
    words="Makes a consensus of people, one of models and one of both, and compares the three; "
    "also without workers who answer like a model.",
    options=PanelsParameters,
    run=compare_panels,
    summary=PanelsSummary,
    tables={
        "panels": panels_table,
        "panel-distances": distances_table,
        "panel-models": standings_table,
        "panel-questions": questions_table,
    },
    charts=CHARTS,
    report=panels_report,
    text=text_of_run,
    pages=(PANELS_PAGE,),
    check=problems_of_workers,
    evaluate=EVALUATE,
    action="Whose consensus?",
)
