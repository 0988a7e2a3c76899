"""Who was first, hence who could have copied from whom."""

from datetime import UTC, datetime, timedelta

import pytest

from evaluation.triage.report.times import (
    AnswerTimes,
    compare_times,
    find_survey_times,
    summarize_orders,
)

START = datetime(2026, 11, 2, 9, tzinfo=UTC)


def when(started, submitted):
    """Minutes after the start; None for a time that nobody took."""
    times = (
        None if one is None else START + timedelta(minutes=one) for one in (started, submitted)
    )
    return AnswerTimes(*times)


@pytest.mark.parametrize(
    ("mine", "other", "order"),
    [
        ((0, 5), (5, 9), "before"),  # sent in the minute in which the other was begun
        ((0, 5), (4, 9), "together"),
        ((6, 9), (0, 5), "after"),
        ((4, 9), (0, 5), "together"),
        ((None, 5), (None, 9), "earlier"),
        ((None, 9), (None, 5), "later"),
        ((None, 5), (6, 9), "before"),  # when mine was begun does not matter
        ((6, 9), (None, 5), "after"),
        ((None, 9), (0, 5), "later"),
        ((None, 5), (None, 5), "together"),
        ((0, None), (0, 5), "unknown"),
        ((0, 5), (None, None), "unknown"),
    ],
)
def test_an_answer_stands_in_time_to_another(mine, other, order):
    assert compare_times(when(*mine), when(*other)) == order


@pytest.mark.parametrize(
    ("orders", "counts"),
    [
        (["before"] * 3, {"before": 3}),
        (["after"], {"after": 1}),
        (["later", "later", "unknown"], {"later": 2, "unknown": 1}),
        (["together", "together"], {"together": 2}),
        (["after", "before", "before", "together"], {"after": 1, "before": 2, "together": 1}),
        (["unknown"] * 4, {"unknown": 4}),
    ],
)
def test_orders_are_counted(orders, counts):
    found = summarize_orders("Ada", "Ben", orders)
    none = dict.fromkeys(("before", "earlier", "after", "later", "together", "unknown"), 0)
    assert found.code == "triage.times"
    assert found.values == {"me": "Ada", "other": "Ben", "n": len(orders), **none, **counts}


def test_times_that_all_answers_share_are_those_of_the_whole_survey():
    whole = when(0, 18)
    assert find_survey_times([whole, when(0, 18), when(0, 18)]) == whole


@pytest.mark.parametrize(
    "times",
    [
        [],
        [(0, 5)],  # of one answer it is not known
        [(0, 5), (5, 9)],
        [(None, None), (None, None)],
    ],
)
def test_answers_with_their_own_times_or_none_have_no_survey_times(times):
    assert find_survey_times(when(*one) for one in times) is None
