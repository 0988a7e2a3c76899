"""The page of the language models in a run."""

from __future__ import annotations

from typing import Any

from evaluation.charts import placement_chart
from evaluation.charts.placement import crowd_table
from evaluation.reports import models_report
from evaluation.reports.alarms import alarms_report
from evaluation.site.results.base import ResultsPage


class ModelsPage(ResultsPage):
    """The leaderboard, and the models among people."""

    template_name = "evaluation/models.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Report the models; `after` comes from the address."""
        after = self.request.GET.get("after", "")
        report = models_report(self.results_of, after)
        return super().get_context_data(
            title=f"Language models on {report.about.name}",
            report=report,
            alarms=alarms_report(self.results_of),
            chart=placement_chart(report) if report.models.rows else None,
            crowd=crowd_table(report.crowd),
            **kwargs,
        )
