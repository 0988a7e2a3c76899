"""Four results of a check, and the number that a check without a result needs."""

import pytest

from evaluation.core.messages.reasons import WHY_UNCHECKED
from evaluation.grading.alarms.messages import MEASURED, TITLES, UNITS, format_needed_data
from evaluation.grading.alarms.methods.findings import KINDS
from evaluation.grading.methods.check_results import (
    ALARM_CHECKS,
    CHECK_NAMES,
    NEEDED,
    NOT_APPLICABLE,
    OF_GROUPS,
    classify_check,
    find_needed_count,
    find_raising_checks,
)


@pytest.mark.parametrize(
    ("statistic", "rings", "reason", "result"),
    [
        (None, True, None, "problem"),
        (0.2, False, None, "good"),
        (0.9, True, None, "problem"),
        (None, False, "no_pair_shares_10_questions", "not_enough_data"),
        (None, False, "no_draws", "not_applicable"),
        (None, False, "a_reason_of_a_newer_version", "not_enough_data"),
    ],
)
def test_a_check_has_one_of_four_results(statistic, rings, reason, result):
    assert classify_check(statistic, rings, reason) == result


def test_the_number_that_is_needed_is_that_of_the_check():
    assert find_needed_count("copies", "no_pair_shares_10_questions") == 10
    assert find_needed_count("leverage", "too_few_ranked_workers") == 9
    assert find_needed_count("grader_disagreement", "too_few_ranked_workers") == 8
    assert find_needed_count("unstable_ranking", "no_draws") is None
    assert find_needed_count("copies", None) is None


def test_every_reason_has_a_number_or_does_not_apply():
    numbered = {reason if isinstance(reason, str) else reason[1] for reason in NEEDED}
    assert numbered | NOT_APPLICABLE == WHY_UNCHECKED.keys()
    assert not numbered & NOT_APPLICABLE
    assert numbered == UNITS.keys()
    for reason in NEEDED:
        check, code = reason if isinstance(reason, tuple) else ("copies", reason)
        assert str(NEEDED[reason]) in format_needed_data(check, code)


def test_every_alarm_has_a_declared_check_and_every_check_a_title_and_a_measure():
    raised = {case for check in ALARM_CHECKS for case in check.raises}
    assert raised == {*KINDS, "two_camps_of_questions", "copies_in_part"}
    assert len(set(CHECK_NAMES)) == len(CHECK_NAMES)
    assert set(CHECK_NAMES) <= TITLES.keys()
    assert set(CHECK_NAMES) <= MEASURED.keys()
    assert find_raising_checks("copies") == ("copies", "identical_answers")
    assert find_raising_checks("repeated") == ("repeated",)
    assert {"two_camps", "two_camps_of_questions", "copies"} == OF_GROUPS
