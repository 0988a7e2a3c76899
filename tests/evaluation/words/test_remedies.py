"""Why a remedy has no meaning for a crowd, in the words of each door."""

import numpy as np
import pytest

from evaluation.methods.aqer.electorate import EVERYBODY, RemedyError
from evaluation.methods.remedies.units import units_of
from evaluation.options import API, SITE, TERMINAL
from evaluation.words.message import Message


def told(error):
    message = Message(error.code, error.values)
    return [door.said(message) for door in (TERMINAL, SITE, API)]


def test_a_cap_below_an_equal_share_names_the_lowest_that_will_do():
    with pytest.raises(RemedyError) as error:
        EVERYBODY.with_cap(0.1, 3)
    # 1/3 is .33333..., and the next number of four digits above it .3334.
    assert (
        told(error.value)
        == [
            "a weight cap of 0.1 is below 1/3: the weights of 3 voters could not sum to 1; give at "
            "least 0.3334"
        ]
        * 3
    )


def test_groups_that_leave_too_few_workers_are_told_with_the_option_as_the_door_calls_it():
    workers, questions = np.arange(4), np.zeros(4, dtype=int)
    with pytest.raises(RemedyError) as error:
        units_of(np.eye(4), workers, questions, 4, groups=[np.array([0, 1])])
    for said, option in zip(
        told(error.value),
        ("--collapse-copies", "“Collapse copies”", "collapse_copies"),
        strict=True,
    ):
        assert said.startswith(
            "only 2 of the workers would be left outside the groups of copies, and 3 are"
        )
        assert f"grade without {option}, or exclude" in said
