"""Select the version and the run that a user or a command names."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

from annotations.models import QuestionSet, QuestionSetVersion
from annotations.models.access import AnyUser
from evaluation.models import Run
from evaluation.models.runs import GRADING
from evaluation.models.runs_of_record import run_that_counts
from evaluation.runs.exports.table import seen_by

LATEST, RECORD = "latest", "record"


CHOICE_SENTENCES: Mapping[str, str] = {
    "set_empty": "{question_set} is empty: import questions or answers first",
    "no_version": "{question_set} has no version {number}; there is: {known}",
    "no_done_run": "{version} has no run that is done: grade it first",
    "no_run": "{question_set} has no run {wanted}: its page lists them, and 'latest' means the "
    "last one that is done, 'record' the one that counts",
    "run_of_another": "the run is of {other}, not of {version}",
    "run_without_results": "the run is {state} and has no results",
}
"""What is said of a choice that cannot be made, by its code."""


class ChoiceError(ValueError):
    """The named version or run does not exist or has no results; with a code and values."""

    def __init__(self, code: str, **values: object) -> None:
        super().__init__(CHOICE_SENTENCES[code].format_map(values))
        self.code, self.values = code, values


def chosen_version(
    question_set: QuestionSet, number: int | None = None, *, answered: bool = False
) -> QuestionSetVersion:
    """Return the version of that number, else the default one. Raises `ChoiceError`."""
    if number is None:
        found = question_set.default_version(answered=answered)
        if found is None:
            raise ChoiceError("set_empty", question_set=question_set)
        return found
    found = question_set.versions.filter(number=number).first()
    if found is None:
        numbers = question_set.versions.order_by("number").values_list("number", flat=True)
        listed = ", ".join(map(str, numbers)) or "none"
        raise ChoiceError("no_version", question_set=question_set, number=number, known=listed)
    return found


def chosen_run(version: QuestionSetVersion, wanted: str, user: AnyUser | None = None) -> Run:
    """Return the version's run with an id, or for "latest" the latest finished one.

    "record" is the official run, or the latest where none of the version is.
    Raises `ChoiceError` where there is none, it is another version's, or it has no results.
    """
    runs = seen_by(user, Run.objects.all()).filter(version__question_set=version.question_set_id)
    runs = runs.select_related("version__question_set")
    if wanted in (LATEST, RECORD):
        done = runs.filter(version=version, kind=GRADING, state=Run.State.DONE, archived_at=None)
        latest = run_that_counts(done) if wanted == RECORD else done.order_by("-pk").first()
        if latest is None:
            raise ChoiceError("no_done_run", version=version)
        return latest
    try:
        run = runs.get(public_id=UUID(wanted))
    except (ValueError, Run.DoesNotExist):
        named = {"question_set": version.question_set, "wanted": wanted[:40]}
        raise ChoiceError("no_run", **named) from None
    if run.version_id != version.pk:
        raise ChoiceError("run_of_another", other=run.version, version=version)
    if run.state != Run.State.DONE:
        raise ChoiceError("run_without_results", state=run.get_state_display())
    return run
