"""From an alarm to what can be done: a way to the grading form with an option set beforehand."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.http import Http404, HttpRequest
from django.urls import reverse

from annotations.web.query import parse_public_id
from evaluation.grading.alarms.messages import OF_QUESTIONS
from evaluation.grading.alarms.report import AlarmEntry
from evaluation.grading.alarms.report.marks import OF_PEOPLE
from evaluation.grading.results.report.run import crowd_counts
from evaluation.grading.results.report.what_if import WhatIf, what_if
from evaluation.grading.results.report.workers import WorkerRow
from evaluation.models import Alarm, Run
from evaluation.reports.verdicts import load_current_verdicts

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


def remedies_for(run: Run, alarm: AlarmEntry, may_start: bool, n_copies: int) -> list[Remedy]:
    """Return what can be tried.

    `may_start`: whether the one who asks may start runs. `n_copies`: groups that ring for copies
    that nothing has answered.
    """
    found = []
    if alarm.case in ("two_camps", "clique"):
        link = reverse("admin:results-anchors", kwargs={"run": run.public_id})
        found.append(Remedy("Settle which camp is right", link))
    if not may_start:
        return found
    # One more than fit is enough to see that they do not.
    named = _named(run, alarm) if alarm.case in LEFT_OUT else []
    # Groups that become one voter are found by the copy statistic, which needs more questions.
    if alarm.case == "copies" and alarm.message.code != "copies.identical":
        found.append(_form(run, "Grade again with the group as one voter", **_as_one(run, named)))
        if n_copies > 1:
            # One run in place of one for each group.
            every = {"collapse_copies": "on"}
            if run.parameters.get("collapse_workers"):
                every["collapse_workers"] = ""  # the form would begin with those of this run
            found.append(_form(run, "Grade again with every group as one voter", **every))
    if alarm.case == OF_QUESTIONS:
        found.append(_form(run, "Grade again with several right answers", camps="on"))
    if alarm.case in ("leverage", "concentrated_weight"):
        n = max(1, crowd_counts(run)["workers"])
        cap = f"{min(1.0, CAP / n):.3g}"
        found.append(_form(run, "Grade again with a cap on each vote", weight_cap=cap))
    if alarm.case == "grader_disagreement":
        found.append(_form(run, "Grade again by words", embedder="tfidf-word"))
    if alarm.case == "no_convergence":
        found.append(_form(run, "Grade again with more iterations", max_iterations="10000"))
    if alarm.case in LEFT_OUT and len(named) <= MOST_EXCLUDED:
        out = _excluding(run, named)
        found.append(_form(run, "See how it is without their votes", **out))
    return found


def without_each(run: Run, workers: Iterable[WorkerRow], may_start: bool) -> dict[UUID, str]:
    """Return for each worker the way to a grading without this one; empty for who only reads."""
    if not may_start:
        return {}
    return {row.worker: without_one(run, row.worker, row.name) for row in workers}


def without_one(run: Run, worker: UUID, name: str) -> str:
    """Return the way to a grading without a worker."""
    return _form(run, "", **_excluding(run, [(worker, name)])).link


def link_to_add_models(run: Run) -> str:
    """Return the way to a grading of the same version and settings, which scores new models."""
    return _form(run, "").link


def asked_what_if(request: HttpRequest, run: Run) -> WhatIf | None:
    """Return how the run would be without the worker whom `without` names; None without a name."""
    if not request.GET.get("without"):
        return None
    wanted = parse_public_id(request.GET, "without")
    found = what_if(run, wanted) if wanted else None
    if found is None:
        raise Http404("the run has no such worker")
    return found


def decided(run: Run, workers: Iterable[UUID], may_decide: bool) -> dict[str, Any]:
    """Return what `cards/verdict.html` needs for these workers: verdicts, and who may decide."""
    return {"verdicts": load_current_verdicts(run, list(workers)), "may_decide": may_decide}


def _named(run: Run, alarm: AlarmEntry) -> list[tuple[UUID, str]]:
    named = Alarm.workers.through.objects.filter(alarm__run=run, alarm__place=alarm.place)
    rows = named.order_by("pk").values_list("worker__public_id", "worker__external_id")
    return list(rows[: MOST_EXCLUDED + 1])


def _as_one(run: Run, workers: list[tuple[UUID, str]]) -> dict[str, str]:
    """Return the fields that let this group, and those before it, vote as one, and no other."""
    # One name stands for a group that is too large for an address.
    own = _own_ids(workers if len(workers) <= MOST_EXCLUDED else workers[:1])
    before = run.parameters.get("collapse_workers", ())
    return {
        "collapse_copies": "on",
        "collapse_workers": "\n".join(dict.fromkeys([*before, *own])),
    }


def _own_ids(workers: Iterable[tuple[UUID, str]]) -> list[str]:
    """Return how a field of ids calls these workers.

    People know workers by their own ids; one that the field would take for several is called by
    the id that the platform gave it.
    """
    return [name if ONE_ID.fullmatch(name) else str(worker) for worker, name in workers]


def _excluding(run: Run, workers: Iterable[tuple[UUID, str]]) -> dict[str, str]:
    """Return the field that leaves out these workers and whom the run has left out already."""
    before = run.parameters.get("exclude_workers", ())
    return {"exclude_workers": "\n".join(dict.fromkeys([*before, *_own_ids(workers)]))}


def _form(run: Run, label: str, **preset: str) -> Remedy:
    form = reverse("admin:grade", kwargs={"set_id": run.version.question_set.public_id})
    asked = {"version": run.version.number, "like": run.public_id, **preset}
    return Remedy(label, f"{form}?{urlencode(asked)}")
