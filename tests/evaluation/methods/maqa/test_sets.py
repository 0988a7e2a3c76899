import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from evaluation.methods.maqa.sets import one_to_one, set_score


def test_precision_recall_and_f1_of_two_right_among_four_of_three():
    # 2/4, 2/3, and 2 * 1/2 * 2/3 / (1/2 + 2/3) = 4/7
    score = set_score(2, 4, 2, 3)
    assert score == pytest.approx((1 / 2, 2 / 3, 4 / 7, 0.0))


def test_a_set_is_exact_where_nothing_is_missing_and_nothing_too_much():
    assert set_score(3, 3, 3, 3).exact_set == 1
    assert set_score(3, 4, 3, 3).exact_set == 0
    assert set_score(2, 2, 2, 3).exact_set == 0


def test_a_reply_without_answers_has_found_nothing():
    assert set_score(0, 0, 0, 2) == (0, 0, 0, 0)


def test_where_repetitions_count_precision_and_recall_count_different_things():
    # Three answers, all right, that name one of two: 1, 1/2, 2/3.
    assert set_score(3, 3, 1, 2) == pytest.approx((1, 1 / 2, 2 / 3, 0))


def test_two_spellings_of_one_right_answer_find_it_once_and_the_first_counts():
    assert one_to_one([[0], [0], [1]]) == [0, None, 1]


def test_an_answer_gives_way_where_it_fits_another_right_one_too():
    # The first fits both; the second only the one that the first took.
    assert one_to_one([[0, 1], [0]]) == [1, 0]


@pytest.mark.parametrize("seed", range(30))
def test_as_many_are_paired_as_by_the_assignment_of_scipy(seed):
    rng = np.random.default_rng(seed)
    fits = rng.random((rng.integers(1, 9), rng.integers(1, 9))) < 0.3
    found = one_to_one([list(np.flatnonzero(row)) for row in fits])
    rows, columns = linear_sum_assignment(fits, maximize=True)
    assert sum(one is not None for one in found) == fits[rows, columns].sum()
    taken = [one for one in found if one is not None]
    assert len(set(taken)) == len(taken)
    assert all(fits[answer, gold] for answer, gold in enumerate(found) if gold is not None)
