"""Choosing an answer to each question, and what it is worth by the experts' grades."""

import numpy as np
import pytest

from evaluation.evidence.baselines import Corpus, Crowd
from evaluation.evidence.studies.model_scoring import (
    MERITS,
    compare_choice_rules,
    grade_chosen_answers,
    rate_by_frequency,
    rate_by_length,
    rate_by_mean_vote,
    rate_equally,
)

TEXTS = [
    *("a stack", "A stack!", "a queue of things", "no idea"),
    *("the first one", "the first one", "the second one", "something else"),
]
GRADES = np.array([5.0, 4.0, 2.0, 0.0, 4.0, 4.0, 1.0, 0.0])
# Answers near (1, 0) are many; the fourth of each question is far off.
VECTORS = np.array([[1, 0.1], [1, 0], [0.8, 0.3], [0, 1]] * 2, dtype=float)


def crowd(references=None):
    corpus = Corpus(TEXTS, ["q1"] * 4 + ["q2"] * 4, lambda _: VECTORS, references=references)
    return Crowd(corpus, np.arange(8), np.array([0, 1, 2, 3] * 2))


def test_the_answer_of_greatest_merit_is_chosen_for_each_question():
    grade, best = grade_chosen_answers(crowd(), np.array([0, 0, 9, 1, 9, 0, 0, 0.0]), GRADES)
    # Grades 2 of q1, whose best is 5, and 4 of q2, whose best is 4.
    assert grade.tolist() == [2.0, 4.0]
    assert best.tolist() == [0.0, 1.0]


def test_among_equal_answers_any_is_chosen_with_equal_odds():
    grade, best = grade_chosen_answers(crowd(), rate_equally(crowd()), GRADES)
    # (5 + 4 + 2 + 0) / 4 and (4 + 4 + 1 + 0) / 4; the best is one of four, then two of four.
    assert grade.tolist() == [2.75, 2.25]
    assert best.tolist() == [0.25, 0.5]


def test_frequency_looks_at_words_within_a_question():
    assert rate_by_frequency(crowd()).tolist() == [2, 2, 1, 1, 2, 2, 1, 1]


def test_length_counts_words():
    assert rate_by_length(crowd()).tolist() == [2, 2, 4, 2, 3, 3, 3, 2]


def test_the_mean_vote_prefers_what_is_near_the_middle():
    # The mean of each question is (0.7, 0.35); (0.8, 0.3) is nearest in direction.
    found = rate_by_mean_vote(crowd())
    assert found[:4].argmax() == 2
    assert found[2] == pytest.approx(
        (0.8 * 0.7 + 0.3 * 0.35) / np.hypot(0.8, 0.3) / np.hypot(0.7, 0.35)
    )


def test_every_way_to_choose_has_a_row_or_a_reason():
    rows, missing = compare_choice_rules("s", [crowd()], GRADES)
    assert missing == {"reference_answer": "no_reference_answers"}
    assert {row[1] for row in rows} == set(MERITS) - set(missing) | {"best_possible"}
    of = {row[1]: row for row in rows}
    # Best grades 5 and 4: mean 4.5, standard error .5, t with one degree of freedom 12.706.
    assert of["best_possible"][2:] == (
        4.5,
        pytest.approx(4.5 - 12.706 * 0.5, abs=1e-3),
        pytest.approx(4.5 + 12.706 * 0.5, abs=1e-3),
        1.0,
        2,
        1,
    )
    assert of["random"][2] == 2.5
    assert all(row[2] <= 4.5 for row in rows)


def test_the_supervisors_answer_chooses_what_is_near_it():
    references = np.array([[0.0, 1.0], [1.0, 0.0]])
    rows, missing = compare_choice_rules("s", [crowd(lambda _: references)], GRADES)
    assert not missing
    (row,) = (row for row in rows if row[1] == "reference_answer")
    # Row 3 of q1 (grade 0), row 5 of q2 (grade 4).
    assert row[2] == 2.0
