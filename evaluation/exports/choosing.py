"""Which version and which run somebody means."""

from __future__ import annotations

from uuid import UUID

from annotations.models import QuestionSet, QuestionSetVersion
from annotations.models.access import Anybody
from evaluation.exports.table import seen_by
from evaluation.models import Run
from evaluation.models.runs import GRADING
from evaluation.models.runs_of_record import run_that_counts

LATEST, RECORD = "latest", "record"


class ChoiceError(ValueError):
    """There is no such version or run; the message says what there is."""


def chosen_version(question_set: QuestionSet, number: int | None = None) -> QuestionSetVersion:
    """The version of that number, else the latest. Raises `ChoiceError`."""
    if number is None:
        latest = question_set.latest_version()
        if latest is None:
            raise ChoiceError(f"{question_set} is empty: import questions or answers first")
        return latest
    found = question_set.versions.filter(number=number).first()
    if found is None:
        numbers = question_set.versions.order_by("number").values_list("number", flat=True)
        listed = ", ".join(map(str, numbers)) or "none"
        raise ChoiceError(f"{question_set} has no version {number}; there is: {listed}")
    return found


def chosen_run(version: QuestionSetVersion, wanted: str, user: Anybody | None = None) -> Run:
    """The version's run of that id, its latest that is done for "latest".

    "record" is the run of record, or the latest where none of the version is.
    Raises `ChoiceError` where there is none, it is another version's, or it has no results.
    """
    runs = seen_by(user, Run.objects.all()).filter(version__question_set=version.question_set_id)
    runs = runs.select_related("version__question_set")
    if wanted in (LATEST, RECORD):
        done = runs.filter(version=version, kind=GRADING, state=Run.State.DONE, archived_at=None)
        latest = run_that_counts(done) if wanted == RECORD else done.order_by("-pk").first()
        if latest is None:
            raise ChoiceError(f"{version} has no run that is done: grade it first")
        return latest
    try:
        run = runs.get(public_id=UUID(wanted))
    except (ValueError, Run.DoesNotExist):
        raise ChoiceError(
            f"{version.question_set} has no run {wanted[:40]}: its page lists them, and "
            f"{LATEST!r} means the last one that is done, {RECORD!r} the one that counts"
        ) from None
    if run.version_id != version.pk:
        raise ChoiceError(f"the run is of {run.version}, not of {version}")
    if run.state != Run.State.DONE:
        raise ChoiceError(f"the run is {run.get_state_display()} and has no results")
    return run
