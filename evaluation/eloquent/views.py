"""Pages of an ELOQUENT run, the page that starts it, and its columns in the model overview."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest

from annotations.models import QuestionSetVersion
from annotations.web.query import parse_choice, parse_number
from evaluation.core.charts.chart import Chart
from evaluation.core.estimates import CORRECTED_BY
from evaluation.eloquent.charts import build_findings_chart
from evaluation.eloquent.report import build_report, load_findings_with_experts
from evaluation.eloquent.report.comparison import (
    build_comparison_report,
    build_differences_page,
    compare_models_by_group,
)
from evaluation.eloquent.report.results import build_texts_page
from evaluation.eloquent.run.findings import (
    Submitter,
    build_submission_file_name,
    build_submissions,
)
from evaluation.eloquent.storage import (
    EloquentSummary,
    estimate_requests,
    has_comparable_item,
    load_prompt_items,
)
from evaluation.models import Run
from evaluation.runs.flow.stored import Aspect, Measure, MeasureSource, build_column_reader
from evaluation.runs.result_pages import Context, get_p_value_correction, make_results_page
from evaluation.runs.run_types.kind import DataReadiness, Page, Start, StartFile

CHART = "reply-scores"


def load_scores_chart(run: Run) -> Chart | None:
    """Return the chart of the run's similarity scores by item; None without scores."""
    return build_findings_chart(load_findings_with_experts(run))


def build_scores_context(run: Run) -> Mapping[str, Any]:
    """Return the template context of the scores page: report and chart."""
    report = build_report(run)
    return {
        "report": report,
        "by_people": any(system.human_n for system in report.systems),
        "chart": load_scores_chart(run),
    }


PAGES = (
    Page("", "Scores", "evaluation/eloquent/scores.html", build_scores_context),
    Page("models", "Models compared", address="results-reply-models"),
    Page("texts", "Texts side by side", address="results-reply-texts"),
)
CHARTS = {CHART: load_scores_chart}


def build_submission_files(run: Run) -> Mapping[str, bytes]:
    """Return submission files to the ELOQUENT lab as JSON bytes, by file name."""
    submitter = Submitter(date=run.finished_at.date().isoformat() if run.finished_at else "")
    forms = build_submissions(load_findings_with_experts(run).replies, submitter)
    return {
        build_submission_file_name(form): (
            json.dumps(form, ensure_ascii=False, indent=2) + "\n"
        ).encode()
        for form in forms
    }


def describe_version_inputs(version: QuestionSetVersion | None) -> DataReadiness:
    """Return the start page's note: questions with several wordings, and their languages."""
    items = () if version is None else load_prompt_items(version)
    if not has_comparable_item(items):
        return DataReadiness("No question has two wordings in one language yet.", ready=False)
    n_prompts = sum(len(item.variants) for item in items)
    languages = ", ".join(dict.fromkeys(code for item in items for code in item.languages))
    return DataReadiness(f"{len(items)} questions in {n_prompts} wordings; languages: {languages}.")


START = Start(
    words="A reply that changes with the wording is not robust.",
    before=describe_version_inputs,
    foreseen=estimate_requests,
    files=(
        StartFile(
            name="prompts",
            title="Upload prompts",
            words="A JSON file of the ELOQUENT robustness task: items, each with its wordings and "
            "their languages. The first wording becomes the question, the others its variants.",
            upload="prompts",
            accept=".json,application/json",
            switches={"repair": "Add missing commas, and tell me where"},
        ),
    ),
)


VIEWS = (
    MeasureSource(
        Measure(
            "reply_similarity",
            Aspect.ROBUSTNESS,
            "Similarity of replies",
            "Similarity of the model's replies to wordings with the same meaning; 1 if all "
            "replies have the same meaning.",
            highest=1.0,
        ),
        build_column_reader("similarity"),
    ),
    MeasureSource(
        Measure(
            "judged_similarity",
            Aspect.ROBUSTNESS,
            "Judge's similarity score",
            "A judge's similarity score of the model's replies to wordings with the same "
            "meaning, from 0 to 5.",
            lowest=0.0,
            highest=5.0,
        ),
        build_column_reader("score"),
    ),
)


@make_results_page("evaluation/eloquent/texts.html", EloquentSummary)
def show_texts(request: HttpRequest, run: Run) -> Context:
    """Show a page of reply sets, least similar replies first, optionally of one model."""
    findings = load_findings_with_experts(run)
    names = ("", *findings.systems)
    model = parse_choice(request.GET, "model", names, "")
    start = parse_number(request.GET, "start", 0, 99_999_999, blank=True) or 0
    return {
        "title": "Texts side by side",
        "subtitle": run.version.question_set.name,
        "page": build_texts_page(findings, start, model),
        "systems": findings.systems,
        "model": model,
    }


@make_results_page("evaluation/eloquent/models.html", EloquentSummary)
def show_comparison(request: HttpRequest, run: Run) -> Context:
    """Show model comparisons by item group, and the items on which two models differ most."""
    findings = load_findings_with_experts(run)
    correction = get_p_value_correction(request.GET)
    systems = findings.systems
    report = build_comparison_report(findings, compare_models_by_group(run, findings, correction))
    differences, first, second = None, "", ""
    if len(systems) > 1:
        first = parse_choice(request.GET, "first", systems, systems[0])
        second = parse_choice(request.GET, "second", systems, systems[1])
        start = parse_number(request.GET, "start", 0, 99_999_999, blank=True) or 0
        differences = (
            build_differences_page(findings, first, second, start) if first != second else None
        )
    return {
        "title": "Models compared",
        "subtitle": run.version.question_set.name,
        "report": report,
        "correction": correction,
        "corrections": CORRECTED_BY,
        "parts": (
            ("By kind of variation", report.variations),
            ("By language", report.languages),
            ("Across languages", report.across),
        ),
        "first": first,
        "second": second,
        "differences": differences,
    }
