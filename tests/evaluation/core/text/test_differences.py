"""Words that not all of some texts have are marked; the pieces make the text up again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.core.text.matching import mark_differences


def marked(*texts):
    return [[piece.text for piece in pieces if piece.differs] for pieces in mark_differences(texts)]


def test_words_that_another_text_lacks_are_marked():
    assert marked("Close the window now.", "Close the door.") == [["window now"], ["door"]]


def test_case_place_and_punctuation_do_not_count():
    assert marked("Rules? Know them!", "know THEM, rules") == [[], []]


def test_a_word_that_stands_more_often_is_marked_where_it_is_too_often():
    assert marked("no no no", "no") == [["no no"], []]


def test_one_that_is_in_two_of_three_is_marked_in_both():
    assert marked("a tall tree", "a tall bush", "a bush") == [
        ["tall tree"],
        ["tall bush"],
        ["bush"],
    ]


def test_scripts_without_blanks_are_compared_by_characters():
    assert marked("我喜欢茶", "我喜欢水") == [["茶"], ["水"]]


def test_alone_or_equal_nothing_is_marked():
    assert marked("all of it") == [[]]
    assert marked("same", "same") == [[], []]
    assert marked("", "word") == [[], ["word"]]
    assert mark_differences([]) == []


@pytest.mark.slow
@given(st.lists(st.text(max_size=40), min_size=1, max_size=4))
def test_the_pieces_make_the_text_up_again(texts):
    for text, pieces in zip(texts, mark_differences(texts), strict=True):
        assert "".join(piece.text for piece in pieces) == text


@given(st.lists(st.text("ab cö.", max_size=20), min_size=2, max_size=4))
def test_without_marks_all_have_the_same_words(texts):
    found = mark_differences(texts)
    if not any(piece.differs for pieces in found for piece in pieces):
        words = [sorted(text.casefold().replace(".", " ").split()) for text in texts]
        assert all(one == words[0] for one in words)
