"""Handles find what is in an element, and nothing beside it."""

import pytest

from tests.evaluation.site.handles import element_text, element_texts, numbers, states

PAGE = """
<p data-state="open" id="counts">3 of <b>1,200</b><br>
are open</p> 7
<ul><li data-state="left">w001, rank 1<li data-state="left">ada</li></ul>
<p id="empty"></p>
"""


def test_states_come_in_their_order():
    assert states(PAGE) == ["open", "left", "left"]


def test_a_text_ends_with_its_element():
    assert element_text(PAGE, "counts") == element_text(PAGE, "open") == "3 of 1,200 are open"
    assert element_text(PAGE, "empty") == ""
    assert element_texts(PAGE, "closed") == []
    assert element_texts(PAGE, "left")[-1] == "ada"


@pytest.mark.parametrize("handle", ["closed", "left"])
def test_none_or_several_are_not_one(handle):
    with pytest.raises(ValueError, match="values to unpack"):
        element_text(PAGE, handle)


def test_numbers_are_read_but_not_those_of_ids():
    assert numbers("3 of 1,200, -0.5 less; w001 and r2 at 0.25.") == [3, 1200, -0.5, 0.25]
    assert numbers("95% of 4/5") == [95, 4, 5]
