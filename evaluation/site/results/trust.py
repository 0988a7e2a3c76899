"""The page that says how far a run can be trusted."""

from __future__ import annotations

from typing import Any

from django.urls import reverse

from evaluation.reports.trust import NOT_SEEN, PROVEN, trust_report
from evaluation.site.results.base import ResultsPage


class TrustPage(ResultsPage):
    """What speaks for and against this run, and what is proven at all."""

    template_name = "evaluation/trust.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Report what is so in this run, and what was measured elsewhere."""
        report = trust_report(self.results_of)
        return super().get_context_data(
            title="Can I trust this?",
            subtitle=f"The grades of {report.about.name}, version {report.about.version}",
            report=report,
            proven=PROVEN,
            not_seen=NOT_SEEN,
            experts_link=reverse("admin:results-anchors", kwargs={"run": self.results_of.public_id})
            if self.results_of.summary.get("remedies", {}).get("suggested_anchors")
            else "",
            alarms_link=reverse("admin:results-alarms", kwargs={"run": self.results_of.public_id}),
            **kwargs,
        )
