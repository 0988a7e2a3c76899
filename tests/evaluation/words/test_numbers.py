"""P-values on pages, and numbers of things."""

import pytest

from evaluation.options import SITE
from evaluation.site.overview import Count
from evaluation.templatetags.words import probability
from evaluation.words.message import Message, counted


@pytest.mark.parametrize(
    ("p", "shown"),
    [(None, "–"), (1.0, "1.000"), (0.0314, "0.031"), (0.001, "0.001"), (0.0009, "< 0.001")],
)
def test_a_p_value_is_never_shown_as_nought(p, shown):
    assert probability(p) == shown
    assert probability(1e-300) == "< 0.001"


def test_one_thing_is_not_told_in_the_plural():
    assert counted(1, "model") == "1 model"
    assert counted(0, "model") == "0 models"
    assert counted(2000, "answer") == "2,000 answers"
    assert Count("question sets", 1).noun == "question set"
    assert Count("question sets", 0).noun == "question sets"


def test_a_lead_that_rounds_to_nought_has_no_sign():
    values = {"best": "f1", "default": "aqer", "rival": "aqer", "held": 5}
    values |= {"r": 0.72, "low": 0.61, "high": 0.8}
    values |= {"lead": -0.001, "lead_low": -0.004, "lead_high": 0.01}
    said = SITE.said(Message("graded.apart", values))
    assert "0.72 of at most 1 (95% 0.61 to 0.80)" in said
    assert "its lead there is 0.00 (95% 0.00 to 0.01)" in said
