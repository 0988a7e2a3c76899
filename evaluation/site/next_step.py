"""Recommended next action on the page of a question set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.urls import reverse

from annotations.models import Collection, QuestionSet
from evaluation.grading.results.report.of_record import RecordStanding
from evaluation.models import Run
from evaluation.models.runs import ACTIVE, GRADING


@dataclass(frozen=True)
class NextStep:
    """Recommended action: its code, and the link to its page."""

    code: str
    label: str
    link: str


def find_next_step(
    question_set: QuestionSet,
    rights: Any,
    counts: Mapping[str, int],
    runs: Sequence[Run],
    record: RecordStanding | None,
    collecting: str | None,
) -> NextStep | None:
    """Return the user's recommended next action on a set; None if there is nothing to do.

    Parameters
    ----------
    counts : `questions` and `answers` of the version that is shown; empty without a version.
    runs : the newest runs of the set. record : the official run, None without a finished one.
    collecting : the state of the collection of the latest version; None without one.
    """
    if question_set.archived_at or not rights.answers:
        return None
    own = {"set_id": question_set.public_id}
    results = None
    if record is not None:
        link = reverse("admin:results-run", kwargs={"run": record.run})
        results = NextStep("show_results", "Show results", link)
    if not rights.edit:
        return results
    if not counts.get("questions"):
        return NextStep("import_answers", "Import answers", reverse("admin:import", kwargs=own))
    if not counts["answers"]:
        is_open = collecting == Collection.State.OPEN
        code, label = ("watch", "Show progress") if is_open else ("collect", "Collect answers")
        return NextStep(code, label, reverse("admin:collecting", kwargs=own))
    for run in runs:
        if run.kind == GRADING and run.state in ACTIVE:
            link = reverse("admin:run", kwargs={"run_id": run.public_id})
            return NextStep("follow_run", "Follow the run", link)
    if results is None or (record is not None and record.changed and record.newer is None):
        return NextStep("grade", "Grade", reverse("admin:grade", kwargs=own))
    return results
