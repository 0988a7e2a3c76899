"""Headings of remarks, which are not proposed as questions, beside those of questions."""

import pytest

from annotations.exchange.column_names import is_remark_heading


@pytest.mark.parametrize(
    "title",
    [
        # Qualtrics, LimeSurvey, SurveyMonkey in two languages, Typeform, REDCap.
        *("Which? - Other (please specify) - Text", "Which? - Selected Choice - Other - Text"),
        *("q5[other]", "Pourquoi ? [Autre]", "Other (please specify)", "Anders, namelijk:"),
        *("Other", "If other, please name it:", "q5_other_text", "Other, please describe"),
    ],
)
def test_the_text_field_of_an_other_choice_is_a_remark(title):
    assert is_remark_heading(title)


@pytest.mark.parametrize(
    "title",
    [
        *("Name the other moon", "Which of the other planets is a god? Please name"),
        *("How does one planet differ from the other? Describe", "In other words, please explain"),
        "Other than water, which liquids expand?",
    ],
)
def test_a_question_with_the_word_other_is_no_remark(title):
    assert not is_remark_heading(title)
