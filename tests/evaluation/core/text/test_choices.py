import pytest

from evaluation.core.text.items import ChoiceFault, Choices

CITIES = Choices(["Paris", "London", "New York, USA", "The Hague"])


@pytest.mark.parametrize(
    ("reply", "choices"),
    [
        ("Paris", {0}),
        ("  paris. ", {0}),
        ("hague", {3}),
        ("New York, USA", {2}),
        ("b", {1}),
        ("B", {1}),
        ("(B)", {1}),
        ("B.", {1}),
        ("**B**", {1}),
        ("B) London", {1}),
        ("b: because of the Thames", {1}),
        ("The answer is B.", {1}),
        ("Answer: (c)", {2}),
        ("The correct answer is: New York, USA", {2}),
        ("Option D", {3}),
        ("B\nBecause it stands on the Thames.", {1}),
        ("A, C", {0, 2}),
        ("A and C", {0, 2}),
        ("A, B and D", {0, 1, 3}),
        ("AC", {0, 2}),
        ('["A", "London"]', {0, 1}),
        ("Paris, New York, USA", {0, 2}),
        ("Paris\nLondon", {0, 1}),
        ("1) Paris", None),
    ],
)
def test_a_reply_names_choices_by_text_or_letter(reply, choices):
    found = CITIES.parse_reply(reply)
    if choices is None:
        assert found.fault is ChoiceFault.UNREADABLE
    else:
        assert (found.choices, found.fault) == (choices, None)


def test_the_text_of_a_choice_goes_before_its_letter():
    letters = Choices(["B", "A", "C"])
    assert letters.parse_reply("A").choices == {1}
    assert letters.parse_reply("b").choices == {0}
    # The label says A, the text is that of the other choice.
    assert CITIES.parse_reply("A) London").choices == {1}


@pytest.mark.parametrize("reply", ["E", "z", "(F)", "The answer is G", "A, E"])
def test_a_letter_out_of_range_is_told(reply):
    assert CITIES.parse_reply(reply).fault is ChoiceFault.OUT_OF_RANGE


@pytest.mark.parametrize("reply", ["Berlin", "I think it is Paris or London", "42", "Bd", "BAB"])
def test_what_names_no_choice_is_told(reply):
    assert CITIES.parse_reply(reply).fault is ChoiceFault.UNREADABLE


def test_choices_that_differ_by_punctuation_alone_are_told_apart():
    languages = Choices(["C", "C++", "C#"])
    assert languages.parse_reply("c++").choices == {1}
    assert languages.parse_reply("C#").choices == {2}
    assert languages.parse_reply("C").choices == {0}
    signs = Choices(["+", "-", "5", "-5", "3.5"])
    assert [signs.parse_reply(text).choices for text in ("+", "-", "5", "-5", "3.5")] == [
        {0},
        {1},
        {2},
        {3},
        {4},
    ]


def test_equal_choices_are_found():
    assert Choices(["yes", " Yes"]).find_equal_choices() == (0, 1)
    assert CITIES.find_equal_choices() is None
