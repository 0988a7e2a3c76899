"""Pages of a UMWP run, its start page, and its columns in the model overview."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from django import forms
from django.http import HttpRequest

from annotations.models import QuestionSetVersion
from evaluation.core.charts.chart import Chart
from evaluation.models import Run
from evaluation.runs.flow.stored import Aspect, Cells, Measure, MeasureSource
from evaluation.runs.result_pages import Context, make_results_page
from evaluation.runs.run_types.kind import DataReadiness, Page, Start, StartFile
from evaluation.umwp.charts import build_f1_by_size_chart, build_f1_chart
from evaluation.umwp.report.people import LABELS, UNRELATED_LABELS, build_people_report
from evaluation.umwp.report.results import (
    OUTCOMES,
    TABLES,
    build_noticing_report,
    build_replies_page,
)
from evaluation.umwp.run.classification import ANSWERABLE, UNANSWERABLE
from evaluation.umwp.storage.questions import list_problems
from evaluation.umwp.storage.running import UmwpSummary, estimate_requests

FORM_DESCRIPTIONS = {
    "direct": "the problem alone",
    "instruction": "with an instruction that some problems have no answer",
    "in-context": "after eight worked examples",
}


def load_noticing_context(run: Run) -> Mapping[str, Any]:
    """Return the template context of the results page: the report and its charts."""
    report = build_noticing_report(run)
    return {
        "report": report,
        "forms": [
            (
                form,
                FORM_DESCRIPTIONS.get(form, form),
                [model for model in report.models if model.form == form],
            )
            for form in report.forms
        ],
        "chart": build_f1_chart(report.models),
        "by_size": build_f1_by_size_chart(report.sizes),
        "table_names": list(TABLES),
    }


def load_by_size_chart(run: Run) -> Chart | None:
    """Return the chart of F1 by model size of a run; None if no size is known."""
    return build_f1_by_size_chart(build_noticing_report(run).sizes)


def load_f1_chart(run: Run) -> Chart | None:
    """Return the chart of F1 by model and prompt form of a run; None without an F1."""
    return build_f1_chart(build_noticing_report(run).models)


def load_people_context(run: Run) -> Mapping[str, Any]:
    """Return the template context of the human benchmark page."""
    return {
        "report": build_people_report(run),
        "judging": LABELS,
        "unrelated": UNRELATED_LABELS,
    }


PAGES = (
    Page("", "Results", "evaluation/umwp/results.html", load_noticing_context),
    Page("replies", "Replies", address="results-noticing-replies"),
    Page("people", "People", "evaluation/umwp/people.html", load_people_context),
)
CHARTS = {"noticing": load_f1_chart, "by-size": load_by_size_chart}


def describe_questions(version: QuestionSetVersion | None) -> DataReadiness:
    """Return the start page's text: answerable, unanswerable, nonmathematical questions."""
    problems = [] if version is None else list_problems(version)
    if not problems:
        return DataReadiness("No question has a text yet.", ready=False)
    counts = Counter(problem.answerable for problem in problems)
    texts = sum(not problem.is_math for problem in problems)
    if texts:
        not_math = (
            f" {texts:,} of the {len(problems):,} questions are not mathematical (by accepted "
            "answers and wording). For these a letter in the answer does not count as a variable."
        )
    else:
        not_math = ""
    unknown = counts[None]
    if unknown == len(problems):
        return DataReadiness(
            f"None of the {unknown:,} questions is labelled as answerable or unanswerable. The run "
            f"shows how each model classifies them, not whether it is right.{not_math}"
        )
    labelled = f"{counts[True]:,} answerable questions, {counts[False]:,} unanswerable"
    others = f"; {unknown:,} without a label are asked and not counted" * bool(unknown)
    return DataReadiness(f"{labelled}{others}.{not_math}")


START = Start(
    words="A model that answers an unanswerable problem invents the answer.",
    before=describe_questions,
    foreseen=estimate_requests,
    files=(
        StartFile(
            name="problems",
            title="Upload math word problems",
            words="UMWP's file or one of the same format: a JSON object on each line, with the "
            "question, whether it is answerable, the right number, the category (1 to 5) of an "
            "unanswerable one, and the ids of its original problems. Each line becomes a question.",
            upload="word-problems",
            accept=".jsonl,.ndjson,.json,application/json",
        ),
    ),
)


def score_no_answer_claim(row: Cells) -> float | None:
    """Return 1 for a reply classified as unanswerable, 0 for answerable, else None.

    `row` is a row of items.csv.
    """
    return {UNANSWERABLE: 1.0, ANSWERABLE: 0.0}.get(str(row.get("taken_as") or ""))


def score_classification(row: Cells) -> float | None:
    """Return 1 if a reply's class equals its question's label, else 0; None if either is missing.

    `row` is a row of items.csv, as stored or as read from a file.
    """
    label, taken_as = row.get("answerable"), row.get("taken_as")
    if label in (None, "") or taken_as in (None, ""):
        return None
    answerable = label in (True, "true")
    return float(taken_as == (ANSWERABLE if answerable else UNANSWERABLE))


VIEWS = (
    MeasureSource(
        Measure(
            "notices",
            Aspect.ANSWERABILITY,
            "Answerability classified correctly",
            "1 where the model answers an answerable question or calls an unanswerable one "
            "unanswerable; else 0.",
            lowest=0.0,
            highest=1.0,
        ),
        score_classification,
        split="form",
    ),
    MeasureSource(
        Measure(
            "says_no_answer",
            Aspect.ANSWERABILITY,
            "Classified as unanswerable",
            "1 if the model's reply states that the question has no answer, rightly or not.",
            lowest=0.0,
            highest=1.0,
            better="",
        ),
        score_no_answer_claim,
        split="form",
    ),
)


class ChooseForm(forms.Form):
    """Filter form of the page of replies; an unknown filter value shows all replies."""

    model = forms.ChoiceField(label="Model", required=False)
    form = forms.ChoiceField(label="Prompt form", required=False)
    outcome = forms.ChoiceField(label="Outcome", required=False)

    def __init__(self, summary: UmwpSummary, data: object) -> None:
        super().__init__(data, label_suffix="", auto_id="choose-%s")  # type: ignore[arg-type]
        values_by_field = {"model": summary.systems, "form": summary.forms}
        for name, values in values_by_field.items():
            choices = [("", "all"), *((value, value) for value in values)]
            self.fields[name].choices = choices  # type: ignore[attr-defined]
        outcomes = [("", "all, errors first"), *OUTCOMES.items()]
        self.fields["outcome"].choices = outcomes  # type: ignore[attr-defined]


@make_results_page("evaluation/umwp/replies.html", UmwpSummary)
def show_replies(request: HttpRequest, run: Run) -> Context:
    """Show a page of a run's replies, wrong ones first.

    The query has the filters `model`, `form` and `outcome`, and the number of the `page`.
    """
    summary = UmwpSummary.from_json(run.summary)
    form = ChooseForm(summary, request.GET)
    form.full_clean()
    chosen = form.cleaned_data
    number = request.GET.get("page", "")
    # `int` also accepts other digits, signs and underscores, and is slow for long texts.
    page = build_replies_page(
        run,
        chosen.get("model", ""),
        chosen.get("form", ""),
        chosen.get("outcome", ""),
        int(number) if number.isascii() and number.isdigit() and len(number) < 9 else 1,
    )
    return {
        "title": "Replies, errors first",
        "subtitle": f"{run.version.question_set.name}, version {run.version.number}",
        "form": form,
        "page": page,
        "counts": [(OUTCOMES[name], count) for name, count in page.counts.items()],
        "threshold": summary.threshold,
    }
