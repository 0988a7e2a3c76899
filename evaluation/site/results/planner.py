"""The page that says how many answers a question needs."""

from __future__ import annotations

from typing import Any

from evaluation.charts.planner import planner_chart
from evaluation.reports.planner import planner_report
from evaluation.site.results.base import ResultsPage


class PlannerPage(ResultsPage):
    """The paper's bounds with the numbers of the run."""

    template_name = "evaluation/planner.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Report the plan."""
        report = planner_report(self.results_of)
        return super().get_context_data(
            title=f"How many answers {report.about.name} needs",
            report=report,
            chart=planner_chart(report),
            **kwargs,
        )
