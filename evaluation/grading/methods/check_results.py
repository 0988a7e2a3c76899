"""The checks for alarms: names, the alarms they raise, result codes, and the data they need."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Result = Literal["good", "problem", "not_enough_data", "not_applicable"]
RESULTS: tuple[Result, ...] = ("good", "problem", "not_enough_data", "not_applicable")


@dataclass(frozen=True)
class AlarmCheck:
    """A check for alarms that every run makes, with the alarms that it can raise.

    Attributes
    ----------
    raises : cases of alarms, as `choose_alarm_case` names them.
    is_of_groups : whether it looks for groups that copy or err together, without which the absence
        of alarms is no good sign.
    """

    name: str
    raises: tuple[str, ...]
    is_of_groups: bool = False


ALARM_CHECKS: tuple[AlarmCheck, ...] = (
    AlarmCheck("two_camps", ("two_camps",), True),
    AlarmCheck("two_camps_of_questions", ("two_camps_of_questions",), True),
    AlarmCheck("agreement_of_starts", ("two_camps",)),
    AlarmCheck("copies", ("copies", "clique"), True),
    AlarmCheck("copies_in_part", ("copies_in_part",)),
    AlarmCheck("identical_answers", ("copies",)),
    AlarmCheck("repeated", ("repeated",)),
    AlarmCheck("dont_know", ("dont_know",)),
    AlarmCheck("model_like", ("model_like",)),
    AlarmCheck("leverage", ("leverage",)),
    AlarmCheck("grader_disagreement", ("grader_disagreement",)),
    AlarmCheck("concentrated_weight", ("concentrated_weight",)),
    AlarmCheck("unstable_ranking", ("unstable_ranking",)),
    AlarmCheck("no_convergence", ("no_convergence",)),
    AlarmCheck("too_few", ("too_few",)),
)
"""All checks of a run, in the order in which every interface lists them."""
CHECK_NAMES: tuple[str, ...] = tuple(check.name for check in ALARM_CHECKS)
OF_GROUPS: frozenset[str] = frozenset(check.name for check in ALARM_CHECKS if check.is_of_groups)
NOT_RECORDED = "not_recorded"
"""Reason of a check that a run of an older version did not make."""

# The least number that a check needs, by the code of why its statistic is undefined; by check and
# code where checks differ.
NEEDED: Mapping[str | tuple[str, str], int] = {
    "fewer_than_5_questions": 5,
    "fewer_than_6_workers": 6,
    "no_question_with_6_answers": 6,
    "no_pair_shares_10_questions": 10,
    "no_pair_shares_3_questions": 3,
    "no_worker_with_3_answers": 3,
    "no_worker_shares_5_with_a_model": 5,
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
        "no_two_camps",
        "copies_were_checked",
        "no_model_answers",
        NOT_RECORDED,
    }
)


def find_raising_checks(case: str) -> tuple[str, ...]:
    """Return the names of the checks that can raise an alarm of this case."""
    return tuple(check.name for check in ALARM_CHECKS if case in check.raises)


def classify_check(statistic: float | None, rings: bool, reason: str | None) -> Result:
    """Return the result code of a check, such as "good"; never "good" without a statistic."""
    if rings:
        return "problem"
    if statistic is not None:
        return "good"
    return "not_applicable" if reason in NOT_APPLICABLE else "not_enough_data"


def find_needed_count(check: str, reason: str | None) -> int | None:
    """Return the least amount of data that a skipped check needs; None if more cannot help."""
    if reason is None:
        return None
    return NEEDED.get((check, reason)) or NEEDED.get(reason)
