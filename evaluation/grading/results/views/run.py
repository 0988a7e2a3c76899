"""Web page of a run: its workers, questions and method."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.http import HttpRequest

from annotations.models import rights
from annotations.web.query import parse_choice
from evaluation.core.charts.chart import Chart
from evaluation.core.charts.scales import format_number
from evaluation.grading.alarms.report import build_alarms_report, read_marks
from evaluation.grading.facts.report import build_run_facts
from evaluation.grading.remedies.report import build_remedies_report
from evaluation.grading.results.charts.convergence import build_convergence_chart
from evaluation.grading.results.charts.grades import MOST as MOST_WORKERS
from evaluation.grading.results.charts.grades import build_grades_chart, build_ranks_chart
from evaluation.grading.results.charts.questions import MOST as MOST_QUESTIONS
from evaluation.grading.results.charts.questions import build_questions_chart
from evaluation.grading.results.pages import grading_page
from evaluation.grading.results.report.changes import has_same_answers
from evaluation.grading.results.report.questions import ORDERS, read_question_rows
from evaluation.grading.results.report.run import build_run_report
from evaluation.grading.results.report.workers import build_first_page, read_worker_rows
from evaluation.grading.results.views.remedies import (
    build_link_to_add_models,
    build_verdict_context,
)
from evaluation.grading.summary import read_summary
from evaluation.models import Run
from evaluation.runs.result_pages import Context, question_link, worker_link

LONGEST_SEARCH = 255
ITERATIONS_SHOWN = 100
# Rows of a picture on the page; the picture as a file has more. Each is drawn twice, also narrow.
WORKERS_DRAWN = 100
# Questions in the table of the page of disagreement; the chart has more.
QUESTIONS_SHOWN = 20


@grading_page("evaluation/run.html")
def show_results(request: HttpRequest, run: Run) -> Context:
    """Show grades, questions, convergence, warnings and signature of a run.

    `workers`, `questions`, `by`, `q` and `check` come from the address.
    """
    asked = request.GET
    report = build_run_report(run)
    search = asked.get("q", "").strip()[:LONGEST_SEARCH].replace("\x00", "")
    by: Any = parse_choice(asked, "by", ORDERS, "position")
    first = read_worker_rows(run, size=WORKERS_DRAWN)
    best = first.rows if report.n_graded else []
    link = _build_worker_link(run)
    after = asked.get("workers", "")
    workers = read_worker_rows(run, after, search) if after or search else build_first_page(first)
    may_edit = rights(request.user, run.version.question_set).edit
    return {
        **build_verdict_context(run, [row.worker for row in workers.rows], may_edit),
        "title": f"People and questions of {report.about.name}",
        "report": report,
        "add_models": build_link_to_add_models(run) if may_edit else "",
        "alarms": build_alarms_report(run),
        "remedies": build_remedies_report(run),
        "search": search,
        "workers": workers,
        "marks": read_marks(run, [row.worker for row in workers.rows]),
        "by": by,
        "questions": read_question_rows(run, asked.get("questions", ""), by),
        "trace": [
            (at, format_number(change))
            for at, change in enumerate(report.trace[:ITERATIONS_SHOWN], 1)
        ],
        "charts": {
            "grades": build_grades_chart(best, report.n_graded, link) if best else None,
            "ranks": build_ranks_chart(best, report.n_graded, link),
            "questions": draw_disagreement(run, report.counts.get("questions", 0)),
            "convergence": build_convergence_chart(report.trace) if report.trace else None,
        },
        "facts": build_run_facts(run),
        "same_inputs": has_same_answers(run) if asked.get("check") == "inputs" else None,
    }


@grading_page("evaluation/disagreement.html")
def questions_by_disagreement(request: HttpRequest, run: Run) -> Context:
    """Show the questions on which workers disagree, most disagreement first."""
    n_questions = read_summary(run).shown_counts().get("questions", 0)
    rows = read_question_rows(run, by="dispersion", size=QUESTIONS_SHOWN).rows
    return {
        "title": f"What do people disagree about? {run.version.question_set.name}",
        "chart": draw_disagreement(run, n_questions) if rows else None,
        "questions": [row for row in rows if row.dispersion is not None],
        "n_questions": n_questions,
    }


def draw_grades(run: Run, n_workers: int) -> Chart:
    """Return the chart of the best workers' grades with intervals."""
    return build_grades_chart(
        read_worker_rows(run, size=MOST_WORKERS).rows, n_workers, _build_worker_link(run)
    )


def draw_ranks(run: Run, n_workers: int) -> Chart | None:
    """Return the chart of the best workers' ranks; None if they have no intervals."""
    return build_ranks_chart(
        read_worker_rows(run, size=MOST_WORKERS).rows, n_workers, _build_worker_link(run)
    )


def _build_worker_link(run: Run) -> Callable[[UUID], str]:
    """Return the function that gives the URL of a worker's page in a run."""

    def link(worker: UUID) -> str:
        return worker_link(run, worker)

    return link


def draw_disagreement(run: Run, n_questions: int) -> Chart | None:
    """Return the chart of the questions with the most disagreement; None without any."""

    def link(question: UUID) -> str:
        return question_link(run, question)

    rows = read_question_rows(run, by="dispersion", size=MOST_QUESTIONS).rows
    return build_questions_chart(rows, n_questions, link) if n_questions else None
