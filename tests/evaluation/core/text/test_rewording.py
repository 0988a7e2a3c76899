import pytest

from evaluation.core.text.matching import extract_names, has_same_names, has_same_numbers


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("How far is 3.50 km?", "What does 3.5 km measure?", True),
        ("Who scored 3 goals?", "Who scored three goals?", True),
        ("Which 12 months?", "Which twelve months?", True),
        ("Which one is it?", "What is it?", True),
        ("Who won in 1889?", "Who won in 1888?", False),
        ("Who won in 1889?", "Who won?", False),
        ("Who won?", "Who won in 1889?", False),
        ("1,250 people", "1250 people", True),
        ("Is it -5?", "Is it 5?", False),
    ],
)
def test_numbers_have_to_be_the_same(one, other, same):
    assert has_same_numbers(one, other) is same


def test_names_are_words_with_capitals_within_a_sentence_and_quotations():
    assert extract_names("Who wrote Hamlet and “the sonnets”?") == {"hamlet", "the sonnets"}
    assert extract_names("Is it in the USA? There, I mean.") == {"usa"}
    assert extract_names("NASA was founded when?") == {"nasa"}
    assert extract_names("What Is The Capital Of France Now?") == set()
    assert extract_names("法国的首都是哪里?") == set()


@pytest.mark.parametrize(
    ("question", "rewording", "same"),
    [
        ("What is the capital of France?", "Which city is France's capital?", True),
        ("Who wrote Hamlet?", "Hamlet was written by whom?", True),
        ("What is the capital of France?", "What is the capital of that country?", False),
        ("What is the capital of France?", "What is the capital of Spain?", False),
        ("Who wrote the play?", "Which author of London wrote the play?", False),
        ("Did Art win?", "Did the party win?", False),
    ],
)
def test_a_rewording_names_what_the_question_names_and_nothing_else(question, rewording, same):
    assert has_same_names(question, rewording) is same
