"""The page of a question in a run."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Self, get_args
from uuid import UUID

from django.http import Http404, HttpRequest

from annotations.web.query import choice
from evaluation.charts import Chart, answers_chart, map_chart
from evaluation.charts.answer_map import captions
from evaluation.charts.answers import MOST
from evaluation.models import Run
from evaluation.reports import AnswerMap, QuestionReport, answer_map, question_report
from evaluation.reports.alarms import alarms_report, marks_of
from evaluation.reports.answer_map import Axes
from evaluation.reports.question import answer_rows
from evaluation.site.results.page import Context, results_page, worker_link
from evaluation.site.results.remedies import decided


@results_page("evaluation/question.html")
def question(request: HttpRequest, run: Run, question: UUID) -> Context:
    """Show a question, its answers nearest to the consensus first, and the models' answers.

    `after` and `axes` come from the address.
    """
    after = request.GET.get("after", "")
    report = found(run, question, after)
    axes = asked_axes(request)
    places = answer_map(run, report.question, axes)
    return {
        "title": f"Question {report.name}",
        "report": report,
        "alarms": alarms_report(run, question=report.question),
        **decided(run, [answer.worker for answer in report.answers.rows], False),
        "marks": marks_of(run, [answer.worker for answer in report.answers.rows]),
        "chart": answers(run, question, report),
        "map": MapCard.of(run, places) if places else None,
        "axes": axes,
    }


def found(run: Run, question: UUID, after: str = "") -> QuestionReport:
    """Return a question's report; 404 without such a question."""
    report = question_report(run, question, after)
    if report is None:
        raise Http404("the run has no such question")
    return report


def answers(run: Run, question: UUID, report: QuestionReport) -> Chart | None:
    """Return the picture of the answers; None where nobody answered.

    It always shows the best ones, so it reads them again if `report` is another page.
    """
    page = report.answers
    if page.after or page.next:
        page = answer_rows(run, question, size=MOST)
    if not page.rows:
        return None
    return answers_chart(page.rows, report.models, report.n_answers)


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
    axes: Any = choice(request.GET, "axes", get_args(Axes), "run")
    return axes


def map_of(run: Run, report: AnswerMap, at: int | None = None) -> Chart:
    """Return the picture of a map at one of its iterations (the last one)."""
    return map_chart(report, at, lambda worker: worker_link(run, worker))
