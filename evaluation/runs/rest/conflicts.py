"""Define the problem documents of requests that conflict with the current state, by code."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annotations.sentences import Sentences
from annotations.web.rest.problems import ApiProblem


def _format_nothing_left(noun: str, held_back: str) -> str:
    """Return the sentence that a payment has nothing left to send."""
    return f"No confirmed {noun} was left to be sent.{f' {held_back}.' if held_back else ''}"


CONFLICTS = Sentences(
    {
        "too_few_people": "{people:,} of the {needed} people that a grading needs have handed in.",
        "nobody_left": "There is nobody left to accept.",
        "people_changed": "They are others by now: read whom it would accept, and ask again.",
        "nothing_to_take_back": "Nothing of it is left to take back.",
        "decided_meanwhile": "{by} decided meanwhile: {kind} ({decision}).",
        "nothing_to_answer": "They wrote nothing to answer to.",
        "answered": "Somebody answered otherwise before, and one answer is given.",
        "nothing_left": _format_nothing_left,
        "other_total": "You said {said:.2f}, and it is {total:.2f} by now: nothing was done; look "
        "again.",
        "rule_changed": "Who gets the bonus has changed since: try the rule again.",
    }
)


def build_conflict_problem(
    code: str, more: Mapping[str, Any] | None = None, /, **values: Any
) -> ApiProblem:
    """Return the API problem of a conflict, by code; `more` is added to its document."""
    said = CONFLICTS.text(code, **values)
    return ApiProblem("conflict", said, reason=code, **(more or {}))
