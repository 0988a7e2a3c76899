import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotations.exchange.defusing import defuse_cell, defuse_text, restore_text
from tests.annotations.exchange.nasty import texts


@given(texts)
def test_restoring_gives_back_every_text(text):
    assert restore_text(defuse_text(text)) == text


PARTS = st.sampled_from(["=", "-", "@1", "'", '"', ";", ",", "|", "\t", "\n", " ", "\ufeff", "x"])


@given(st.lists(PARTS, max_size=12).map("".join))
def test_restoring_gives_back_every_text_of_separators_apostrophes_and_signs(text):
    assert restore_text(defuse_text(text)) == text


@pytest.mark.parametrize("separator", [";", ",", "|", "\t"])
@given(rows=st.lists(st.lists(PARTS, max_size=8).map("".join), min_size=3, max_size=3))
def test_no_cell_is_a_formula_whatever_parts_the_cells_of_a_file(separator, rows):
    file = io.StringIO()
    csv.writer(file).writerow([defuse_text(text) for text in rows])
    for line in csv.reader(io.StringIO(file.getvalue()), delimiter=separator):
        for cell in line:
            assert not cell.lstrip(" \ufeff\t").startswith(("=", "-", "@")), line


@given(texts)
def test_no_defused_text_begins_as_a_formula_does(text):
    assert (
        not defuse_text(text).lstrip("\ufeff \u00a0\t\r\n").startswith(("=", "+", "-", "@", "＝"))
    )


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
        ("x;=1+1", "x;'=1+1"),
        ("x;'=1+1", "x;''=1+1"),
        ("x; @y\n-z", "x; '@y\n'-z"),
        ('x;"=1"', 'x;"\'=1"'),
        ("He said, 'yes'", "He said, 'yes'"),
        ("5 - 3 = 2", "5 - 3 = 2"),
    ],
)
def test_what_is_defused_and_what_is_not(text, stands):
    assert defuse_text(text) == stands


def test_numbers_are_no_texts_and_nothing_is_an_empty_cell():
    assert defuse_cell(-0.5) == -0.5
    assert defuse_cell(None) == ""
