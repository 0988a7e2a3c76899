import pytest

from evaluation.umwp.methods.texts import (
    is_right_number,
    list_windows,
    read_answer_number,
    split_sentences,
)


def test_sentences_end_at_points_marks_and_lines_in_other_scripts_too():
    assert split_sentences("It is 2.5. Yes!\nNo？好的。行") == [
        "It is 2.5",
        "Yes",
        "No",
        "好的",
        "行",
    ]
    assert split_sentences("It is 2.5. Yes", "paper") == ["It is 2", "5", "Yes"]


def test_windows_are_six_words_one_apart_and_short_sentences_whole():
    assert list_windows("Oak elm Ash fir yew box bay, Hi there!") == [
        "oak elm ash fir yew box",
        "elm ash fir yew box bay,",
        "ash fir yew box bay, hi",
        "fir yew box bay, hi there",
    ]
    assert list_windows("I cannot say.\n\nSorry!") == ["i cannot say", "sorry"]
    assert list_windows("... !") == []


LAST_NUMBERS = [
    ("The answer is 5 apples.", 5), ("First 3, then 4. The answer is 12. Good", 12),
    ("3 + 4 = 7", 7), ("It costs $1,250.50.", 1250.5), ("-5", -5), ("10 - 5", 5), ("10-5", 5),
    ("the answer is −4", -4), ("The answer is unknown, 3", 3), ("12,34", 34), ("2.5.", 2.5),
    ("The answer is 7, as 3 + 4 = 7 and not 8", 8), ("answer is: $460", 460),
    ("1,000,000", 1_000_000), ("none", None), ("The ANSWER  IS 3. Or 4?", 4),
    ("He has 9. The answer is not there.", 9),
]  # fmt: skip


@pytest.mark.parametrize(("reply", "answer"), LAST_NUMBERS)
def test_the_answer_is_the_last_number_after_answer_is_or_else_the_last(reply, answer):
    assert read_answer_number(reply) == answer


def test_the_rules_of_the_paper_cut_numbers_at_points_and_commas():
    assert is_right_number("The answer is 2.5", (2.5,))
    assert not is_right_number("The answer is 2.5", (2.5,), "paper")
    assert is_right_number("The answer is 2.5", (5.0,), "paper")
    assert is_right_number("It is 1,250", (250.0,), "paper")
    assert not is_right_number("It is 1,250", (250.0,))
    # Any number of the last three pieces will do, an earlier one will not.
    assert is_right_number("7 or 8 or 9", (8.0,), "paper")
    assert not is_right_number("8. 1. 2. 3", (8.0,), "paper")


def test_a_number_is_right_but_for_rounding_in_the_computer():
    assert is_right_number("0.3", (0.1 + 0.2,))
    assert not is_right_number("0.301", (0.3,))
