"""Why a remedy has no meaning for a crowd, in the words of each door."""

import numpy as np
import pytest

from evaluation.consensus.methods.scale import EVERYBODY, RemedyError
from evaluation.core.messages.message import Message
from evaluation.core.options import API, SITE, TERMINAL
from evaluation.grading.remedies.methods.copies import build_units


def test_a_cap_below_an_equal_share_names_the_lowest_that_will_do():
    with pytest.raises(RemedyError) as error:
        EVERYBODY.set_weight_cap(0.1, 3)
    # 1/3 is .33333..., and the next number of four digits above it .3334.
    assert (error.value.code, error.value.values) == (
        "cap_too_low",
        {"cap": 0.1, "voters": 3, "lowest": 0.3334},
    )


def test_groups_that_leave_too_few_workers_are_told_with_the_option_as_the_door_calls_it():
    workers, questions = np.arange(4), np.zeros(4, dtype=int)
    with pytest.raises(RemedyError) as error:
        build_units(np.eye(4), workers, questions, 4, groups=[np.array([0, 1])])
    message = Message(error.value.code, error.value.values)
    assert message == Message("few_outside_groups", {"outside": 2, "fewest": 3})
    for door, option in (
        (TERMINAL, "--collapse-copies"),
        (SITE, "“Collapse copies”"),
        (API, "collapse_copies"),
    ):
        assert option in door.format_message(message)
