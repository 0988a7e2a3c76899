"""Web pages of a run, its questions and workers, and its comparison with another run."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self, get_args
from uuid import UUID

from django.http import Http404, HttpRequest

from annotations.models import rights
from annotations.web.paging import Page
from annotations.web.query import parse_choice, parse_public_id
from annotations.web.scope import get_visible_or_404
from evaluation.core.charts.chart import Chart
from evaluation.core.charts.svg import format_number
from evaluation.grading.alarms.report import (
    build_alarms_report,
    count_alarms,
    read_alarms_and_marks,
    read_marks,
)
from evaluation.grading.facts.report import build_run_facts
from evaluation.grading.remedies.report import build_remedies_report
from evaluation.grading.results.charts.answers import (
    MOST,
    build_answers_chart,
    build_iteration_captions,
    build_map_chart,
    build_worker_chart,
)
from evaluation.grading.results.charts.grades import MOST as MOST_WORKERS
from evaluation.grading.results.charts.grades import QUESTIONS_MOST as MOST_QUESTIONS
from evaluation.grading.results.charts.grades import (
    build_convergence_chart,
    build_grades_chart,
    build_questions_chart,
    build_ranks_chart,
    build_run_comparison_chart,
)
from evaluation.grading.results.pages import grading_page
from evaluation.grading.results.report.against import (
    RunComparison,
    build_run_comparison,
    read_other_runs,
)
from evaluation.grading.results.report.changes import has_same_answers
from evaluation.grading.results.report.evidence import read_signals
from evaluation.grading.results.report.maps import AnswerMap, Axes, read_answer_map
from evaluation.grading.results.report.questions import (
    ORDERS,
    QuestionInRun,
    QuestionReport,
    build_answers_of_page,
    build_question_report,
    read_answer_page,
    read_question,
    read_question_rows,
)
from evaluation.grading.results.report.questions import build_first_page as build_first_answer_page
from evaluation.grading.results.report.run import build_run_report
from evaluation.grading.results.report.workers import (
    WorkerReport,
    build_first_page,
    build_worker_report,
    read_worker_rows,
)
from evaluation.grading.results.views.alarms import (
    build_exclusion_links,
    build_link_to_add_models,
    build_verdict_context,
    read_what_if,
)
from evaluation.grading.summary import describe_contradictions, read_summary
from evaluation.models import Run
from evaluation.models.runs import GRADING
from evaluation.runs.result_pages import (
    Context,
    build_question_link,
    build_status_link,
    build_worker_link,
)

LONGEST_SEARCH = 255
ITERATIONS_SHOWN = 100
# Rows of a picture on the page; the picture as a file has more. Each is drawn twice, also narrow.
WORKERS_DRAWN = 100
# Questions in the table of the page of disagreement; the chart has more.
QUESTIONS_SHOWN = 20


@grading_page("evaluation/run.html")
def show_results(request: HttpRequest, run: Run) -> Context:
    """Show a run's grades, questions, convergence, warnings and signature.

    `workers`, `questions`, `by`, `q` and `check` come from the address.
    """
    query = request.GET
    report = build_run_report(run)
    # PostgreSQL refuses a text with a NUL.
    search = query.get("q", "").strip()[:LONGEST_SEARCH].replace("\x00", "")
    by: Any = parse_choice(query, "by", ORDERS, "position")
    # One query for the charts and for the first page of the list.
    first = read_worker_rows(run, size=WORKERS_DRAWN)
    best = first.rows if report.n_graded else []
    link = _build_worker_link(run)
    after = query.get("workers", "")
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
        "questions": read_question_rows(run, query.get("questions", ""), by),
        "trace": [
            (index, format_number(change))
            for index, change in enumerate(report.trace[:ITERATIONS_SHOWN], 1)
        ],
        "charts": {
            "grades": build_grades_chart(best, report.n_graded, link) if best else None,
            "ranks": build_ranks_chart(best, report.n_graded, link),
            "questions": draw_disagreement(run, report.counts.get("questions", 0)),
            "convergence": build_convergence_chart(report.trace) if report.trace else None,
        },
        "facts": build_run_facts(run),
        "contradictions": describe_contradictions(read_summary(run).facts),
        "same_inputs": has_same_answers(run) if query.get("check") == "inputs" else None,
    }


@grading_page("evaluation/disagreement.html")
def show_questions_by_disagreement(request: HttpRequest, run: Run) -> Context:
    """Show a page of questions, those with the most disagreement among workers first."""
    n_questions = read_summary(run).get_shown_counts().get("questions", 0)
    rows = read_question_rows(run, by="dispersion", size=QUESTIONS_SHOWN).rows
    return {
        "title": f"What do people disagree about? {run.version.question_set.name}",
        "chart": draw_disagreement(run, n_questions) if rows else None,
        "questions": [row for row in rows if row.dispersion is not None],
        "n_questions": n_questions,
    }


def draw_grades(run: Run, n_workers: int) -> Chart:
    """Return the chart of the best workers' grades with their intervals."""
    return build_grades_chart(
        read_worker_rows(run, size=MOST_WORKERS).rows, n_workers, _build_worker_link(run)
    )


def draw_ranks(run: Run, n_workers: int) -> Chart | None:
    """Return the chart of the best workers' ranks; None if they have no intervals."""
    return build_ranks_chart(
        read_worker_rows(run, size=MOST_WORKERS).rows, n_workers, _build_worker_link(run)
    )


def _build_worker_link(run: Run) -> Callable[[UUID], str]:
    """Return a function that returns the URL of a worker's page in the run."""

    def link_worker(worker: UUID) -> str:
        """Return the URL of a worker's page."""
        return build_worker_link(run, worker)

    return link_worker


def draw_disagreement(run: Run, n_questions: int) -> Chart | None:
    """Return the chart of the questions with the most disagreement; None without any."""

    def link_question(question: UUID) -> str:
        """Return the URL of a question's page."""
        return build_question_link(run, question)

    rows = read_question_rows(run, by="dispersion", size=MOST_QUESTIONS).rows
    return build_questions_chart(rows, n_questions, link_question) if n_questions else None


@grading_page("evaluation/question.html")
def show_question(request: HttpRequest, run: Run, question: UUID) -> Context:
    """Show a question, the workers' answers by score, and the models' answers.

    `after` (a page of answers) and `axes` (of the map) come from the address.
    """
    after = request.GET.get("after", "")
    axes = read_axes(request)
    source, best = read_question(run, question), read_answer_page(run, question, size=MOST)
    page = read_answer_page(run, question, after) if after else build_first_answer_page(best)
    report = read_question_report(run, question, after, source, page)
    places = read_answer_map(run, question, axes, source, best)
    workers = [answer.worker for answer in report.answers.rows]
    alarms, marks = read_alarms_and_marks(run, report.question, workers)
    return {
        "title": f"Question {report.name}",
        "report": report,
        "alarms": alarms,
        **build_verdict_context(run, workers, False),
        "marks": marks,
        "chart": draw_answers(run, question, report, best),
        "map": MapCard.from_report(run, places) if places else None,
        "axes": axes,
    }


def read_question_report(
    run: Run,
    question: UUID,
    after: str = "",
    source: QuestionInRun | None = None,
    page: Page[dict[str, Any]] | None = None,
) -> QuestionReport:
    """Return the report on a question, or raise 404 for an unknown question."""
    report = build_question_report(run, question, after, question_in_run=source, page=page)
    if report is None:
        raise Http404("the run has no such question")
    return report


def draw_answers(
    run: Run, question: UUID, report: QuestionReport, best: Page[dict[str, Any]] | None = None
) -> Chart | None:
    """Return the chart of the answers to a question by score; None without an answer.

    It always shows the best answers, so it reads them if `report` has another page and `best`, the
    first `answer_page`, is None.
    """
    rows = report.answers.rows
    if report.answers.after or report.answers.next:
        rows = build_answers_of_page(best or read_answer_page(run, question, size=MOST))
    if not rows:
        return None
    return build_answers_chart(rows, report.models, report.n_answers)


@dataclass(frozen=True)
class MapCard:
    """Map of the answers to a question, with a slider over iterations and its captions.

    Attributes
    ----------
    captions : what each iteration shows, as JSON for the script; `caption` that of the last.
    last : place of the last iteration among them.
    """

    report: AnswerMap
    chart: Chart
    captions: str
    caption: str
    last: int

    @classmethod
    def from_report(cls, run: Run, report: AnswerMap) -> Self:
        """Return the card of a map, drawn at the last iteration."""
        words = build_iteration_captions(report)
        return cls(report, draw_map(run, report), json.dumps(words), words[-1], len(words) - 1)

    @property
    def steps(self) -> list[tuple[int, float, float, float]]:
        """(iteration, x, y, distance moved) of the consensus in each shown iteration."""
        places = zip(self.report.iterations, self.report.path, self.report.moved, strict=True)
        return [(iteration, x, y, moved) for iteration, (x, y), moved in places]


def read_axes(request: HttpRequest) -> Axes:
    """Return the query parameter `axes`: "run" (the default) or "question"."""
    axes: Any = parse_choice(request.GET, "axes", get_args(Axes), "run")
    return axes


def draw_map(run: Run, report: AnswerMap, index: int | None = None) -> Chart:
    """Return the map of a question's answers at an iteration, by default the last."""
    return build_map_chart(report, index, lambda worker: build_worker_link(run, worker))


@grading_page("evaluation/worker.html")
def show_worker(request: HttpRequest, run: Run, worker: UUID) -> Context:
    """Show a worker's grade, and every answer with the consensus (nearest) answer.

    `after` (a page of answers) and `without` (whether to compute a run without the worker) come
    from the address.
    """
    report = read_worker_report(run, worker, request.GET.get("after", ""))
    may_edit = rights(request.user, run.version.question_set).edit
    return {
        **build_verdict_context(run, [worker], may_edit),
        "title": f"Worker {report.worker.name}",
        "report": report,
        "alarms": build_alarms_report(run, worker=report.worker.worker),
        "chart": draw_scores(run, report),
        "signals": read_signals(run, [worker], in_full=True).get(worker),
        "without": build_exclusion_links(run, [report.worker], may_edit),
        "what_if": read_what_if(request, run),
    }


def read_worker_report(run: Run, worker: UUID, after: str = "") -> WorkerReport:
    """Return the report on a worker, or raise 404 for an unknown worker."""
    report = build_worker_report(run, worker, after)
    if report is None:
        raise Http404("the run has no such worker")
    return report


def draw_scores(run: Run, report: WorkerReport) -> Chart | None:
    """Return the chart of a worker's answers by leave-one-out score; None without a score."""

    def link_question(question: UUID) -> str:
        """Return the URL of a question's page."""
        return build_question_link(run, question)

    if all(answer.score_leave_one_out is None for answer in report.answers.rows):
        return None
    return build_worker_chart(report.answers.rows, report.worker.leave_one_out, link_question)


@grading_page("evaluation/against.html")
def show_run_comparison(request: HttpRequest, run: Run) -> Context:
    """Show what differs between this run and another one, and why.

    `with` in the address names the other run; by default it is the newest one.
    """
    runs = read_other_runs(run)
    other = read_other_run(request, run)
    if other is None:
        done = next((entry.run for entry in runs if entry.is_done), None)
        other = None if done is None else _get_other_or_404(request, run, done)
    report = build_run_comparison(run, other) if other and _is_finished(other) else None
    movers = report.movers if report else []
    may_edit = rights(request.user, run.version.question_set).edit
    alarms_here, *alarms_there = count_alarms(run, *([other] if other and report else []))
    return {
        **build_verdict_context(run, [mover.worker for mover in movers], may_edit),
        "title": f"Runs of {run.version.question_set.name} compared",
        "runs": runs,
        "other": other,
        "other_link": build_status_link(other) if other else "",
        "report": report,
        "alarms_here": alarms_here,
        "alarms_there": alarms_there[0] if alarms_there else None,
        "chart": draw_grade_changes(report, run) if report else None,
    }


def read_other_run(request: HttpRequest, run: Run) -> Run | None:
    """Return the run in the query parameter `with`; None without one, 404 if not visible."""
    run_id = parse_public_id(request.GET, "with", blank=True)
    return None if run_id is None else _get_other_or_404(request, run, run_id)


def build_comparison(request: HttpRequest, run: Run) -> RunComparison:
    """Return the comparison of two runs for a file; raise 404 if either has no results."""
    other = read_other_run(request, run)
    if other is None or not _is_finished(other):
        raise Http404("another run with results is needed")
    return build_run_comparison(run, other)


def draw_grade_changes(report: RunComparison, run: Run) -> Chart | None:
    """Return the chart of workers' grades in both runs; None without common grades."""

    def link_worker(worker: UUID) -> str:
        """Return the URL of a worker's page."""
        return build_worker_link(run, worker)

    return build_run_comparison_chart(report, link_worker)


def _get_other_or_404(request: HttpRequest, run: Run, run_id: UUID) -> Run:
    """Return another grading of the question set; raise 404 if the user may not see it."""
    runs = Run.objects.select_related("version__question_set").exclude(pk=run.pk)
    of_set = runs.filter(version__question_set=run.version.question_set_id, kind=GRADING)
    return get_visible_or_404(request, of_set, run_id)


def _is_finished(run: Run) -> bool:
    """Return whether a run has finished."""
    return run.state == Run.State.DONE
