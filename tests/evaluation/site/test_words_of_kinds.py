"""Money, pace and lengths of time as pages say them."""

import pytest

from evaluation.templatetags.kinds import (
    STATUSES,
    describe_reply_status,
    format_amount,
    format_duration,
    format_rate,
)


@pytest.mark.parametrize(
    ("amount", "said"),
    [
        (0, "0"),
        (1234.5, "1,234.50"),
        (1.005, "1.00"),
        (0.1, "0.10"),
        # Below a tenth two digits that count, wherever they stand.
        (0.0456, "0.046"),
        (0.00012, "0.00012"),
        (0.0000996, "0.00010"),
    ],
)
def test_small_amounts_keep_two_digits(amount, said):
    assert format_amount(amount) == said


@pytest.mark.parametrize(
    ("rate", "said"),
    [
        (120.4, "120 a second"),
        (2.25, "2.2 a second"),
        # 0.5 a second are 30 a minute, 0.02 are 1.2.
        (0.5, "30 a minute"),
        (0.02, "1.2 a minute"),
        (2.0, "2 a second"),
        (0.001, "3.6 an hour"),
    ],
)
def test_a_pace_is_said_in_the_unit_in_which_it_is_one_or_more(rate, said):
    assert format_rate(rate) == said


def test_lengths_of_time_and_refusals_are_words():
    assert format_duration(200.0) == "3 min 20 s"
    assert [describe_reply_status(code) for code in STATUSES] == list(STATUSES.values())
    assert STATUSES.keys() == {"refused_prompt", "refused_generation", "cut_off"}
    assert describe_reply_status("empty") == "empty"
