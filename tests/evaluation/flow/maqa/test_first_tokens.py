from math import log

import pytest

from evaluation.backends.chat.distributions import TokenLogprob
from evaluation.flow.maqa.first_tokens import are_of_one_place, places_in, starts


def tokens(*texts):
    return [
        TokenLogprob(one if isinstance(one, bytes) else one.encode(), -1.0, ()) for one in texts
    ]


def begun(text, answers, *parts):
    found, faults = starts(text, answers, tokens(*parts))
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
    assert places_in(text, answers) == places


def test_an_answer_that_was_put_together_otherwise_is_told():
    found, faults = begun("Red", ["Red", "dark blue"], "Red")
    assert (found, faults) == ([("Red", "", "Red")], ["answer_not_in_the_reply"])


def test_a_server_that_does_not_go_on_gives_another_distribution():
    def place(**p):
        return TokenLogprob(b"", 0.0, tuple((name.encode(), log(x)) for name, x in p.items()))

    first = place(a=0.6, b=0.2)
    assert are_of_one_place(first, place(b=0.1, a=0.55, c=0.1))
    assert not are_of_one_place(first, place(a=0.3, b=0.5))
    assert not are_of_one_place(first, place(x=0.9))  # a is not even listed
    assert are_of_one_place(TokenLogprob(b"", 0.0, ()), first)  # nothing to compare with
