"""Who was first, hence who could have copied from whom."""

from datetime import UTC, datetime, timedelta

import pytest

from evaluation.options import SITE
from evaluation.reports.triage.times import When, order_of, who_first

START = datetime(2026, 11, 2, 9, tzinfo=UTC)


def when(started, submitted):
    """Minutes after the start; None for a time that nobody took."""
    times = (
        None if one is None else START + timedelta(minutes=one) for one in (started, submitted)
    )
    return When(*times)


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
    assert order_of(when(*mine), when(*other)) == order


@pytest.mark.parametrize(
    ("orders", "said"),
    [
        (
            ["before"] * 3,
            "Ada was first, all 3 times: Ben could have copied from Ada, not the other way round; "
            "both may have used one source.",
        ),
        (
            ["after"],
            "Ben was first, the one time: Ada could have copied from Ben, not the other way round; "
            "both may have used one source.",
        ),
        (
            ["later", "later", "unknown"],
            "Ben was first, all 2 times (of 3 answers, the times of 2 are known): Ada could have "
            "copied from Ben. When they began is not known, so they may also have worked side by "
            "side, or from one source.",
        ),
        (
            ["together", "together"],
            "Both were at work at the same time, all 2 times: either could have copied from the "
            "other, or both from one source.",
        ),
        (
            ["after", "before", "before", "together"],
            "Ben was first once, Ada 2 times, they were at work together once: either could have "
            "copied from the other, or both from one source.",
        ),
        (
            ["unknown"] * 4,
            "When they answered is not known: the answers alone cannot say who could have copied "
            "from whom.",
        ),
    ],
)
def test_it_is_said_in_a_sentence(orders, said):
    assert SITE.said(who_first("Ada", "Ben", orders)) == said
