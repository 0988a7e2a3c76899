"""From an alarm to what can be done: a way to the grading form with an option set beforehand."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlencode

from django.urls import reverse

from evaluation.flow.aqer_summary import summary_of
from evaluation.models import Alarm, Run
from evaluation.reports.alarms import AlarmEntry
from evaluation.words.alarms import OF_QUESTIONS

# Ids that an address can hold; nobody should be left out by the hundred anyway.
MOST_EXCLUDED = 40
# A vote may weigh so many times what it would weigh if all were equal.
CAP = 2.0


@dataclass(frozen=True)
class Remedy:
    """Something to try: it starts nothing by itself."""

    label: str
    link: str


def remedies_for(run: Run, alarm: AlarmEntry, may_start: bool) -> list[Remedy]:
    """Return what can be tried; `may_start`: whether the one who asks may start runs."""
    found = []
    if alarm.case in ("two_camps", "clique"):
        link = reverse("admin:results-anchors", kwargs={"run": run.public_id})
        found.append(Remedy("Settle which camp is right", link))
    if not may_start:
        return found
    if alarm.case == "copies":
        found.append(_form(run, "Grade again with the group as one voter", collapse_copies="on"))
    if alarm.case == OF_QUESTIONS:
        found.append(_form(run, "Grade again with several right answers", camps="on"))
    if alarm.case in ("leverage", "concentrated_weight"):
        n = max(1, summary_of(run).counts.workers)
        cap = f"{min(1.0, CAP / n):.3g}"
        found.append(_form(run, "Grade again with a cap on each vote", weight_cap=cap))
    if alarm.case == "grader_disagreement":
        found.append(_form(run, "Grade again by words", embedder="tfidf-word"))
    if alarm.case == "no_convergence":
        found.append(_form(run, "Grade again with more iterations", max_iterations="10000"))
    if alarm.case == "dont_know" and alarm.n_workers <= MOST_EXCLUDED:
        ids = Alarm.workers.through.objects.filter(alarm__run=run, alarm__place=alarm.place)
        names = "\n".join(str(i) for i in ids.values_list("worker__public_id", flat=True))
        found.append(_form(run, "See how it is without their votes", exclude_workers=names))
    return found


def _form(run: Run, label: str, **preset: str) -> Remedy:
    form = reverse("admin:grade", kwargs={"set_id": run.version.question_set.public_id})
    asked = {"version": run.version.number, "like": run.public_id, **preset}
    return Remedy(label, f"{form}?{urlencode(asked)}")
