"""Names in little room: different ones never look the same."""

from hypothesis import given
from hypothesis import strategies as st

from evaluation.core.charts.chart import RowLayout
from evaluation.core.charts.svg import (
    LETTER_WIDTH,
    WIDE_LETTER_WIDTH,
    estimate_letter_width,
    shorten_distinctly,
)

FAMILY = "Meta-Llama-3.1-Instruct-quantised-by-somebody"


PROLIFIC_ID = "5f1a9c0e2b7d4836a0c9e1f2"
"""24 characters, as Prolific makes them."""


def test_an_id_of_24_characters_stands_whole_beside_its_row():
    layout = RowLayout(900.0, [PROLIFIC_ID, "ann"])
    assert layout._labels == [PROLIFIC_ID, "ann"]
    # Digits of the font are 0.63 of its size, its small letters 0.58: 14 and 10 of them here.
    assert layout.left - 12 >= (14 * 0.63 + 10 * 0.58) * 12


def test_on_a_phone_such_an_id_stands_above_its_row():
    layout = RowLayout(340.0, [PROLIFIC_ID])
    assert layout.has_stacked_names
    assert layout._labels == [PROLIFIC_ID]


def test_ids_and_addresses_of_mail_take_more_room_than_words():
    assert estimate_letter_width("Tomasz") == LETTER_WIDTH
    for name in (PROLIFIC_ID, "A2FXYZ", "ann@example.org"):
        assert estimate_letter_width(name) == WIDE_LETTER_WIDTH


def test_names_that_fit_stay_as_they_are():
    assert shorten_distinctly(["ann", "bob  b"], 8) == ["ann", "bob b"]


def test_a_long_name_keeps_its_beginning_and_its_end():
    assert shorten_distinctly(["gpt-4o-mini-2024-07-18, with passage"], 15) == ["gpt-4o-m…assage"]


def test_names_with_the_same_beginning_and_end_keep_what_differs():
    names = [f"{FAMILY}-{size}-temperature-0-with-passage" for size in ("8B", "70B", "405B")]
    short = shorten_distinctly(names, 16)
    assert all(len(label) <= 16 for label in short)
    for label, size in zip(short, ("8B", "70B", "405B"), strict=True):
        assert size.rstrip("B") in label
    assert len(set(short)) == 3


def test_names_that_differ_only_at_their_end_or_beginning_are_told_apart():
    ends = shorten_distinctly([f"{FAMILY}{FAMILY}{end}" for end in ("-a", "-b")], 12)
    begins = shorten_distinctly([f"{begin}-{FAMILY}{FAMILY}" for begin in "ab"], 12)
    assert len(set(ends)) == len(set(begins)) == 2


def test_what_differs_in_more_places_than_there_is_room_for_gets_a_number():
    words = [f"{'x' * 20}{middle}{'y' * 20}" for middle in ("1aaaaaaa1", "1aabaaaa1", "1aaabaaa1")]
    assert len(set(shorten_distinctly(words, 5))) == 3


def test_the_same_name_twice_looks_the_same():
    first, second = shorten_distinctly([FAMILY, FAMILY], 10)
    assert first == second


@given(st.lists(st.text(alphabet="ab-", min_size=1, max_size=30), max_size=12), st.integers(1, 20))
def test_different_names_never_look_the_same(names, most):
    lines = [" ".join(name.split()) for name in names]
    short = shorten_distinctly(names, most)
    assert len(short) == len(names)
    assert len(set(short)) == len(set(lines))
    assert all(len(label) <= max(most, 5) for label in short)
