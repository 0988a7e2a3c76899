"""The alarms of a run, and one alarm with its evidence."""

from __future__ import annotations

from typing import Any

from django.http import Http404
from django.urls import reverse

from annotations.models import rights
from evaluation.reports.alarms import alarm_evidence, alarms_report
from evaluation.site.grade_form import in_words_of_the_form
from evaluation.site.results.base import ResultsPage
from evaluation.site.results.remedies import remedies_for


class AlarmsPage(ResultsPage):
    """What rang and what was looked at."""

    template_name = "evaluation/alarms.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Report the alarms."""
        report = alarms_report(self.results_of)
        return super().get_context_data(
            title=f"Alarms of {report.about.name}", alarms=report, **kwargs
        )


class AlarmPage(ResultsPage):
    """One alarm: whom it names, the texts, what it means and what to do."""

    template_name = "evaluation/alarm.html"

    def way_here(self) -> list[tuple[str, str]]:
        """Return the pages above."""
        run = self.results_of
        alarms = reverse("admin:results-alarms", kwargs={"run": run.public_id})
        return [*super().way_here(), ("Alarms", alarms)]

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Report the alarm; `after` (of workers) and `texts` (a page) come from the address."""
        run = self.results_of
        page = self.request.GET.get("texts", "1")
        if not (page.isascii() and page.isdigit() and len(page) < 6 and int(page)):
            raise Http404("there is no such page of texts")
        after = self.request.GET.get("after", "")
        evidence = alarm_evidence(run, kwargs["place"], after, int(page))
        if evidence is None or evidence.page > evidence.n_pages:
            raise Http404("the run has no such alarm")
        may = rights(self.request.user, run.version.question_set).edit
        return super().get_context_data(
            title=evidence.alarm.title,
            evidence=evidence,
            alarm=evidence.alarm,
            message=in_words_of_the_form(evidence.alarm.message),
            remedies=remedies_for(run, evidence.alarm, may),
            **kwargs,
        )
