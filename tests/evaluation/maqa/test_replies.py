import pytest

from evaluation.maqa.run.replies import read_answer_list


@pytest.mark.parametrize(
    ("reply", "answers"),
    [
        ("A, B, C", ["A", "B", "C"]),
        (
            "The members are Bob Dylan, Tom Petty, and Jeff Lynne.",
            ["Bob Dylan", "Tom Petty", "Jeff Lynne"],
        ),
        ("Bob Dylan, Tom Petty and Jeff Lynne", ["Bob Dylan", "Tom Petty", "Jeff Lynne"]),
        ("Answers: A; B; C", ["A", "B", "C"]),
        ("Final answer: 2/5, 4/10", ["2/5", "4/10"]),
        ("a | b | c", ["a", "b", "c"]),
        ("2 and 3", ["2", "3"]),
        ("Bob Dylan and Tom Petty", ["Bob Dylan", "Tom Petty"]),
        ("Vivian, Louisiana, and Atlanta, Texas", ["Vivian", "Louisiana", "Atlanta", "Texas"]),
        ("A, B, and Simon and Garfunkel", ["A", "B", "Simon and Garfunkel"]),
        ("-9, 7", ["-9", "7"]),
        ("1,250, 300, and 5", ["1,250", "300", "5"]),
        ("1,250", ["1,250"]),
        ("2,3,5", ["2", "3", "5"]),
        ("Paris (France, Europe), Rome", ["Paris (France, Europe)", "Rome"]),
        ('"Atlanta, Texas", "Vivian, Louisiana"', ["Atlanta, Texas", "Vivian, Louisiana"]),
        ("「東京」、「京都」", ["東京", "京都"]),
        ("Paris [1], London [2]", ["Paris [1]", "London [2]"]),
        ("The answer is Paris.", ["Paris"]),
        ("", []),
        ("I don't know", []),
    ],
)
def test_answers_in_one_line_are_parted_by_semicolons_bars_or_commas(reply, answers):
    assert list(read_answer_list(reply).answers) == answers


@pytest.mark.parametrize(
    ("reply", "answers"),
    [
        ('["A", "B, c"]', ["A", "B, c"]),
        ('```json\n["A",\n "B"]\n```', ["A", "B"]),
        ("The answers are [2, 3.5].", ["2", "3.5"]),
        ("['x', 'y']", ["x", "y"]),
        ("Answer: [Rome, Paris]", ["Rome", "Paris"]),
        ('First I thought ["A"], but it is ["B", "C"]', ["B", "C"]),
        ('{"answers": ["A", "B"], "note": ["x"]}', ["A", "B"]),
        ("[]", []),
    ],
)
def test_a_list_in_brackets_says_itself_where_an_answer_ends(reply, answers):
    found = read_answer_list(reply)
    assert (list(found.answers), found.form) == (answers, "brackets")


@pytest.mark.parametrize(
    ("reply", "answers"),
    [
        ("Shreveport, Louisiana\nAtlanta, Texas", ["Shreveport, Louisiana", "Atlanta, Texas"]),
        (
            "Sure! Here they are:\n1. Bob Dylan\n2. Tom Petty\n\nI hope this helps!",
            ["Bob Dylan", "Tom Petty"],
        ),
        ("The answers:\n\n* Paris\n\n* Rome\n", ["Paris", "Rome"]),
        ("- **Bob Dylan**: singer\n- **Tom Petty** - guitar", ["Bob Dylan", "Tom Petty"]),
        ("Answer:\nA\nC", ["A", "C"]),
        ("Bob Dylan\n\nTom Petty", ["Bob Dylan", "Tom Petty"]),
    ],
)
def test_an_answer_a_line_is_preferred_to_commas(reply, answers):
    found = read_answer_list(reply)
    assert (list(found.answers), found.form) == (answers, "lines")


@pytest.mark.parametrize(
    "reply",
    [
        "1. 36 = 4 * 9\n2. 90 = 2 * 45\nTherefore, the prime factors are 2, 3, 5.",
        "- 36 = 4 * 9\n- 90 = 2 * 45\n\nAnswer: 2, 3, 5",
        "We look for primes. There are three of them.\nAnswer: 2, 3, 5",
        "Let me think. There are three. Answer: 2, 3, 5",
    ],
)
def test_the_last_list_counts_and_not_the_steps_before_it(reply):
    assert list(read_answer_list(reply).answers) == ["2", "3", "5"]


def test_letters_before_lines_are_kept_where_letters_are_to_be_chosen():
    assert read_answer_list("A) Paris\nC) Rome").answers == ("Paris", "Rome")
    assert read_answer_list("A) Paris\nC) Rome", letters=True).answers == ("A) Paris", "C) Rome")
