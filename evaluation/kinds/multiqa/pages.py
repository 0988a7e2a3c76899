"""The pages of a run: scores with their pictures, models compared, texts, and rewordings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evaluation.charts import Chart
from evaluation.charts.multiqa import crowd_chart, right_chart
from evaluation.kinds.kind import Page
from evaluation.models import LanguageModel, Run
from evaluation.reports.multiqa.report import GroupRow, multiqa_report, step_words
from evaluation.reports.multiqa.texts import rewordings_page, texts_page
from evaluation.steps.asking.registered import ids_of

# Questions, or wordings, of a page.
QUESTIONS, WORDINGS = 10, 50
GONE = "a model that is not there any more"


def scores(run: Run) -> Mapping[str, Any]:
    """Return the report, the pictures, and the numbers in two tables."""
    report = multiqa_report(run)
    return {
        "report": report,
        "charts": [one for one in (right_chart(report), crowd_chart(report)) if one],
        "usage": [(step_words(one.step), one) for one in report.usage],
        "groups": [
            (title, name, _by_number(rows))
            for title, name, rows in (
                ("By format", "formats", report.formats),
                ("By data set", "datasets", report.datasets),
            )
            if len(rows) > 1
        ],
    }


def _by_number(groups: tuple[GroupRow, ...]) -> list[tuple[str, list[tuple[GroupRow, Any]]]]:
    """Return the groups by number: its label, and what each group has of it."""
    labels = {row.name: row.words.label for group in groups for row in group.rows}
    return [
        (
            label,
            [
                (group, next((row for row in group.rows if row.name == name), None))
                for group in groups
            ],
        )
        for name, label in labels.items()
    ]


def comparison(run: Run) -> Mapping[str, Any]:
    """Return every two models compared."""
    report = multiqa_report(run)
    by_number: dict[str, list[Any]] = {}
    for one in report.comparisons:
        by_number.setdefault(one.what, []).append(one)
    return {"report": report, "comparisons": by_number}


def texts(run: Run, first: int) -> Mapping[str, Any]:
    """Return questions with all replies beside each other, the worst first."""
    return {"page": texts_page(run, first, QUESTIONS)}


def rewordings(run: Run, first: int) -> Mapping[str, Any]:
    """Return the wordings with what became of them."""
    return {
        "page": rewordings_page(run, first, WORDINGS),
        "report": multiqa_report(run),
    }


def named(run: Run) -> Mapping[str, str]:
    """Return the names of the models that the options name by ids."""
    parts = ("models", "rewriter")
    ids = {name: ids_of(run.parameters.get(name)) for name in parts}
    wanted = [one for some in ids.values() for one in some]
    rows = LanguageModel.objects.filter(public_id__in=wanted).values_list("public_id", "name")
    names = {str(public_id): name for public_id, name in rows}
    return {
        name: ", ".join(names.get(one, GONE) for one in some) for name, some in ids.items() if some
    }


def chart_of_right(run: Run) -> Chart | None:
    """Return the picture of right answers."""
    return right_chart(multiqa_report(run))


def chart_of_nearness(run: Run) -> Chart | None:
    """Return the picture of nearness to people."""
    return crowd_chart(multiqa_report(run))


PAGES = (
    Page("", "Scores", "evaluation/multiqa/scores.html", scores),
    Page("texts", "Worst questions", "evaluation/multiqa/texts.html", paged=texts),
    Page("comparison", "Models compared", "evaluation/multiqa/comparison.html", comparison),
    Page("wordings", "Wordings", "evaluation/multiqa/wordings.html", paged=rewordings),
)
CHARTS = {"robustness": chart_of_right, "nearness": chart_of_nearness}
