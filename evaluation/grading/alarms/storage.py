"""Store reviews of alarms: examined, remedied by a run, dismissed with a reason, reopened."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from evaluation.models import Alarm, AlarmReview, Run
from evaluation.models.runs import GRADING

State = Alarm.State
LONGEST_NOTE = 2000


REVIEW_PROBLEMS = {
    "unknown_state": "Choose what you made of it.",
    "note_too_long": "At most {longest:,} characters.",
    "reason_missing": "Explain why the alarm is no reason to doubt these grades.",
    "run_missing": "Choose the run that was made with the remedy.",
    "no_later_run": "That is no later run over the same questions.",
}
"""Why a review of an alarm is refused, by code."""


class ReviewError(ValueError):
    """Error for an invalid review of an alarm, with an error code and the form field."""

    def __init__(self, code: str, field: str, **values: Any) -> None:
        super().__init__(REVIEW_PROBLEMS[code].format(**values))
        self.code = code
        self.field = field


def save_review(
    alarm: Alarm, user: Any, state: str, note: str = "", remedied_by: Run | None = None
) -> AlarmReview:
    """Save a user's review of an alarm, set the alarm's state, and return the saved review.

    Raises ReviewError: a dismissal without a reason, or a remedy without the run made with it.
    """
    note = note.strip()
    if state not in State.values:
        raise ReviewError("unknown_state", "state")
    if len(note) > LONGEST_NOTE:
        raise ReviewError("note_too_long", "note", longest=LONGEST_NOTE)
    if state == State.DISMISSED and not note:
        raise ReviewError("reason_missing", "note")
    if state != State.REMEDIED:
        remedied_by = None
    elif remedied_by is None:
        raise ReviewError("run_missing", "remedied_by")
    elif not find_remedying_runs(alarm.run).filter(pk=remedied_by.pk).exists():
        raise ReviewError("no_later_run", "remedied_by")
    with transaction.atomic():
        saved = AlarmReview.objects.create(
            alarm=alarm,
            state=state,
            note=note,
            remedied_by=remedied_by,
            reviewed_by=user,
        )
        # Repeated here, so that lists of alarms need not read the reviews.
        Alarm.objects.filter(pk=alarm.pk).update(state=state)
    return saved


def find_remedying_runs(run: Run) -> QuerySet[Run]:
    """Return the query for later gradings of the question set that may remedy an alarm."""
    return Run.objects.filter(
        version__question_set=run.version.question_set_id,
        kind=GRADING,
        state=Run.State.DONE,
        pk__gt=run.pk,
    ).order_by("-pk")
