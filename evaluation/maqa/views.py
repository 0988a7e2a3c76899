"""Pages and charts of a MAQA run, its start page, and its columns of the model overview."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from annotations.models import QuestionSetVersion
from evaluation.core.charts.chart import Chart
from evaluation.maqa.charts import (
    BY_QUESTION,
    NAMES,
    build_confidence_charts,
    build_questions_chart,
)
from evaluation.maqa.report import TABLES, build_report, load_texts_page
from evaluation.maqa.run.result_tables import CALIBRATION, CURVES, ITEMS
from evaluation.maqa.run.tables import BinRow
from evaluation.maqa.storage import estimate_requests, load_graded_questions
from evaluation.models import Run
from evaluation.runs.flow.stored import Aspect, Measure, MeasureSource, build_column_reader
from evaluation.runs.run_types.kind import DataReadiness, Page, Start, StartFile
from evaluation.runs.steps.checkpoints import read_result_table


def build_run_charts(run: Run, bins: Sequence[BinRow]) -> list[Chart]:
    """Return the charts of a run; `bins` are the rows of its calibration table."""
    return list(build_confidence_charts(list(read_result_table(run, CURVES)), bins))


def load_chart_by_name(run: Run, name: str) -> Chart | None:
    """Return the chart of a run that has this name; None if it has no values."""
    bins = list(read_result_table(run, CALIBRATION))
    return next((chart for chart in build_run_charts(run, bins) if chart.name == name), None)


def load_questions_chart(run: Run) -> Chart | None:
    """Return the chart of the confidence at each question; None if no measure has values."""
    return build_questions_chart(list(read_result_table(run, ITEMS)))


def build_measures_context(run: Run) -> Mapping[str, Any]:
    """Return the template context of the page of scores and confidence measures."""
    report = build_report(run)
    charts = build_run_charts(run, report.bins)
    return {
        "report": report,
        "by_question": load_questions_chart(run),
        "charts": charts,
        "table_names": list(TABLES),
    }


def build_texts_context(run: Run) -> Mapping[str, Any]:
    """Return the context of the page with confidently wrong answers and their texts."""

    def load_right_answers() -> dict[str, list[str]]:
        """Return the first spelling of each right answer, by question id."""
        return {
            question.id: [str(spellings[0]) for spellings in question.answers]
            for question in load_graded_questions(run.version)
        }

    return {"page": load_texts_page(run, load_right_answers)}


PAGES = (
    Page("", "Uncertainty", "evaluation/maqa/measures.html", build_measures_context),
    Page("texts", "Confident and wrong", "evaluation/maqa/texts.html", build_texts_context),
)
CHARTS: Mapping[str, Callable[[Run], Chart | None]] = {
    BY_QUESTION: load_questions_chart,
    **{name: partial(load_chart_by_name, name=name) for name in NAMES},
}


def describe_version_inputs(version: QuestionSetVersion | None) -> DataReadiness:
    """Return the start page's note on a version: how many questions have right answers.

    A run cannot start if no question has a text.
    """
    questions = [] if version is None else load_graded_questions(version)
    if not questions:
        return DataReadiness("No question has a text yet.", ready=False)
    n_known = sum(bool(question.answers) for question in questions)
    n_several = sum(len(question.answers) > 1 for question in questions)
    text = f"{len(questions)} questions; {n_known} with right answers, {n_several} with several."
    if n_known < len(questions):
        text += " For the others only confidence is measured, not accuracy."
    return DataReadiness(text)


START = Start(
    words="A wrong answer with high confidence does more harm than one with low confidence.",
    before=describe_version_inputs,
    foreseen=estimate_requests,
    files=(
        StartFile(
            name="questions",
            title="Upload questions with their right answers",
            words='A JSON list as published with MAQA: [{"question": "...", "answer": ["...", '
            '"..."]}, ...]. An answer may be a list of spellings of one answer.',
            upload="several-answers",
            accept=".json,.jsonl,application/json",
        ),
    ),
)


VIEWS = (
    MeasureSource(
        Measure(
            "semantic_entropy",
            Aspect.UNCERTAINTY,
            "Semantic entropy",
            "Number of meanings of the model's replies to the same question, as entropy in "
            "nats: 0 if all replies have the same meaning, more if the model is unsure.",
            lowest=0.0,
            better="lower",
        ),
        build_column_reader("semantic_entropy"),
    ),
    MeasureSource(
        Measure(
            "stated_confidence",
            Aspect.UNCERTAINTY,
            "Stated confidence",
            "The confidence that the model states, from 0 to 100; the mean over its replies.",
            lowest=0.0,
            highest=100.0,
            better="",
        ),
        build_column_reader("verbalised"),
    ),
    MeasureSource(
        Measure(
            "consistency",
            Aspect.UNCERTAINTY,
            "Consistency",
            "Similarity of the model's replies to the same question: 1 if all are the same.",
            lowest=0.0,
            highest=1.0,
        ),
        build_column_reader("consistency"),
    ),
    MeasureSource(
        Measure(
            "first_word_spread",
            Aspect.UNCERTAINTY,
            "First-token entropy",
            "Entropy of the first token of the model's answers, in nats.",
            lowest=0.0,
            better="lower",
        ),
        build_column_reader("entropy"),
    ),
)
