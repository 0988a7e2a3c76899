import pytest
from hypothesis import given

from annotations.exchange.defusing import defused, defused_cell, restored
from tests.annotations.exchange.nasty import texts


@given(texts)
def test_restoring_gives_back_every_text(text):
    assert restored(defused(text)) == text


@given(texts)
def test_no_defused_text_begins_as_a_formula_does(text):
    assert not defused(text).lstrip("\ufeff \u00a0\t\r\n").startswith(("=", "+", "-", "@", "＝"))


@pytest.mark.parametrize(
    ("text", "stands"),
    [
        ("=1+1", "'=1+1"),
        ("-5", "'-5"),
        ("  @x", "'  @x"),
        ("\ufeff=x", "'\ufeff=x"),
        ("\tx", "'\tx"),
        ("'tis", "''tis"),
        ("''", "'''"),
        ("x=1", "x=1"),
        (" x", " x"),
        ("007", "007"),
        ("", ""),
    ],
)
def test_what_is_defused_and_what_is_not(text, stands):
    assert defused(text) == stands


def test_numbers_are_no_texts_and_nothing_is_an_empty_cell():
    assert defused_cell(-0.5) == -0.5
    assert defused_cell(None) == ""
