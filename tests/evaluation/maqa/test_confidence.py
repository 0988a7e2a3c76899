from math import log

import pytest

from evaluation.core.backends.chat.contract import TokenLogprob
from evaluation.maqa.run.confidence import (
    ConfidenceError,
    are_shares_of_one,
    extract_confidence,
    find_answer_positions,
    find_answer_starts,
    is_same_position,
    parse_confidence,
)


@pytest.mark.parametrize(
    ("value", "confidence"),
    [
        ("1", 1),
        (1, 1),
        ("0.85", 0.85),
        (0.85, 0.85),
        ("0.85%", 0.85),
        ("85", 85),
        ("85 %", 85),
        ("85/100", 85),
        ("8 out of 10", 80),
        ("about 70 percent", 70),
        ("(85)", 85),
        ("0,5", 0.5),
        (0, 0),
        ("0", 0),
        (100, 100),
        ("100%", 100),
        ("1.5", 1.5),
    ],
)
def test_a_confidence_is_a_number_from_0_to_100(value, confidence):
    assert parse_confidence(value) == pytest.approx(confidence)


@pytest.mark.parametrize(
    ("value", "confidence"),
    [("1", 100), (1, 100), (1.0, 100), ("0.85", 85), (0, 0), ("85%", 85), ("8 out of 10", 80)],
)
def test_on_the_scale_of_shares_1_is_100(value, confidence):
    assert parse_confidence(value, shares=True) == pytest.approx(confidence)


@pytest.mark.parametrize(
    ("values", "shares"),
    [
        (["0.9", "1", 1, 0], True),
        ([0.5], True),
        (["1", 1, 0], False),  # none strictly between 0 and 1
        (["0.9", "85"], False),  # one is above 1
        (["0.9", "85%", None, "high"], True),  # what says its scale, or nothing, decides nothing
        (["85%", "9/10"], False),
        ([], False),
    ],
)
def test_values_are_shares_where_none_is_above_1_and_one_is_between(values, shares):
    assert are_shares_of_one(values) is shares


@pytest.mark.parametrize("value", [340, "340", "-5", -0.1, 100.5, "101%", "11/10", float("inf")])
def test_what_is_outside_is_none(value):
    with pytest.raises(ConfidenceError) as refused:
        parse_confidence(value)
    assert refused.value.code == "confidence_out_of_range"


@pytest.mark.parametrize(
    "value", ["high", "", "80-90", "3/0", "NaN", float("nan"), True, "85 or 90"]
)
def test_what_is_no_number_is_none(value):
    with pytest.raises(ConfidenceError) as refused:
        parse_confidence(value)
    assert refused.value.code == "confidence_unreadable"


@pytest.mark.parametrize(
    ("reply", "said", "rest"),
    [
        ("A, B\nConfidence: 85%", "85%", "A, B"),
        ("A, B (confidence: 0.9)", "0.9", "A, B"),
        ("**Confidence:** 60%", "60%", ""),
        ("Confidence (0-100): 73", "73", ""),
        ("Confidence score: 85/100\nAnswer: A", "85/100", "Answer: A"),
        ("Confidence: 85, Answers: A, B", "85", ", Answers: A, B"),
        ("A, B. I am 90% confident.", "90%", "A, B."),
        ("I am 90% confident that the answers are A, B.", "90%", "the answers are A, B."),
        ("A\nConfidence: 95\n\nConfidence: 60", "60", "A"),
        ("A\nConfidence: 85 because I know it", "85", "A"),
        ("A\nConfidence: 80-90%", "80-90%", "A"),
        ("A\nConfidence: very high", "very high", "A"),
        ("The album Confidence: Man", None, "The album Confidence: Man"),
        ("I am confident: A or B", None, "I am confident: A or B"),
    ],
)
def test_the_last_statement_of_confidence_is_taken_out_of_a_reply(reply, said, rest):
    assert extract_confidence(reply) == (said, rest)


def tokens(*texts):
    return [
        TokenLogprob(one if isinstance(one, bytes) else one.encode(), -1.0, ()) for one in texts
    ]


def begun(text, answers, *parts):
    found, faults = find_answer_starts(text, answers, tokens(*parts))
    return [(one.answer, one.before, one.token.data.decode()) for one in found], faults


def test_the_first_token_is_the_one_that_holds_the_first_character_of_the_answer():
    text = '["Red", "White"]'
    assert begun(text, ["Red", "White"], '["', "Red", '",', ' "', "Wh", "ite", '"]') == (
        [("Red", '["', "Red"), ("White", '["Red", "', "Wh")],
        [],
    )
    # A token that begins before the answer: the reply up to the token, not up to the answer.
    assert begun("Red, White", ["Red", "White"], "Red", ",", " White") == (
        [("Red", "", "Red"), ("White", "Red,", " White")],
        [],
    )


def test_parts_of_characters_and_what_the_server_sends_around_the_text_are_no_hindrance():
    parts = (b"\n", b"caf", b"\xc3", b"\xa9, ", b"\xc3\x89", b"vian", b"<|im_end|>")
    assert begun("café, Évian", ["café", "Évian"], *parts) == (
        [("café", "", "caf"), ("Évian", "café, ", "É")],
        [],
    )


def test_tokens_of_another_text_are_told():
    assert begun("Red", ["Red"], "Blue") == ([], ["tokens_of_another_text"])
    assert begun("Red", [], "Blue") == ([], [])


@pytest.mark.parametrize(
    ("text", "answers", "places"),
    [
        ('Red is nice. ["Red", "Blue"]', ["Red", "Blue"], [15, 22]),  # the last list
        ("2, 7\nConfidence: 72", ["2", "7"], [0, 3]),  # not in the confidence
        ("Confidence: 72\n2, 7", ["2", "7"], [15, 18]),
        ("12, 2", ["12", "2"], [0, 4]),  # not a part of a number
        ('["caf\\u00e9", "say \\"a\\""]', ["café", 'say "a"'], [2, 15]),  # as JSON has it
        ("Red, Blue", ["Red", "Green", "Blue"], [0, None, 5]),
        ("", ["Red"], [None]),
    ],
)
def test_answers_are_found_in_their_order_from_the_end(text, answers, places):
    assert find_answer_positions(text, answers) == places


def test_an_answer_that_was_put_together_otherwise_is_told():
    found, faults = begun("Red", ["Red", "dark blue"], "Red")
    assert (found, faults) == ([("Red", "", "Red")], ["answer_not_in_the_reply"])


def test_a_server_that_does_not_go_on_gives_another_distribution():
    def place(**p):
        return TokenLogprob(b"", 0.0, tuple((name.encode(), log(x)) for name, x in p.items()))

    first = place(a=0.6, b=0.2)
    assert is_same_position(first, place(b=0.1, a=0.55, c=0.1))
    assert not is_same_position(first, place(a=0.3, b=0.5))
    assert not is_same_position(first, place(x=0.9))  # a is not even listed
    assert is_same_position(TokenLogprob(b"", 0.0, ()), first)  # nothing to compare with
