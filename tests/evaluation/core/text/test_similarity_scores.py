"""The last line "Similarity score: X" of a judge's reply counts."""

import pytest

from evaluation.core.text.items import parse_score

RANGE, NO_NUMBER = "score_is_a_range", "score_is_no_number"


@pytest.mark.parametrize(
    ("line", "score"),
    [
        ("Similarity score: 4", 4.0),
        ("similarity score: 0", 0.0),
        ("Similarity score: 5", 5.0),
        ("Similarity score: 3.5", 3.5),
        ("Similarity score: 3,5", 3.5),
        ("Similarity score: .5", 0.5),
        ("Similarity score: 4/5", 4.0),
        ("Similarity score: 4 / 5", 4.0),
        ("Similarity score: 4.5/5.0", 4.5),
        ("Similarity score: 4 out of 5", 4.0),
        ("**Similarity score: 4**", 4.0),
        ("**Similarity score:** 4", 4.0),
        ("**Similarity score**: **4**/5", 4.0),
        ("### Similarity score: 4.", 4.0),
        ("- Similarity Score = `2`", 2.0),
        ("Similarity score: [3]", 3.0),
        ("Similarity score (0-5): 3", 3.0),
        ("**Similarity score (0 to 5):** 3/5", 3.0),
        ("Overall similarity score: 2", 2.0),
        ("Similarity score: 4, because two differ", 4.0),
        ("Similarity score: 4 (of at most 5)", 4.0),
        ("Similarity score: 4\r", 4.0),
        ("Similarity score: 4 - all agree", 4.0),
    ],
)
def test_a_line_with_a_score_is_read(line, score):
    found = parse_score(f"Both agree.\n\n{line}")
    assert (found.score, found.reason, found.notes) == (score, None, "Both agree.")


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("Similarity score: 0-5", RANGE),
        ("Similarity score: 0 - 5", RANGE),
        ("Similarity score: 0\N{EN DASH}5", RANGE),
        ("Similarity score: 0 to 5", RANGE),
        ("Similarity score: 3 or 4", RANGE),
        ("**Similarity score: 0-5**", RANGE),
        ("**Similarity score:** **3**-**4**", RANGE),
        ("Similarity score: 4/10", RANGE),
        ("Similarity score: 5.5", "score_above_5"),
        ("Similarity score: 6/5", "score_above_5"),
        ("Similarity score: 80", "score_above_5"),
        ("Similarity score: 80%", NO_NUMBER),
        ("Similarity score: -1", NO_NUMBER),
        ("Similarity score: 4th", NO_NUMBER),
        ("Similarity score: 1.2.3", NO_NUMBER),
        ("Similarity score: high", NO_NUMBER),
        ("Similarity score:", NO_NUMBER),
        ("Similarity score: X", NO_NUMBER),
        ("I would give them a 4.", "no_score_line"),
        ("The similarity scores: 4", "no_score_line"),
        ("", "no_score_line"),
    ],
)
def test_what_is_no_score_has_a_reason(line, reason):
    found = parse_score(f"They differ.\n{line}")
    assert (found.score, found.reason) == (None, reason)


def test_the_last_line_counts_and_not_the_highest():
    reply = "Similarity score: 5 would mean the same.\nOne differs.\nSimilarity score: 3\n"
    assert parse_score(reply).score == 3.0
    assert parse_score(reply).notes == "Similarity score: 5 would mean the same.\nOne differs."


def test_a_repeated_instruction_after_a_score_is_no_score():
    found = parse_score("Similarity score: 4\nEnd with Similarity score: 0-5")
    assert (found.score, found.reason) == (None, RANGE)


def test_words_after_the_line_do_not_matter():
    assert parse_score("Similarity score: 2\n\nLet me know if you need 5 more.").score == 2.0
