"""The results of checks in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from evaluation.methods.check_results import Result, needed
from evaluation.words.alarms import title_of
from evaluation.words.reasons import why_not_checked

RESULTS: Mapping[Result, str] = {
    "good": "Good",
    "problem": "Problem",
    "not_enough_data": "Not enough data",
    "not_applicable": "Not applicable",
}
UNITS: Mapping[str, str] = {
    "fewer_than_5_questions": "questions with two answers",
    "fewer_than_6_workers": "workers",
    "no_question_with_6_answers": "answers to one question",
    "no_pair_shares_10_questions": "questions that the same two workers answered",
    "no_pair_shares_3_questions": "questions that the same two workers answered",
    "no_weights": "workers",
    "too_few_ranked_workers": "workers with a rank",
}


def needs(check: str, reason: str | None) -> str:
    """Return how much data a check needs, such as "needs 6 workers"; "" if no number helps."""
    n = needed(check, reason)
    return "" if n is None or reason is None else f"needs {n} {UNITS[reason]}"


def unchecked(checks: Iterable[tuple[str, str | None]]) -> str:
    """Return checks without enough data, by name and reason, as a sentence; "" without any."""
    parts = [
        f"{title_of(check)} ({needs(check, reason) or why_not_checked(reason)})"
        for check, reason in checks
    ]
    return f"Not enough data for: {'; '.join(parts)}." if parts else ""
