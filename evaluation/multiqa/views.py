"""Pages of a MultiQ&A run, its start page, and its columns in the model overview."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annotations.models import QuestionSetVersion
from evaluation.core.charts.chart import Chart
from evaluation.models import LanguageModel, Run
from evaluation.multiqa.charts import build_accuracy_chart, build_crowd_chart
from evaluation.multiqa.messages import STEPS
from evaluation.multiqa.options import MultiqaRunOptions
from evaluation.multiqa.report import (
    GroupRow,
    build_report,
    load_rewordings_page,
    load_texts_page,
)
from evaluation.multiqa.storage.questions import estimate_requests, load_version_items
from evaluation.runs.flow.stored import Aspect, Measure, MeasureSource, build_column_reader
from evaluation.runs.run_types.kind import DataReadiness, Page, Start
from evaluation.runs.steps.asking.registration import list_option_ids

# Rows of a page.
QUESTIONS, WORDINGS = 10, 50
GONE = "a model that is not there any more"


def build_scores_context(run: Run) -> Mapping[str, Any]:
    """Return the template context of the Scores page: report, charts, usage, group tables."""
    report = build_report(run)
    charts = (
        build_accuracy_chart(report.systems, report.numbers),
        build_crowd_chart(report.systems, report.crowd),
    )
    return {
        "report": report,
        "charts": [chart for chart in charts if chart],
        "usage": [(STEPS.get(usage.step, usage.step), usage) for usage in report.usage],
        "groups": [
            (title, name, _group_rows_by_metric(tables))
            for title, name, tables in (
                ("By format", "formats", report.formats),
                ("By data set", "datasets", report.datasets),
            )
            if len(tables) > 1
        ],
    }


def _group_rows_by_metric(
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
    """Return the template context of a page of questions, worst first, from position `first`."""
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
    ids = {name: list_option_ids(run.parameters.get(name)) for name in options}
    all_ids = [public_id for option_ids in ids.values() for public_id in option_ids]
    rows = LanguageModel.objects.filter(public_id__in=all_ids).values_list("public_id", "name")
    names = {str(public_id): name for public_id, name in rows}
    return {
        name: ", ".join(names.get(public_id, GONE) for public_id in option_ids)
        for name, option_ids in ids.items()
        if option_ids
    }


def load_accuracy_chart(run: Run) -> Chart | None:
    """Return a run's chart of accuracy over wordings; None without accepted answers."""
    report = build_report(run)
    return build_accuracy_chart(report.systems, report.numbers)


def load_crowd_chart(run: Run) -> Chart | None:
    """Return a run's chart of crowd scores; None without workers' answers."""
    report = build_report(run)
    return build_crowd_chart(report.systems, report.crowd)


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
CHARTS = {"robustness": load_accuracy_chart, "nearness": load_crowd_chart}


def describe_version_inputs(version: QuestionSetVersion | None) -> DataReadiness:
    """Return the start page's note: a version's accepted answers, workers and rewordings."""
    loaded = None if version is None else load_version_items(version, MultiqaRunOptions())
    if loaded is None or not loaded.items:
        return DataReadiness("No question has a text yet.", ready=False)
    if not loaded.scorable:
        return DataReadiness(
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
    return DataReadiness(f"{'; '.join(parts)}.")


def _format_count(count: int, noun: str) -> str:
    """Return a count with its noun in the singular or plural, such as "1,200 workers"."""
    return f"{count:,} {noun if count == 1 else f'{noun}s'}"


START = Start(
    words="An answer that changes with the wording is not robust.",
    before=describe_version_inputs,
    foreseen=estimate_requests,
)


VIEWS = (
    MeasureSource(
        Measure(
            "certainty_in_other_words",
            Aspect.ROBUSTNESS,
            "Certainty over wordings",
            "Consistency of the model's answers to all wordings of the question: 1 if all are "
            "the same, 0 where all are equally frequent.",
            lowest=0.0,
            highest=1.0,
        ),
        build_column_reader("certainty"),
    ),
    MeasureSource(
        Measure(
            "right_in_every_wording",
            Aspect.ROBUSTNESS,
            "Right in every wording",
            "Whether the model answers the question correctly in every wording.",
            lowest=0.0,
            highest=1.0,
        ),
        build_column_reader("worst_case"),
    ),
)
