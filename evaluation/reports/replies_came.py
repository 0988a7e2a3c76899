"""Count the replies of each model that a study asked, by status and error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evaluation.flow.asking.summary import Usage
from evaluation.flow.stored import RunSummary
from evaluation.words.faults import FaultWords, fault_words


@dataclass(frozen=True)
class ReplyCounts:
    """A model in a step of a study, with its errors by kind, most first."""

    usage: Usage
    errors: tuple[tuple[int, FaultWords], ...]


def replies_came(summary: RunSummary) -> list[ReplyCounts]:
    """Return the reply counts of each model by step; none of runs without these counts."""
    usage: Sequence[Usage] = summary.asked_models()
    return [
        ReplyCounts(
            one,
            tuple(
                (count, fault_words(code))
                for code, count in sorted(one.error_codes.items(), key=lambda item: -item[1])
            ),
        )
        for one in usage
        if one.replies
    ]
