"""Result codes of alarm checks, and the least data that a skipped check needs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

Result = Literal["good", "problem", "not_enough_data", "not_applicable"]
RESULTS: tuple[Result, ...] = ("good", "problem", "not_enough_data", "not_applicable")

# The least number that a check needs, by the code of why its statistic is undefined; by check and
# code where checks differ.
NEEDED: Mapping[str | tuple[str, str], int] = {
    "fewer_than_5_questions": 5,
    "fewer_than_6_workers": 6,
    "no_question_with_6_answers": 6,
    "no_pair_shares_10_questions": 10,
    "no_pair_shares_3_questions": 3,
    "no_weights": 3,
    ("leverage", "too_few_ranked_workers"): 9,
    ("grader_disagreement", "too_few_ranked_workers"): 8,
}
# More data of the same kind would not make these checks run.
NOT_APPLICABLE = frozenset(
    {
        "graded_by_words_already",
        "no_other_grader",
        "no_words",
        "no_draws",
        "no_spread",
        "nobody_outweighs_others",
    }
)


def classify_check(statistic: float | None, rings: bool, reason: str | None) -> Result:
    """Return a check's result code, such as "good"; without a statistic it is never "good"."""
    if statistic is not None:
        return "problem" if rings else "good"
    return "not_applicable" if reason in NOT_APPLICABLE else "not_enough_data"


def find_needed(check: str, reason: str | None) -> int | None:
    """Return the least number of items that a skipped check needs; None if no number helps."""
    if reason is None:
        return None
    return NEEDED.get((check, reason)) or NEEDED.get(reason)
