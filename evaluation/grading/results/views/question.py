"""The page of a question in a run."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Self, get_args
from uuid import UUID

from django.http import Http404, HttpRequest

from annotations.web.paging import Page
from annotations.web.query import parse_choice
from evaluation.charts.chart import Chart
from evaluation.grading.alarms.report import read_alarms_and_marks
from evaluation.grading.results.charts.answer_map import captions, map_chart
from evaluation.grading.results.charts.answers import MOST, answers_chart
from evaluation.grading.results.pages import grading_page
from evaluation.grading.results.report.answer_map import AnswerMap, Axes, answer_map
from evaluation.grading.results.report.question import (
    QuestionInRun,
    QuestionReport,
    answer_page,
    answers_in,
    beginning_of,
    question_in_run,
    question_report,
)
from evaluation.grading.results.views.remedies import decided
from evaluation.models import Run
from evaluation.result_pages import Context, worker_link


@grading_page("evaluation/question.html")
def question(request: HttpRequest, run: Run, question: UUID) -> Context:
    """Show a question, its answers nearest to the consensus first, and the models' answers.

    `after` and `axes` come from the address.
    """
    after = request.GET.get("after", "")
    axes = asked_axes(request)
    source, best = question_in_run(run, question), answer_page(run, question, size=MOST)
    page = answer_page(run, question, after) if after else beginning_of(best)
    report = found(run, question, after, source, page)
    places = answer_map(run, question, axes, source, best)
    workers = [answer.worker for answer in report.answers.rows]
    alarms, marks = read_alarms_and_marks(run, report.question, workers)
    return {
        "title": f"Question {report.name}",
        "report": report,
        "alarms": alarms,
        **decided(run, workers, False),
        "marks": marks,
        "chart": answers(run, question, report, best),
        "map": MapCard.of(run, places) if places else None,
        "axes": axes,
    }


def found(
    run: Run,
    question: UUID,
    after: str = "",
    source: QuestionInRun | None = None,
    page: Page[dict[str, Any]] | None = None,
) -> QuestionReport:
    """Return a question's report; 404 without such a question."""
    report = question_report(run, question, after, found=source, page=page)
    if report is None:
        raise Http404("the run has no such question")
    return report


def answers(
    run: Run, question: UUID, report: QuestionReport, best: Page[dict[str, Any]] | None = None
) -> Chart | None:
    """Return the picture of the answers; None where nobody answered.

    It always shows the best ones, so it reads them if `report` is another page and `best`, the
    `answer_page` with so many, is not given.
    """
    rows = report.answers.rows
    if report.answers.after or report.answers.next:
        rows = answers_in(best or answer_page(run, question, size=MOST))
    if not rows:
        return None
    return answers_chart(rows, report.models, report.n_answers)


@dataclass(frozen=True)
class MapCard:
    """The map of a question with its slider.

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
    def of(cls, run: Run, report: AnswerMap) -> Self:
        """Draw a map as it is at the end."""
        words = captions(report)
        return cls(report, map_of(run, report), json.dumps(words), words[-1], len(words) - 1)

    @property
    def steps(self) -> list[tuple[int, float, float, float]]:
        """Iteration, place of the consensus, and how far it moved."""
        places = zip(self.report.iterations, self.report.path, self.report.moved, strict=True)
        return [(iteration, x, y, moved) for iteration, (x, y), moved in places]


def asked_axes(request: HttpRequest) -> Axes:
    """Return which axes `axes` in the address names; 404 for others."""
    axes: Any = parse_choice(request.GET, "axes", get_args(Axes), "run")
    return axes


def map_of(run: Run, report: AnswerMap, at: int | None = None) -> Chart:
    """Return the picture of a map at one of its iterations (the last one)."""
    return map_chart(report, at, lambda worker: worker_link(run, worker))
