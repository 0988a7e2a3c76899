"""P-values on pages, and numbers of things."""

import pytest

from evaluation.core.messages.message import format_count
from evaluation.site.overview import LabelledCount
from evaluation.templatetags.words import format_p_value


@pytest.mark.parametrize(
    ("p", "shown"),
    [(None, "–"), (1.0, "1.000"), (0.0314, "0.031"), (0.001, "0.001"), (0.0009, "< 0.001")],
)
def test_a_p_value_is_never_shown_as_nought(p, shown):
    assert format_p_value(p) == shown
    assert format_p_value(1e-300) == "< 0.001"


def test_one_thing_is_not_told_in_the_plural():
    assert format_count(1, "model") == "1 model"
    assert format_count(0, "model") == "0 models"
    assert format_count(2000, "answer") == "2,000 answers"
    assert LabelledCount("question sets", 1).noun == "question set"
    assert LabelledCount("question sets", 0).noun == "question sets"
