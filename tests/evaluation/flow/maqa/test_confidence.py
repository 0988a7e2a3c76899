import pytest

from evaluation.flow.maqa.confidence import ConfidenceError, are_shares, confidence_of, said_in


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
    assert confidence_of(value) == pytest.approx(confidence)


@pytest.mark.parametrize(
    ("value", "confidence"),
    [("1", 100), (1, 100), (1.0, 100), ("0.85", 85), (0, 0), ("85%", 85), ("8 out of 10", 80)],
)
def test_on_the_scale_of_shares_1_is_100(value, confidence):
    assert confidence_of(value, shares=True) == pytest.approx(confidence)


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
    assert are_shares(values) is shares


@pytest.mark.parametrize("value", [340, "340", "-5", -0.1, 100.5, "101%", "11/10", float("inf")])
def test_what_is_outside_is_none(value):
    with pytest.raises(ConfidenceError) as refused:
        confidence_of(value)
    assert refused.value.code == "confidence_out_of_range"


@pytest.mark.parametrize(
    "value", ["high", "", "80-90", "3/0", "NaN", float("nan"), True, "85 or 90"]
)
def test_what_is_no_number_is_none(value):
    with pytest.raises(ConfidenceError) as refused:
        confidence_of(value)
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
    assert said_in(reply) == (said, rest)
