"""From an alarm to what can be done: a way to the grading form with an option set beforehand."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlencode
from uuid import UUID

from django.urls import reverse

from evaluation.flow.aqer_summary import summary_of
from evaluation.models import Alarm, Run
from evaluation.reports.alarms import AlarmEntry
from evaluation.reports.alarms.marks import OF_PEOPLE
from evaluation.reports.workers import WorkerRow
from evaluation.words.alarms import OF_QUESTIONS

# A camp is not left out as a whole: it may be the one that is right.
LEFT_OUT = OF_PEOPLE - {"clique"}
ONE_ID = re.compile(r"[^\s,;]+")
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
    if alarm.case in LEFT_OUT and alarm.n_workers <= MOST_EXCLUDED:
        named = Alarm.workers.through.objects.filter(alarm__run=run, alarm__place=alarm.place)
        workers = named.order_by("pk").values_list("worker__public_id", "worker__external_id")
        found.append(_form(run, "See how it is without their votes", **_excluding(run, workers)))
    return found


def without_each(run: Run, workers: Iterable[WorkerRow], may_start: bool) -> dict[UUID, str]:
    """Return for each worker the way to a grading without this one; empty for who only reads."""
    if not may_start:
        return {}
    return {
        row.worker: _form(run, "", **_excluding(run, [(row.worker, row.name)])).link
        for row in workers
    }


def _excluding(run: Run, workers: Iterable[tuple[UUID, str]]) -> dict[str, str]:
    """Return the field that leaves out these workers and whom the run has left out already.

    People know workers by their own ids; one that the field would take for several is called by
    the id that the platform gave it.
    """
    before = run.parameters.get("exclude_workers", ())
    own = [name if ONE_ID.fullmatch(name) else str(worker) for worker, name in workers]
    return {"exclude_workers": "\n".join(dict.fromkeys([*before, *own]))}


def _form(run: Run, label: str, **preset: str) -> Remedy:
    form = reverse("admin:grade", kwargs={"set_id": run.version.question_set.public_id})
    asked = {"version": run.version.number, "like": run.public_id, **preset}
    return Remedy(label, f"{form}?{urlencode(asked)}")
