"""The page of a question in a run."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import Http404

from evaluation.charts import Chart, answers_chart
from evaluation.charts.answers import MOST
from evaluation.models import Run
from evaluation.reports import QuestionReport, question_report
from evaluation.reports.question import answer_rows

from .base import ResultsPage


class QuestionPage(ResultsPage):
    """A question, its answers nearest to the consensus first, and the models' answers."""

    template_name = "evaluation/question.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Report the question; `after` comes from the address."""
        run, after = self.results_of, self.request.GET.get("after", "")
        report = found(run, kwargs["question"], after)
        return super().get_context_data(
            title=f"Question {report.name}",
            report=report,
            chart=answers(run, kwargs["question"], report),
            **kwargs,
        )


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
