"""A practice answer in free text is right if it contains an accepted answer, not negated."""

import pytest

from annotations.answering.contained_answers import contains_answer
from annotations.answering.practice import grade_practice_answer
from annotations.models import Question


@pytest.mark.parametrize(
    ("text", "accepted"),
    [
        ("It is yellow.", "yellow"),
        ("  YELLOW! ", "yellow"),
        ("“Yellow”", "yellow"),
        ("It's the colour:yellow", "Yellow."),
        ("cafe\u0301 noir", "caf\u00e9"),
        ("c'est de l'eau", "eau"),
        ("the U.S. army", "US"),
        ("In New  York, USA", "new york usa"),
        ("a C++ program", "C++"),
        ("黄色です", "黄色"),
        ("它是黄色的", "黄色"),
        ("कैनबरा है", "कैनबरा"),
    ],
)
def test_an_answer_is_found_as_whole_words_whatever_its_case_spacing_and_punctuation(
    text, accepted
):
    assert contains_answer(text, [accepted])


@pytest.mark.parametrize(
    ("text", "accepted"),
    [
        ("yellowish", "yellow"),
        ("green", "yellow"),
        ("", "yellow"),
        ("C", "C++"),
        ("カナダ", "カナ"),
        ("!", "?"),
    ],
)
def test_a_part_of_a_word_is_no_answer(text, accepted):
    assert not contains_answer(text, [accepted])


@pytest.mark.parametrize(
    ("text", "accepted"),
    [("5 kg", "5kg"), ("1,000 people", "1000"), ("It is -5 degrees", "-5"), ("3.5 m", "3.5")],
)
def test_a_number_is_found_with_its_sign_and_decimals(text, accepted):
    assert contains_answer(text, [accepted])


@pytest.mark.parametrize(
    ("text", "accepted"), [("17", "7"), ("3.5", "3"), ("3.5kg", "3"), ("-5", "5"), (".5", "5")]
)
def test_a_part_of_a_number_is_no_answer(text, accepted):
    assert not contains_answer(text, [accepted])


@pytest.mark.parametrize(
    ("text", "accepted"),
    [
        ("not yellow", "yellow"),
        ("It isn't yellow", "yellow"),
        ("It isn’t yellow", "yellow"),
        ("it is never yellow", "yellow"),
        ("neither green nor yellow", "yellow"),
        ("not green, red or yellow", "yellow"),
        ("anything but yellow", "yellow"),
        ("yellow it is not", "yellow"),
        ("yellow is wrong", "yellow"),
        ("yellow isn't right", "yellow"),
        ("yellow does not fit", "yellow"),
        ("nicht gelb", "gelb"),
        ("ce n'est pas jaune", "jaune"),
        ("ليس أصفر", "أصفر"),
        ("sarı değil", "sarı"),
        ("不是黄色", "黄色"),
        ("黄色ではない", "黄色"),
        ("ไม่ใช่สีเหลือง", "สีเหลือง"),
    ],
)
def test_a_negated_answer_is_wrong(text, accepted):
    assert not contains_answer(text, [accepted])


@pytest.mark.parametrize(
    ("text", "accepted"),
    [
        ("I think it's yellow, not green", "yellow"),
        ("yellow not green", "yellow"),
        ("not green but yellow", "yellow"),
        ("It is not green, it is yellow", "yellow"),
        ("nothing but yellow", "yellow"),
        ("He was found not guilty", "not guilty"),
    ],
)
def test_a_negation_of_something_else_does_not_matter(text, accepted):
    assert contains_answer(text, [accepted])


@pytest.mark.parametrize(("text", "right"), [("No, it is not.", True), ("I see no bread", False)])
def test_no_is_an_answer_only_by_itself(text, right):
    assert contains_answer(text, ["no"]) is right


def test_practice_accepts_any_accepted_answer_in_a_sentence():
    question = Question(kind="short", role="practice", accepted_answers=[["yellow", "gold"], "red"])
    given = ["It is gold", "red", "It is red.", "not red", "blue"]
    found = [grade_practice_answer(question, text).right for text in given]
    assert found == [True, True, True, False, False]


def test_practice_with_choices_takes_the_choice_alone():
    question = Question(kind="choice", choices=["red", "dark red"], accepted_answers=["red"])
    assert grade_practice_answer(question, "dark red").right is False


def test_practice_without_an_accepted_answer_is_neither_right_nor_wrong():
    assert grade_practice_answer(Question(kind="free"), "red").right is None


def test_an_attention_check_takes_the_accepted_answer_alone():
    assert (
        Question(role="attention", accepted_answers=["agree"]).accepts_answer("somewhat agree")
        is False
    )
