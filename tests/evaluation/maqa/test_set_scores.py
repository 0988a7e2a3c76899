import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from evaluation.maqa.methods.set_scores import (
    build_comparison_key,
    compute_set_score,
    match_answers_one_to_one,
    read_choice_letter,
)


def test_precision_recall_and_f1_of_two_right_among_four_of_three():
    # 2/4, 2/3, and 2 * 1/2 * 2/3 / (1/2 + 2/3) = 4/7
    score = compute_set_score(2, 4, 2, 3)
    assert score == pytest.approx((1 / 2, 2 / 3, 4 / 7, 0.0))


def test_a_set_is_exact_where_nothing_is_missing_and_nothing_too_much():
    assert compute_set_score(3, 3, 3, 3).exact_set == 1
    assert compute_set_score(3, 4, 3, 3).exact_set == 0
    assert compute_set_score(2, 2, 2, 3).exact_set == 0


def test_a_reply_without_answers_has_found_nothing():
    assert compute_set_score(0, 0, 0, 2) == (0, 0, 0, 0)


def test_where_repetitions_count_precision_and_recall_count_different_things():
    # Three answers, all right, that name one of two: 1, 1/2, 2/3.
    assert compute_set_score(3, 3, 1, 2) == pytest.approx((1, 1 / 2, 2 / 3, 0))


def test_two_spellings_of_one_right_answer_find_it_once_and_the_first_counts():
    assert match_answers_one_to_one([[0], [0], [1]]) == [0, None, 1]


def test_an_answer_gives_way_where_it_fits_another_right_one_too():
    # The first fits both; the second only the one that the first took.
    assert match_answers_one_to_one([[0, 1], [0]]) == [1, 0]


@pytest.mark.parametrize("seed", range(30))
def test_as_many_are_paired_as_by_the_assignment_of_scipy(seed):
    rng = np.random.default_rng(seed)
    fits = rng.random((rng.integers(1, 9), rng.integers(1, 9))) < 0.3
    found = match_answers_one_to_one([list(np.flatnonzero(row)) for row in fits])
    rows, columns = linear_sum_assignment(fits, maximize=True)
    assert sum(one is not None for one in found) == fits[rows, columns].sum()
    taken = [one for one in found if one is not None]
    assert len(set(taken)) == len(taken)
    assert all(fits[answer, gold] for answer, gold in enumerate(found) if gold is not None)


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
    assert build_comparison_key(one) == build_comparison_key(other)


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
    assert build_comparison_key(one) != build_comparison_key(other)


def test_the_rules_of_the_paper_know_case_and_floats_only():
    assert build_comparison_key("ROME ", "paper") == build_comparison_key("rome", "paper")
    assert build_comparison_key("7.0", "paper") == build_comparison_key(7, "paper")
    assert build_comparison_key("1,250", "paper") != build_comparison_key(1250, "paper")
    assert build_comparison_key("The Beatles", "paper") != build_comparison_key("Beatles", "paper")
    assert build_comparison_key("nan", "paper") == "nan"


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
    assert read_choice_letter(answer) == letter
