"""Links from an alarm to the grading form with a remedy filled in."""

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
from evaluation.grading.results.report.run import count_crowd
from evaluation.grading.results.report.what_if import WhatIf, build_what_if
from evaluation.grading.results.report.workers import WorkerRow
from evaluation.models import Alarm, Run
from evaluation.runs.reports.verdicts import load_current_verdicts

# A camp is not left out as a whole: it may be the one that is right.
LEFT_OUT = OF_PEOPLE - {"clique"}
ONE_ID = re.compile(r"[^\s,;]+")
# Ids that an address can hold; nobody should be left out by the hundred anyway.
MOST_EXCLUDED = 40
# A vote may weigh so many times what it would weigh if all were equal.
CAP = 2.0


@dataclass(frozen=True)
class Remedy:
    """A suggested remedy: a label, and the URL of the prefilled form that would start it."""

    label: str
    link: str


def build_remedies(run: Run, alarm: AlarmEntry, may_start: bool, n_copies: int) -> list[Remedy]:
    """Return the remedies that an alarm suggests, as links.

    `may_start`: whether the user may start runs. `n_copies`: number of open alarms of copies.
    """
    remedies = []
    if alarm.case in ("two_camps", "clique"):
        link = reverse("admin:results-anchors", kwargs={"run": run.public_id})
        remedies.append(Remedy("Settle which camp is right", link))
    if not may_start:
        return remedies
    # One more than fit is enough to see that they do not.
    named = _read_named_workers(run, alarm) if alarm.case in LEFT_OUT else []
    # Groups that become one voter are found by the copy statistic, which needs more questions.
    if alarm.case == "copies" and alarm.message.code != "copies.identical":
        remedies.append(
            _build_remedy(
                run, "Grade again with the group as one voter", **_build_collapse_fields(run, named)
            )
        )
        if n_copies > 1:
            # One run in place of one for each group.
            every = {"collapse_copies": "on"}
            if run.parameters.get("collapse_workers"):
                every["collapse_workers"] = ""  # the form would begin with those of this run
            remedies.append(
                _build_remedy(run, "Grade again with every group as one voter", **every)
            )
    if alarm.case == OF_QUESTIONS:
        remedies.append(_build_remedy(run, "Grade again with several right answers", camps="on"))
    if alarm.case in ("leverage", "concentrated_weight"):
        n = max(1, count_crowd(run)["workers"])
        cap = f"{min(1.0, CAP / n):.3g}"
        remedies.append(_build_remedy(run, "Grade again with a cap on each vote", weight_cap=cap))
    if alarm.case == "grader_disagreement":
        remedies.append(_build_remedy(run, "Grade again by words", embedder="tfidf-word"))
    if alarm.case == "no_convergence":
        remedies.append(
            _build_remedy(run, "Grade again with more iterations", max_iterations="10000")
        )
    if alarm.case in LEFT_OUT and len(named) <= MOST_EXCLUDED:
        excluding_fields = _build_exclude_field(run, named)
        remedies.append(_build_remedy(run, "See how it is without their votes", **excluding_fields))
    return remedies


def build_links_without(run: Run, workers: Iterable[WorkerRow], may_start: bool) -> dict[UUID, str]:
    """Return, by worker, the URL of the form to grade without that worker."""
    if not may_start:
        return {}
    return {row.worker: build_link_without(run, row.worker, row.name) for row in workers}


def build_link_without(run: Run, worker: UUID, name: str) -> str:
    """Return the URL of the grading form with a worker excluded."""
    return _build_remedy(run, "", **_build_exclude_field(run, [(worker, name)])).link


def build_link_to_add_models(run: Run) -> str:
    """Return the URL of the grading form with this run's options, to score new models."""
    return _build_remedy(run, "").link


def read_what_if(request: HttpRequest, run: Run) -> WhatIf | None:
    """Return how the run would be without the worker in the query parameter `without`."""
    if not request.GET.get("without"):
        return None
    worker_id = parse_public_id(request.GET, "without")
    what_if_report = build_what_if(run, worker_id) if worker_id else None
    if what_if_report is None:
        raise Http404("the run has no such worker")
    return what_if_report


def build_verdict_context(run: Run, workers: Iterable[UUID], may_decide: bool) -> dict[str, Any]:
    """Return the template context for requesters' verdicts on workers."""
    return {"verdicts": load_current_verdicts(run, list(workers)), "may_decide": may_decide}


def _read_named_workers(run: Run, alarm: AlarmEntry) -> list[tuple[UUID, str]]:
    """Return public id and external id of the workers that an alarm names, at most 41."""
    named = Alarm.workers.through.objects.filter(alarm__run=run, alarm__place=alarm.place)
    rows = named.order_by("pk").values_list("worker__public_id", "worker__external_id")
    return list(rows[: MOST_EXCLUDED + 1])


def _build_collapse_fields(run: Run, workers: list[tuple[UUID, str]]) -> dict[str, str]:
    """Return form fields that collapse these workers' groups and those of the run."""
    # One name stands for a group that is too large for an address.
    own = _choose_ids(workers if len(workers) <= MOST_EXCLUDED else workers[:1])
    before = run.parameters.get("collapse_workers", ())
    return {
        "collapse_copies": "on",
        "collapse_workers": "\n".join(dict.fromkeys([*before, *own])),
    }


def _choose_ids(workers: Iterable[tuple[UUID, str]]) -> list[str]:
    """Return the workers' ids for a form field that separates ids by spaces or commas.

    That is the external id, or the public id where the field would split the external one.
    """
    return [name if ONE_ID.fullmatch(name) else str(worker) for worker, name in workers]


def _build_exclude_field(run: Run, workers: Iterable[tuple[UUID, str]]) -> dict[str, str]:
    """Return the form field that excludes these workers and those the run excluded."""
    before = run.parameters.get("exclude_workers", ())
    return {"exclude_workers": "\n".join(dict.fromkeys([*before, *_choose_ids(workers)]))}


def _build_remedy(run: Run, label: str, **preset: str) -> Remedy:
    """Return a link to the grading form with this run's options and preset fields."""
    form = reverse("admin:grade", kwargs={"set_id": run.version.question_set.public_id})
    asked = {"version": run.version.number, "like": run.public_id, **preset}
    return Remedy(label, f"{form}?{urlencode(asked)}")
