import pytest

from evaluation.umwp.methods.texts import find_variable_expression, is_english_word

EXPRESSIONS = [
    ("He has x + 5 apples.", "x+5"),
    ("The answer is 3n+5.", "3n+5"),
    ("(x + 2) / 3 dollars", "(x+2)/3"),
    ("It is 2.5x + 1.", "2.5x+1"),
    ("The answer is x.", "x"),
    ("Left over: 50 - 4k.", "50-4k"),
    ("Total = 20n", "=20n"[1:]),
    ("Let x be the number of boxes. Then it is 2x.", "2x"),
    ("So the answer is N.", "N"),
    ("It is $x$ apples.", "x"),
    ("The area is 8w square metres", "8w"),
]


@pytest.mark.parametrize(("reply", "expression"), EXPRESSIONS)
def test_an_answer_with_a_variable_is_an_expression(reply, expression):
    assert find_variable_expression(reply) == expression


@pytest.mark.parametrize(
    "reply",
    [
        "The rope is 5cm long.",
        "It takes 5 hrs and 20 min at 60 mph.",
        "on the 3rd day Jovana had 2 shells",
        "3 x 5 = 15",
        "The total is 3 x 5.",
        "So x = 7. The answer is 7.",
        "Let x be the number of apples. Then x = 7.",
        "Class B has 20 pupils.",
        "A) 5",
        "It costs $5.50 per kg.",
        "She drives 50 km/h.",
        "The answer is 16 cm2.",
        "x + y = 10",
        "Bob's book",
        "460",
    ],
)
def test_units_names_and_solved_variables_are_none(reply):
    assert find_variable_expression(reply) is None


@pytest.mark.parametrize(
    ("reply", "expression"),
    [("The rope is 5cm long.", "5cm"), ("on the 3rd day", "3rd"), ("The total is 3 x 5", "3x5")],
)
def test_the_rules_of_the_paper_take_units_for_variables(reply, expression):
    assert find_variable_expression(reply, "paper") == expression


def test_only_the_last_three_sentences_count():
    before = "There are x + 5 apples. "
    assert find_variable_expression(before + "One. Two.") == "x+5"
    assert find_variable_expression(before + "One. Two. Three.") is None


def test_letters_are_no_words_but_a_and_i():
    assert [
        token for token in ("a", "I", "x", "n", "is", "xy", "apples") if is_english_word(token)
    ] == [
        "a",
        "I",
        "is",
        "apples",
    ]
