"""Pages and charts of a MultiQ&A run, and its start page.

Charts of MultiQ&A: accuracy or crowd score of each model over wordings, with intervals. Pages of a
MultiQ&A run, its start page, and its columns in the model overview.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annotations.models import QuestionSetVersion
from evaluation.core.charts.chart import Chart, Layout, Row, RowStyle, draw_axis, draw_rows
from evaluation.core.charts.svg import Drawing, Scale, build_scale, format_number
from evaluation.core.charts.svg import format_interval as interval_of
from evaluation.models import LanguageModel, Run
from evaluation.multiqa.messages import STEPS
from evaluation.multiqa.options import MultiqaRunOptions
from evaluation.multiqa.report import (
    GroupRow,
    MetricCell,
    MultiqaReport,
    NumberRow,
    build_report,
    load_rewordings_page,
    load_texts_page,
)
from evaluation.multiqa.storage.questions import estimate_requests, load
from evaluation.runs.flow.stored import Side, View, ViewSource, read_column
from evaluation.runs.run_types.kind import Beforehand, Page, Start
from evaluation.runs.steps.asking.registration import list_ids

# Models in a chart; more would leave no room for their names.
MOST_MODELS = 15
# Rows of each model: label and look, by metric.
ACCURACY_ROWS: dict[str, tuple[str, RowStyle]] = {
    "worst_case": ("worst case", ""),
    "plurality": ("plurality", "-model"),
    "accuracy": ("original", "-model"),
    "best_case": ("best case", ""),
}
CROWD_ROWS: dict[str, tuple[str, RowStyle]] = {
    "crowd_worst": ("worst wording", ""),
    "crowd_score": ("all wordings", "-model"),
    "crowd_score_original": ("original", "-model"),
    "crowd_best": ("best wording", ""),
}


def build_accuracy_chart(report: MultiqaReport) -> Chart | None:
    """Return the chart of models' accuracy over wordings; None without accepted answers."""
    return _build_chart(
        report,
        report.numbers,
        ACCURACY_ROWS,
        "robustness",
        "Accuracy over wordings: worst case, plurality, original, best case",
        "Each model has four rows. Dots: share of questions that are right in every wording (worst "
        "case) and in at least one (best case); the farther apart they are, the more the answers "
        "depend on the wording. Diamonds: plurality accuracy and accuracy in the original wording. "
        "Lines are 95% intervals over questions; the thin mark is the chance level.",
        "share of questions",
    )


def build_crowd_chart(report: MultiqaReport) -> Chart | None:
    """Return the chart of models' crowd scores over wordings; None without workers' answers."""
    return _build_chart(
        report,
        report.crowd,
        CROWD_ROWS,
        "nearness",
        "Crowd score in the worst, in all, and in the best wording",
        "Each model has four rows: mean similarity of its replies to the workers' exemplary "
        "answers (95% intervals over questions). Dots: the least and the most similar reply to a "
        "question; the farther apart they are, the more the score depends on the wording.",
        "crowd score",
    )


def _build_chart(
    report: MultiqaReport,
    table: tuple[NumberRow, ...],
    metrics: dict[str, tuple[str, RowStyle]],
    name: str,
    title: str,
    explanation: str,
    axis: str,
) -> Chart | None:
    """Return a chart with one row per model and metric of `metrics`; None without values."""
    by_metric = {row.name: row for row in table if row.name in metrics}
    rows: list[tuple[Row, MetricCell]] = []
    for index, system in enumerate(report.systems[:MOST_MODELS]):
        for metric, (label, css_class) in metrics.items():
            cell = by_metric[metric].of[index] if metric in by_metric else None
            if cell is not None and cell.value is not None:
                row = Row(
                    f"{system}: {label}",
                    cell.value,
                    cell.low,
                    cell.high,
                    _format_tooltip(system, label, cell),
                    style=css_class,
                )
                rows.append((row, cell))
    if not rows:
        return None

    def draw(width: float) -> Drawing:
        layout = Layout(width, [row.name for row, _ in rows])
        drawing = Drawing(width, layout.height, title, f"{len(rows)} numbers")
        # Accuracies have the whole scale, so that charts of two runs can be compared.
        if name == "nearness":
            scale = _build_scale(rows, layout)
        else:
            scale = Scale(0, 1, layout.left, layout.right)
        draw_axis(drawing, layout, scale, axis)
        for index, (_, cell) in enumerate(rows):
            if cell.chance is not None:
                x, y = scale(cell.chance), layout.y(index)
                drawing.line(x, y - 6, x, y + 6, "faint-line")
        draw_rows(drawing, layout, scale, [row for row, _ in rows])
        return drawing

    more = len(report.systems) - MOST_MODELS
    note = f"The first {MOST_MODELS} models are shown." if more > 0 else ""
    return Chart(name=name, title=title, explanation=explanation, draw=draw, note=note)


def _build_scale(rows: list[tuple[Row, MetricCell]], layout: Layout) -> Scale:
    """Return the horizontal scale that covers all values and intervals of the chart rows."""
    values = [value for row, _ in rows for value in (row.value, row.low, row.high)]
    return build_scale(values, layout.left, layout.right)


def _format_tooltip(system: str, label: str, cell: MetricCell) -> str:
    lines = [f"{system}: {label}", format_number(cell.value)]
    if cell.low is not None:
        lines.append(f"95% interval {interval_of(cell.low, cell.high)}")
    if cell.chance is not None:
        lines.append(f"chance level {format_number(cell.chance)}")
    return "\n".join([*lines, f"{cell.n:,} questions"])


# Rows of a page.
QUESTIONS, WORDINGS = 10, 50
GONE = "a model that is not there any more"


def build_scores_context(run: Run) -> Mapping[str, Any]:
    """Return the template context of the Scores page: report, charts, usage, group tables."""
    report = build_report(run)
    charts = (build_accuracy_chart(report), build_crowd_chart(report))
    return {
        "report": report,
        "charts": [chart for chart in charts if chart],
        "usage": [(STEPS.get(usage.step, usage.step), usage) for usage in report.usage],
        "groups": [
            (title, name, _group_by_metric(tables))
            for title, name, tables in (
                ("By format", "formats", report.formats),
                ("By data set", "datasets", report.datasets),
            )
            if len(tables) > 1
        ],
    }


def _group_by_metric(
    groups: tuple[GroupRow, ...],
) -> list[tuple[str, list[tuple[GroupRow, Any]]]]:
    """Return each metric's label with the row of every group (None if it has none)."""
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


def build_comparison_context(run: Run) -> Mapping[str, Any]:
    """Return the template context of the page that compares models."""
    report = build_report(run)
    by_metric: dict[str, list[Any]] = {}
    for pair in report.comparisons:
        by_metric.setdefault(pair.what, []).append(pair)
    return {"report": report, "comparisons": by_metric}


def build_texts_context(run: Run, first: int) -> Mapping[str, Any]:
    """Return the template context of the page of worst questions, from `first` on."""
    return {"page": load_texts_page(run, first, QUESTIONS)}


def build_rewordings_context(run: Run, first: int) -> Mapping[str, Any]:
    """Return the template context of the page of rewordings, from `first` on."""
    return {
        "page": load_rewordings_page(run, first, WORDINGS),
        "report": build_report(run),
    }


def resolve_model_names(run: Run) -> Mapping[str, str]:
    """Return the models' names for each run option that holds model ids, by option."""
    options = ("models", "rewriter")
    ids = {name: list_ids(run.parameters.get(name)) for name in options}
    all_ids = [public_id for option_ids in ids.values() for public_id in option_ids]
    rows = LanguageModel.objects.filter(public_id__in=all_ids).values_list("public_id", "name")
    names = {str(public_id): name for public_id, name in rows}
    return {
        name: ", ".join(names.get(public_id, GONE) for public_id in option_ids)
        for name, option_ids in ids.items()
        if option_ids
    }


def draw_accuracy_chart(run: Run) -> Chart | None:
    """Return a run's chart of accuracy over wordings; None without accepted answers."""
    return build_accuracy_chart(build_report(run))


def draw_crowd_chart(run: Run) -> Chart | None:
    """Return a run's chart of crowd scores; None without workers' answers."""
    return build_crowd_chart(build_report(run))


PAGES = (
    Page("", "Scores", "evaluation/multiqa/scores.html", build_scores_context),
    Page("texts", "Worst questions", "evaluation/multiqa/texts.html", paged=build_texts_context),
    Page(
        "comparison",
        "Models compared",
        "evaluation/multiqa/comparison.html",
        build_comparison_context,
    ),
    Page(
        "wordings", "Rewordings", "evaluation/multiqa/wordings.html", paged=build_rewordings_context
    ),
)
CHARTS = {"robustness": draw_accuracy_chart, "nearness": draw_crowd_chart}


def describe_version(version: QuestionSetVersion | None) -> Beforehand:
    """Return the start page's text: accepted answers, workers and rewordings of a version."""
    loaded = None if version is None else load(version, MultiqaRunOptions())
    if loaded is None or not loaded.items:
        return Beforehand("No question has a text yet.", ready=False)
    if not loaded.scorable:
        return Beforehand(
            "No question has accepted answers or workers' answers, so no reply can be scored.",
            ready=False,
        )
    keyed = sum(bool(item.answers) for item in loaded.items)
    typed = sum(each.variant is not None for each in loaded.check_typed_wordings()[0])
    people = len(set(loaded.crowd.workers)) if loaded.crowd is not None else 0
    parts = [
        f"{_format_count(len(loaded.items), 'question')}, {keyed} with accepted answers",
        f"{_format_count(people, 'worker')} answered" if people else "no workers' answers yet",
        f"{_format_count(typed, 'rewording')} typed or imported"
        if typed
        else "no rewordings typed or imported: choose a rewriter",
    ]
    return Beforehand(f"{'; '.join(parts)}.")


def _format_count(count: int, noun: str) -> str:
    return f"{count:,} {noun if count == 1 else f'{noun}s'}"


START = Start(
    words="An answer that changes with the wording is not robust.",
    before=describe_version,
    foreseen=estimate_requests,
)


VIEWS = (
    ViewSource(
        View(
            "certainty_in_other_words",
            Side.ROBUSTNESS,
            "Certainty over wordings",
            "Consistency of the model's answers to all wordings of the question: 1 if all are "
            "the same, 0 where all are equally frequent.",
            lowest=0.0,
            highest=1.0,
        ),
        read_column("certainty"),
    ),
    ViewSource(
        View(
            "right_in_every_wording",
            Side.ROBUSTNESS,
            "Right in every wording",
            "Whether the model answers the question correctly in every wording.",
            lowest=0.0,
            highest=1.0,
        ),
        read_column("worst_case"),
    ),
)
