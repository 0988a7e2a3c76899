"""The pages of a run: whether models know when they are wrong, and the texts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from evaluation.charts import Chart
from evaluation.flow.maqa.sure_and_right import BinRow, CurveRow
from evaluation.kinds.kind import Page
from evaluation.kinds.maqa.pictures import NAMES, pictures
from evaluation.models import Run
from evaluation.reports.maqa import TABLES, maqa_report, texts_page
from evaluation.steps.findings import kept_rows
from evaluation.steps.maqa.questions import questions_of


def charts_of(run: Run) -> list[Chart]:
    """Return the pictures of a run."""
    curves = list(kept_rows(run, "curves", CurveRow))
    return list(pictures(curves, list(kept_rows(run, "calibration", BinRow))))


def chart_of(run: Run, name: str) -> Chart | None:
    """Return one of them; None where there is nothing to draw."""
    return next((chart for chart in charts_of(run) if chart.name == name), None)


def measures(run: Run) -> Mapping[str, Any]:
    """Return the report and the pictures."""
    return {"report": maqa_report(run), "charts": charts_of(run), "table_names": list(TABLES)}


def texts(run: Run) -> Mapping[str, Any]:
    """Return the texts of the questions where models are sure and wrong."""

    def right_answers() -> dict[str, list[str]]:
        return {
            one.id: [str(spellings[0]) for spellings in one.answers]
            for one in questions_of(run.version)
        }

    return {"page": texts_page(run, right_answers)}


PAGES = (
    Page("", "Sure and right", "evaluation/maqa.html", measures),
    Page("texts", "Sure and wrong", "evaluation/maqa_texts.html", texts),
)
CHARTS: Mapping[str, Callable[[Run], Chart | None]] = {
    name: partial(chart_of, name=name) for name in NAMES
}
