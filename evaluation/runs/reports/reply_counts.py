"""Count the replies of each model that a study asked, by status and error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evaluation.core.messages.faults import FaultWords, get_fault_words
from evaluation.runs.flow.asking.summary import Usage
from evaluation.runs.flow.stored import RunSummary


@dataclass(frozen=True)
class ReplyCounts:
    """Counts of one model's replies in a step of a study, its errors by kind, most first."""

    usage: Usage
    errors: tuple[tuple[int, FaultWords], ...]


def count_replies(summary: RunSummary) -> list[ReplyCounts]:
    """Return the reply counts of each model and step; empty for runs without such counts."""
    usage: Sequence[Usage] = summary.asked_models()
    return [
        ReplyCounts(
            one,
            tuple(
                (count, get_fault_words(code))
                for code, count in sorted(one.error_codes.items(), key=lambda item: -item[1])
            ),
        )
        for one in usage
        if one.replies
    ]
