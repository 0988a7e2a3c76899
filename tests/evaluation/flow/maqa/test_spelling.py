import pytest

from evaluation.flow.maqa.spelling import key_of, letter_of


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (7, "7"),
        (7.9, "$7.90"),
        ("1,250", 1250),
        ("-9", "−9"),
        ("2.", 2.0),
        ("50%", "50"),
        ("１２", 12),
        (0.1 + 0.2, "0.3"),
        ("1 000 000", 1_000_000),
        ("The Beatles", "beatles"),
        ("Jean-Luc", "Jean Luc"),
        ("Cooper’s Hawk", "cooper's hawk"),
        ("A", "(a)"),
        ("x = 2", "x=2"),
        ("1,250 miles", "1250 Miles"),
        ("Martin Luther King, Jr.", "Martin Luther King Jr"),
    ],
)
def test_two_spellings_of_one_answer_are_equal(one, other):
    assert key_of(one) == key_of(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        # Equal as numbers, but two answers to "list equivalent fractions".
        ("2/5", "4/10"),
        ("9", "-9"),
        ("7.9", "79"),
        ("10 20", "1020"),
        ("2/5", "25"),
        ("x^2+1", "x^2-1"),
        ("C++", "C"),
        ("Vitamin A", "Vitamin"),
        ("Beyoncé", "Beyonce"),
        ("+", "-"),
        ("the", "a"),
        ("12345678901234567890", "12345678901234567891"),
        ("Acts 11:26", "Acts 1:126"),
    ],
)
def test_two_answers_are_not_taken_for_one(one, other):
    assert key_of(one) != key_of(other)


def test_the_rules_of_the_paper_know_case_and_floats_only():
    assert key_of("ROME ", "paper") == key_of("rome", "paper")
    assert key_of("7.0", "paper") == key_of(7, "paper")
    assert key_of("1,250", "paper") != key_of(1250, "paper")
    assert key_of("The Beatles", "paper") != key_of("Beatles", "paper")
    assert key_of("nan", "paper") == "nan"


@pytest.mark.parametrize(
    ("answer", "letter"),
    [
        ("b", "B"),
        ("(B)", "B"),
        ("B) Paris", "B"),
        ("b. Rome", "B"),
        ("Paris", None),
        ("A and B", None),
    ],
)
def test_the_letter_of_a_choice(answer, letter):
    assert letter_of(answer) == letter
