"""Support, ranks, percentile, human ceiling."""

import numpy as np
import pytest
from scipy import stats

from evaluation.consensus.methods.percentiles import compute_percentile
from evaluation.consensus.methods.scale import (
    compute_competition_ranks,
    compute_human_ceiling,
    compute_worker_means,
    find_supported_workers,
    number_connected_groups,
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
    assert number_connected_groups(cells).tolist() == groups


def test_without_the_answers_of_the_worker_who_links_them_there_are_groups():
    workers, questions = np.array([0, 1, 2, 2, 3, 4]), np.array([0, 0, 0, 1, 1, 1])
    cells = Cells.from_codes(workers, questions, 5, 2)
    among = np.array([True, True, False, True, True])
    assert number_connected_groups(cells).tolist() == [0] * 5
    assert number_connected_groups(cells, among).tolist() == [1, 1, 0, 2, 2]


def test_ranks_within_groups_begin_anew():
    grades, everybody = np.array([0.9, 0.2, 0.5, 0.5, 0.1]), np.ones(5, dtype=bool)
    assert rank_within_groups(grades, everybody, np.array([1, 1, 2, 2, 2])).tolist() == [
        1,
        2,
        1,
        1,
        3,
    ]


def test_percentile_counts_ties_half_and_needs_10_workers():
    # Below .5: three of ten; equal: four: (3 + 4/2) / 10.
    workers = np.array([0.1, 0.2, 0.3, 0.5, 0.5, 0.5, 0.5, 0.7, 0.8, 0.9, NAN])
    assert compute_percentile(0.5, workers) == 50
    assert (compute_percentile(1.0, workers), compute_percentile(0.0, workers)) == (100, 0)
    assert compute_percentile(0.5, workers[1:]) is None


def test_worker_means_leave_out_what_is_undefined():
    scores, cells = from_table([[0.2, 0.4, NAN], [0.6, NAN, 0.1]])
    left_out = np.where(scores == 0.1, NAN, scores)
    assert compute_worker_means(left_out, cells) == pytest.approx([0.3, 0.6])
    only = np.array([False, True, False])
    assert compute_worker_means(left_out, cells, only) == pytest.approx([0.4, NAN], nan_ok=True)


def split_halves(n, seed=0):
    """The 20 pairs of halves of n questions, as the ceiling draws them."""
    rng = np.random.default_rng(seed)
    orders = [rng.permutation(n) for _ in range(20)]
    return [(order[: n // 2], order[n // 2 :]) for order in orders]


def test_ceiling_of_workers_who_are_always_the_same_distance_apart_by_hand():
    # Means .9, .7, .5, .3 and .1 of five workers: whatever half chooses, a quarter is 1.25, the two
    # first, and their joint score on question j is .8 + shift_j. The ceiling is .8 plus the mean
    # shift of the measuring halves. Question j weighs v_j, the mean over splits of 1/(measured
    # questions) where it is measured; its influence is v_j shift_j.
    shift = np.array([-0.1, -0.05, 0, 0.05, 0.1])
    table = np.array([0.9, 0.7, 0.5, 0.3, 0.1])[:, None] + shift
    found = compute_human_ceiling(*from_table(table))
    weight = np.zeros(5)
    for _, measuring in split_halves(5):
        weight[measuring] += 1 / len(measuring) / 20
    assert weight.sum() == pytest.approx(1)
    assert found.score == pytest.approx(0.8 + weight @ shift)
    assert (found.n_workers, found.n_questions, found.n_splits, found.seed) == (2, 5, 20, 0)
    # error sqrt(5/4 sum of squares), t(.975, 4) = 2.776445
    half = 2.776445 * np.sqrt(5 / 4 * ((weight * shift) ** 2).sum())
    ends = found.score - half, found.score + half
    assert (found.low, found.high) == pytest.approx(ends, abs=1e-6)


@pytest.mark.filterwarnings("ignore:Mean of empty slice")
def test_ceiling_agrees_with_a_loop_over_splits_of_a_crowd_with_gaps():
    rng = np.random.default_rng(2)
    table = rng.normal(0.5, 0.2, (13, 11)) + rng.normal(0, 0.1, (13, 1))
    table[rng.random(table.shape) < 0.25] = NAN
    table[12, 3:] = NAN  # no support: the others have 5 answers or more
    able = table[:12]
    assert (np.sum(~np.isnan(able), axis=1) >= 5).all()
    scores = []
    for choosing, measuring in split_halves(11, seed=7):
        first = np.nanmean(able[:, choosing], axis=1)
        both = ~np.isnan(first) & (~np.isnan(able[:, measuring])).any(axis=1)
        best = np.argsort(np.where(both, -first, np.inf), kind="stable")[: -(-both.sum() // 4)]
        scores.append(np.nanmean(able[np.ix_(best, measuring)], axis=1).mean())
    found = compute_human_ceiling(*from_table(table), seed=7)
    assert found.score == pytest.approx(np.mean(scores))
    assert found.seed == 7
    assert found.score != compute_human_ceiling(*from_table(table)).score


def test_equal_answers_have_a_ceiling_without_an_error():
    found = compute_human_ceiling(*from_table(np.full((6, 8), 0.7)))
    assert (found.score, found.low, found.high) == pytest.approx((0.7, 0.7, 0.7))


@pytest.mark.long
@pytest.mark.parametrize(("spread", "before"), [(0.0, 0.30), (0.05, 0.63)])
def test_the_ceiling_of_20_workers_with_10_questions_covers_what_its_workers_can(spread, before):
    # Scores of sd .145 around workers' true means of sd `spread`, questions of one difficulty.
    rng, times = np.random.default_rng(0), 1000
    covered = {"split": 0, "same answers": 0}
    bias = dict.fromkeys(covered, 0.0)
    for _ in range(times):
        truth = 0.5 + spread * rng.normal(size=20)
        table = truth[:, None] + 0.145 * rng.normal(size=(20, 10))
        found = compute_human_ceiling(*from_table(table))
        expected = np.mean(
            [
                truth[np.argsort(-table[:, choosing].mean(axis=1))[:5]].mean()
                for choosing, _ in split_halves(10)
            ]
        )
        covered["split"] += found.low <= expected <= found.high
        bias["split"] += (found.score - expected) / times
        # As it was before: the best five, measured on the answers by which they were chosen.
        best = np.argsort(-table.mean(axis=1))[:5]
        joint = table[best].mean(axis=0)
        interval = stats.ttest_1samp(joint, 0).confidence_interval()
        covered["same answers"] += interval.low <= truth[best].mean() <= interval.high
        bias["same answers"] += (joint.mean() - truth[best].mean()) / times
    shares = {name: count / times for name, count in covered.items()}
    error = np.sqrt(0.05 * 0.95 / times)  # .0069
    print(f"spread {spread}: coverage {shares}, bias {bias}, error {error:.4f}")
    assert shares["split"] >= 0.95 - 4 * error
    assert abs(bias["split"]) < 4 * 0.02 / np.sqrt(times)
    assert shares["same answers"] == pytest.approx(before, abs=0.06)


@pytest.mark.long
def test_a_model_like_the_workers_is_near_the_middle_from_10_workers_on():
    # Unit vectors around each question's centre; the model is one more of the same kind. Workers
    # meet the mean of the others, the model that of all: with 5 it is above 62% on average.
    rng, means = np.random.default_rng(3), {}
    for n_workers, times in ((5, 600), (10, 600), (20, 400)):
        places = []
        for _ in range(times):
            vectors = rng.normal(size=(20, n_workers + 1, 16)) + rng.normal(size=(20, 1, 16))
            vectors /= np.linalg.norm(vectors, axis=2, keepdims=True)
            workers, model = vectors[:, :-1], vectors[:, -1]
            total = workers.sum(axis=1, keepdims=True)
            others = total - workers
            scores = (workers * others).sum(axis=2) / np.linalg.norm(others, axis=2)
            own = (model * total[:, 0]).sum(axis=1) / np.linalg.norm(total[:, 0], axis=1)
            below = np.count_nonzero(scores.mean(axis=0) < own.mean())
            places.append(100 * below / n_workers)
        means[n_workers] = np.mean(places)
        error = np.std(places) / np.sqrt(times)
        print(f"{n_workers} workers: mean percentile {means[n_workers]:.1f}, error {error:.1f}")
    assert means[5] > 58
    assert 50 < means[10] < 57
    assert 50 < means[20] < 55


def test_without_a_supported_worker_there_is_no_ceiling():
    found = compute_human_ceiling(*from_table(np.ones((3, 4))))
    assert (found.score, found.low, found.reason) == (None, None, "no_supported_worker")
