"""Web page of a question in a run."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Self, get_args
from uuid import UUID

from django.http import Http404, HttpRequest

from annotations.web.paging import Page
from annotations.web.query import parse_choice
from evaluation.core.charts.chart import Chart
from evaluation.grading.alarms.report import read_alarms_and_marks
from evaluation.grading.results.charts.answer_map import build_captions, build_map_chart
from evaluation.grading.results.charts.answers import MOST, build_answers_chart
from evaluation.grading.results.pages import grading_page
from evaluation.grading.results.report.answer_map import AnswerMap, Axes, read_answer_map
from evaluation.grading.results.report.question import (
    QuestionInRun,
    QuestionReport,
    build_answers_of_page,
    build_first_page,
    build_question_report,
    read_answer_page,
    read_question,
)
from evaluation.grading.results.views.remedies import build_verdict_context
from evaluation.models import Run
from evaluation.runs.result_pages import Context, worker_link


@grading_page("evaluation/question.html")
def show_question(request: HttpRequest, run: Run, question: UUID) -> Context:
    """Show a question, the workers' answers by score, and the models' answers.

    `after` (a page of answers) and `axes` (of the map) come from the address.
    """
    after = request.GET.get("after", "")
    axes = read_axes(request)
    source, best = read_question(run, question), read_answer_page(run, question, size=MOST)
    page = read_answer_page(run, question, after) if after else build_first_page(best)
    report = read_report(run, question, after, source, page)
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


def read_report(
    run: Run,
    question: UUID,
    after: str = "",
    source: QuestionInRun | None = None,
    page: Page[dict[str, Any]] | None = None,
) -> QuestionReport:
    """Return a question's report; 404 for an unknown question."""
    report = build_question_report(run, question, after, found=source, page=page)
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
    """The map of a question's answers, with captions for its slider over the iterations.

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
        """Return the map card of a report, drawn at the last iteration."""
        words = build_captions(report)
        return cls(report, draw_map(run, report), json.dumps(words), words[-1], len(words) - 1)

    @property
    def steps(self) -> list[tuple[int, float, float, float]]:
        """Iteration, x and y of the consensus, and distance it moved, one entry per iteration."""
        places = zip(self.report.iterations, self.report.path, self.report.moved, strict=True)
        return [(iteration, x, y, moved) for iteration, (x, y), moved in places]


def read_axes(request: HttpRequest) -> Axes:
    """Return the query parameter `axes` ("run" or "question"), by default "run"."""
    axes: Any = parse_choice(request.GET, "axes", get_args(Axes), "run")
    return axes


def draw_map(run: Run, report: AnswerMap, at: int | None = None) -> Chart:
    """Return the chart of a question's map at an iteration, by default the last."""
    return build_map_chart(report, at, lambda worker: worker_link(run, worker))
