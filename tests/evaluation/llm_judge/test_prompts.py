import pytest

from evaluation.llm_judge.run import read_score, read_verdict


@pytest.mark.parametrize(
    ("reply", "score"),
    [
        ("4", 4.0),
        (" 4.5 ", 4.5),
        ("4,5", 4.5),
        ("**3**/5", 3.0),
        ("Rating: **4.0 / 5.0**", 4.0),
        ("4 out of 5", 4.0),
        ("Score: 0", 0.0),
        ("Score: 4/5. I give it 4.", 4.0),
        ("5/5", 5.0),
    ],
)
def test_the_one_number_of_a_reply_is_its_score(reply, score):
    assert read_score(reply) == (score, None)


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("", "no_number"),
        ("good", "no_number"),
        ("B2", "no_number"),
        ("from 0 to 5", "several_numbers"),
        ("0-5", "several_numbers"),
        ("3 or 4", "several_numbers"),
        ("4/5 because it names 2 rivers", "several_numbers"),
        ("85", "out_of_range"),
        ("10/5", "out_of_range"),
        ("-1", "out_of_range"),
    ],
)
def test_what_could_be_read_in_two_ways_or_not_at_all_is_no_score(reply, reason):
    assert read_score(reply) == (None, reason)


@pytest.mark.parametrize(
    ("reply", "verdict"),
    [
        ("A", 1.0),
        ("b", 0.0),
        ("**B**.", 0.0),
        ("Answer A", 1.0),
        ("The better one is B, without doubt.", 0.0),
        ("Tie", 0.5),
        ("They are equal.", 0.5),
    ],
)
def test_a_verdict_names_a_or_b_or_neither(reply, verdict):
    assert read_verdict(reply) == (verdict, None)


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("", "no_verdict"),
        ("It is a good answer.", "no_verdict"),
        ("A or B", "several_verdicts"),
        ("Answer A is better than answer B", "several_verdicts"),
    ],
)
def test_a_reply_that_names_both_or_none_is_no_verdict(reply, reason):
    assert read_verdict(reply) == (None, reason)
