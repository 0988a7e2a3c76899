"""Support, ranks, percentile, human ceiling."""

import numpy as np
import pytest
from scipy import stats

from evaluation.consensus.methods.scale import (
    compute_competition_ranks,
    compute_human_ceiling,
    compute_percentile,
    compute_worker_means,
    find_supported_workers,
    number_groups,
    rank_within_groups,
)
from evaluation.core.stats.cells import Cells, encode_labels

NAN = float("nan")


def from_table(table):
    """Cells and their scores from (workers x questions), NaN for no answer."""
    table = np.asarray(table, float)
    worker, question = np.nonzero(~np.isnan(table))
    cells = Cells.from_codes(worker, question, *table.shape)
    return table[cells.worker, cells.question], cells


def test_support_needs_5_questions_that_3_workers_answered():
    table = np.ones((4, 7))
    table[3, 4:] = NAN  # 4 questions
    table[2, 5] = NAN  # question 5: workers 0 and 1 only; question 6: three workers
    _, cells = from_table(table)
    # 0: 7 questions, 6 of them answered by three; 2: 6 of which 6; 3: 4
    assert find_supported_workers(cells).tolist() == [True, True, True, False]
    table[:2, 6] = NAN  # now questions 5 and 6 do not count: 0 and 1 keep 5
    assert find_supported_workers(from_table(table)[1]).tolist() == [True, True, True, False]
    table[2, 4] = NAN  # question 4: two workers left: 4 questions count
    assert find_supported_workers(from_table(table)[1]).tolist() == [False] * 4


def test_ranks_are_competition_ranks_among_the_supported():
    grades = np.array([0.5, 1.0, 0.5, NAN, 0.9, 0.0, 0.5 + 1e-14])
    among = np.array([True, True, True, True, False, True, True])
    assert compute_competition_ranks(grades, among).tolist() == [2, 1, 2, 0, 0, 5, 2]
    assert compute_competition_ranks(grades, np.zeros(7, dtype=bool)).tolist() == [0] * 7


@pytest.mark.parametrize(
    ("pairs", "groups"),
    [
        ([("ann", 1), ("bob", 1), ("ann", 2), ("cem", 2)], [0, 0, 0]),  # one links the others
        ([("ann", 1), ("bob", 1), ("cem", 2), ("dee", 2)], [1, 1, 2, 2]),
        (
            [("cem", 2), ("dee", 2), ("ann", 1), ("bob", 1), ("eli", 1)],
            [2, 2, 1, 1, 1],
        ),
        ([("ann", 1), ("bob", 1), ("cem", 2)], [0, 0, 0]),  # one alone makes no group
        ([("ann", 1), ("bob", 1), ("cem", 2), ("dee", 2), ("eli", 3)], [1, 1, 2, 2, 0]),
    ],
)
def test_groups_share_no_question(pairs, groups):
    workers = encode_labels([who for who, _ in pairs])[0]
    questions = encode_labels([question for _, question in pairs])[0]
    cells = Cells.from_codes(workers, questions, workers.max() + 1, questions.max() + 1)
    assert number_groups(cells).tolist() == groups


def test_without_the_answers_of_the_worker_who_links_them_there_are_groups():
    workers, questions = np.array([0, 1, 2, 2, 3, 4]), np.array([0, 0, 0, 1, 1, 1])
    cells = Cells.from_codes(workers, questions, 5, 2)
    among = np.array([True, True, False, True, True])
    assert number_groups(cells).tolist() == [0] * 5
    assert number_groups(cells, among).tolist() == [1, 1, 0, 2, 2]


def test_ranks_within_groups_begin_anew():
    grades, everybody = np.array([0.9, 0.2, 0.5, 0.5, 0.1]), np.ones(5, dtype=bool)
    assert rank_within_groups(grades, everybody, np.array([1, 1, 2, 2, 2])).tolist() == [
        1,
        2,
        1,
        1,
        3,
    ]


def test_percentile_counts_ties_half():
    # below .5: one; equal: two; of four: (1 + 1)/4
    assert compute_percentile(0.5, np.array([0.1, 0.5, 0.5, 0.9, NAN])) == 50
    assert compute_percentile(1.0, np.array([0.1, 0.5])) == 100
    assert compute_percentile(0.0, np.array([0.1, 0.5])) == 0
    assert compute_percentile(0.5, np.array([NAN])) is None


def test_worker_means_leave_out_what_is_undefined():
    scores, cells = from_table([[0.2, 0.4, NAN], [0.6, NAN, 0.1]])
    left_out = np.where(scores == 0.1, NAN, scores)
    assert compute_worker_means(left_out, cells) == pytest.approx([0.3, 0.6])
    only = np.array([False, True, False])
    assert compute_worker_means(left_out, cells, only) == pytest.approx([0.4, NAN], nan_ok=True)


def test_ceiling_by_hand():
    # Means .9, .7, .5, .3 and .1 of five workers: a quarter is 1.25, two workers: (.9 + .7)/2 = .8.
    # Over 5 questions their joint means are .8 + (-.1, -.05, 0, .05, .1): sd sqrt(.025/4)
    # = .0790569, error sd/sqrt 5 = .0353553, t(.975, 4) = 2.776445: .8 +- .0981621
    shift = np.array([-0.1, -0.05, 0, 0.05, 0.1])
    table = np.array([0.9, 0.7, 0.5, 0.3, 0.1])[:, None] + shift
    found = compute_human_ceiling(*from_table(table))
    assert (found.score, found.n_workers, found.n_questions) == (pytest.approx(0.8), 2, 5)
    assert (found.low, found.high) == pytest.approx((0.7018379, 0.8981621), abs=1e-6)


def test_the_ceiling_of_one_worker_is_its_t_interval():
    table = np.full((4, 6), 0.1)
    table[1] = [0.5, 0.9, 0.7, 0.8, 0.6, 0.4]
    found = compute_human_ceiling(*from_table(table))
    expected = stats.ttest_1samp(table[1], 0).confidence_interval()
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))


def test_without_a_supported_worker_there_is_no_ceiling():
    found = compute_human_ceiling(*from_table(np.ones((3, 4))))
    assert (found.score, found.low, found.reason) == (None, None, "no_supported_worker")
