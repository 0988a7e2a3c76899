import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.core.text.matching import (
    compute_letter_similarity,
    extract_numbers,
    is_similar,
    normalise_for_matching,
)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The Beatles", "beatles"),
        ("  new\n  york ", "New York!"),
        ("1,250", "1250"),
        ("“Café”", "cafe\u0301"),
        ("ＡＢＣ", "abc"),
        ("An apple, a day", "apple day"),
        ("$5", "5"),
    ],
)
def test_case_punctuation_articles_and_spaces_do_not_matter(one, other):
    assert normalise_for_matching(one) == normalise_for_matching(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("3.5", "35"), ("-5", "5"), ("Anna", "nna"), (".5", "5"), ("−3", "3"), ("1969", "1968")],
)
def test_another_number_or_word_is_another_answer(one, other):
    assert normalise_for_matching(one) != normalise_for_matching(other)


def test_what_is_punctuation_or_an_article_alone_stays():
    assert normalise_for_matching(" The ") == "the"
    assert normalise_for_matching("A") == "a"
    assert normalise_for_matching("?!") == "?!"
    assert normalise_for_matching("+") != normalise_for_matching("-")
    assert normalise_for_matching("well-known") == "wellknown"
    assert normalise_for_matching("3-5") == "35"


def test_numbers_are_those_of_the_value():
    assert extract_numbers("It was 1,250 or 007.50, not -3") == {"1250", "7.5", "-3"}
    assert extract_numbers("in May") == frozenset()
    assert extract_numbers(".50") == extract_numbers("0.5") == {"0.5"}


def longest_common(one, other):
    row = [0] * (len(other) + 1)
    for letter in one:
        before = row[:]
        for at, there in enumerate(other, 1):
            row[at] = before[at - 1] + 1 if letter == there else max(before[at], row[at - 1])
    return row[-1]


@given(st.text("abcä ", max_size=12), st.text("abcä ", max_size=12))
def test_the_ratio_is_twice_the_common_subsequence_over_both_lengths(one, other):
    expected = 2 * longest_common(one, other) / (len(one) + len(other)) if one or other else 1.0
    assert compute_letter_similarity(one, other) == pytest.approx(expected)
    for least in (0.5, 0.8):
        assert is_similar(one, other, least) == (compute_letter_similarity(one, other) >= least)


def test_ratios_by_hand():
    # colour, color: 5 letters in common, 2 x 5 / 11
    assert compute_letter_similarity("colour", "color") == pytest.approx(10 / 11)
    # kitten, sitting: ittn, 2 x 4 / 13
    assert compute_letter_similarity("kitten", "sitting") == pytest.approx(8 / 13)
    assert compute_letter_similarity("", "a") == 0
    # abcd, abcdef: 8 / 10 is just enough.
    assert is_similar("abcd", "abcdef", 0.8)
    assert not is_similar("abcd", "abcdefg", 0.8)
