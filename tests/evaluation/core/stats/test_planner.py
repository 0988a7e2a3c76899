import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.core.stats.planner import (
    compute_deviation_bound,
    compute_error_bounds,
    compute_exemplar_error,
    estimate_similarity_to_truth,
    find_answers_for_error,
    find_answers_for_width,
    find_workers_needed,
    predict_width,
)

similarities = st.floats(0.05, 1.0)
crowds = st.integers(1, 500)


def test_one_worker_errs_by_what_is_missing_to_similarity_one():
    # 1 - S sqrt(1) / sqrt(0 + 1) = 1 - S
    assert compute_exemplar_error([1.0, 0.7, 0.0, -1.0], 1) == pytest.approx([0.0, 0.3, 1.0, 2.0])


def test_four_workers_of_similarity_one_half_by_hand():
    # .5 x 2 / sqrt(3 x .25 + 1) = 1 / sqrt(1.75) = .755929; 1 - .755929 = .244071
    assert compute_exemplar_error(0.5, 4) == pytest.approx(1 - 1 / math.sqrt(1.75), abs=1e-15)
    assert compute_exemplar_error(0.5, 4) == pytest.approx(0.244071, abs=1e-6)
    # An answer opposed to the truth: 1 + .755929
    assert compute_exemplar_error(-0.5, 4) == pytest.approx(1.755929, abs=1e-6)


@pytest.mark.parametrize(
    ("mu", "workers", "average", "worst"),
    [
        # M = 10: S = .5:    1 - .5 x 3.16228 / sqrt(9 x .25 + 1) = 1 - 1.58114 / 1.80278 = .1229
        #   t = sqrt(ln 40 / 20) = sqrt(3.68888 / 20) = .42947, S = .07053:
        #   1 - .07053 x 3.16228 / sqrt(9 x .004975 + 1) = 1 - .22304 / 1.02214 = .7818
        (0.5, 10, 0.1229, 0.7818),
        # M = 20: 1 - .5 x 4.47214 / sqrt(19 x .25 + 1) = 1 - 2.23607 / 2.39792 = .0675
        #   t = sqrt(3.68888 / 40) = .30368, S = .19632:
        #   1 - .19632 x 4.47214 / sqrt(19 x .038541 + 1) = 1 - .87797 / 1.31617 = .3329
        (0.5, 20, 0.0675, 0.3329),
        # M = 40: 1 - .5 x 6.32456 / sqrt(39 x .25 + 1) = 1 - 3.16228 / 3.27872 = .0355
        #   t = sqrt(3.68888 / 80) = .21474, S = .28526:
        #   1 - .28526 x 6.32456 / sqrt(39 x .081375 + 1) = 1 - 1.80416 / 2.04293 = .1169
        (0.5, 40, 0.0355, 0.1169),
        # M = 40: 1 - .8 x 6.32456 / sqrt(39 x .64 + 1) = 1 - 5.05964 / 5.09510 = .0070
        #   S = .8 - .21474 = .58526: 1 - 3.70154 / sqrt(39 x .34253 + 1) = 1 - 3.70154 / 3.78928
        (0.8, 40, 0.0070, 0.0232),
    ],
)
def test_the_check_values_of_the_repaired_formulas(mu, workers, average, worst):
    planned = compute_error_bounds(mu, workers)
    assert planned.average_error == pytest.approx(average, abs=5e-5)
    assert planned.worst_error == pytest.approx(worst, abs=5e-5)
    assert planned.reason is None


def test_the_worst_error_is_null_where_the_mean_lies_within_the_deviation():
    # M = 5: t = sqrt(3.68888 / 10) = .60736 > .5
    planned = compute_error_bounds(0.5, 5)
    assert planned.deviation == pytest.approx(0.60736, abs=1e-5)
    assert planned.worst_error is None
    assert planned.reason == "mean_within_deviation"
    # .5 x 2.23607 / sqrt(4 x .25 + 1) = 1.11803 / 1.41421 = .790569
    assert planned.average_error == pytest.approx(1 - 0.790569, abs=1e-6)
    # Exactly at the deviation: still null.
    assert compute_error_bounds(planned.deviation, 5).worst_error is None


def test_the_mean_of_simulated_workers_errs_as_the_formula_says():
    # Unit vectors with similarity .6 to the truth and independent errors in many dimensions.
    rng = np.random.default_rng(0)
    dimensions, S, M = 4000, 0.6, 8
    noise = rng.normal(size=(M, dimensions - 1))
    noise *= math.sqrt(1 - S**2) / np.linalg.norm(noise, axis=1)[:, None]
    mean = np.hstack([np.full((M, 1), S), noise]).mean(axis=0)
    assert 1 - mean[0] / np.linalg.norm(mean) == pytest.approx(
        float(compute_exemplar_error(S, M)), abs=0.01
    )


def test_fewest_workers_on_average_by_the_closed_form():
    # 1 - e = S sqrt(M) / sqrt((M-1) S^2 + 1) solved for M: c^2 (1 - S^2) / (S^2 (1 - c^2)), c = .9,
    # S = .5: .81 x .75 / (.25 x .19) = .6075 / .0475 = 12.79, so 13.
    assert find_workers_needed(0.5, 0.1).average == 13


def test_no_number_of_workers_helps_where_they_know_nothing():
    needed = find_workers_needed(0.0, 0.1)
    assert (needed.average, needed.worst) == (None, None)
    assert needed.average_reason == needed.worst_reason == "mean_not_positive"


def test_perfect_workers_need_one_on_average_but_many_at_worst():
    needed = find_workers_needed(1.0, 0.01)
    assert needed.average == 1
    assert needed.worst is not None
    assert needed.worst > 1


def test_a_target_only_an_absurd_crowd_could_reach_is_null():
    needed = find_workers_needed(1e-9, 1e-3)
    assert needed.average is None
    assert needed.average_reason == needed.worst_reason == "target_out_of_reach"


@given(mu=similarities, target=st.floats(0.001, 0.9), delta=st.floats(0.001, 0.5))
def test_the_requirement_is_met_and_one_worker_less_does_not_meet_it(mu, target, delta):
    needed = find_workers_needed(mu, target, delta)
    assert needed.average is not None
    assert needed.worst is not None
    assert compute_error_bounds(mu, needed.average, delta).average_error <= target
    assert compute_error_bounds(mu, needed.worst, delta).worst_error <= target
    assert needed.average <= needed.worst
    if needed.average > 1:
        assert compute_error_bounds(mu, needed.average - 1, delta).average_error > target
    if needed.worst > 1:
        fewer = compute_error_bounds(mu, needed.worst - 1, delta).worst_error
        assert fewer is None or fewer > target


@given(mu=similarities, workers=crowds)
def test_more_workers_never_hurt_and_the_worst_is_never_better_than_the_average(mu, workers):
    few, many = compute_error_bounds(mu, workers), compute_error_bounds(mu, workers + 1)
    assert many.average_error <= few.average_error
    if few.worst_error is not None:
        assert few.worst_error >= few.average_error
        assert many.worst_error <= few.worst_error


def test_error_broadcasts_like_numpy():
    table = compute_exemplar_error(np.array([[0.5], [0.8]]), [10, 20, 40])
    assert table.shape == (2, 3)
    assert table[1, 2] == compute_exemplar_error(0.8, 40)
    assert compute_deviation_bound([10, 40]) == pytest.approx([0.42947, 0.21474], abs=1e-5)


@pytest.mark.parametrize(
    "call",
    [
        lambda: compute_exemplar_error(1.1, 3),
        lambda: compute_exemplar_error(math.nan, 3),
        lambda: compute_exemplar_error(0.5, 0),
        lambda: compute_exemplar_error(0.5, 2.5),
        lambda: compute_exemplar_error(0.5, math.inf),
        lambda: compute_deviation_bound(0),
        lambda: compute_error_bounds(0.5, 0),
        lambda: compute_error_bounds(-1.5, 3),
        lambda: compute_error_bounds(0.5, 3, delta=0),
        lambda: compute_error_bounds(0.5, 3, delta=1),
        lambda: find_workers_needed(2, 0.1),
        lambda: find_workers_needed(0.5, 0),
        lambda: find_workers_needed(0.5, 1),
        lambda: find_workers_needed(0.5, 0.1, delta=1.5),
    ],
)
def test_values_out_of_range_are_refused(call):
    with pytest.raises(ValueError, match="must"):
        call()


def test_a_fraction_of_a_worker_is_refused():
    with pytest.raises(TypeError):
        compute_error_bounds(0.5, 2.5)


@pytest.mark.parametrize("similarity", [0.05, 0.3, 0.7, 0.99, 1.0])
@pytest.mark.parametrize("others", [1, 2, 9, 28])
def test_the_similarity_to_the_truth_is_found_again_from_the_leave_one_out_score(
    similarity, others
):
    left_out = similarity * (1 - float(compute_exemplar_error(similarity, others)))
    assert estimate_similarity_to_truth(left_out, others) == pytest.approx(similarity)


def test_one_other_answer_is_like_the_square_of_the_similarity_to_the_truth():
    assert estimate_similarity_to_truth(0.49, 1) == pytest.approx(0.7)
    assert estimate_similarity_to_truth(0.49, 10**9) == pytest.approx(0.49)
    assert estimate_similarity_to_truth(0.0, 5) == 0.0


@pytest.mark.parametrize(("left_out", "others"), [(-0.1, 3), (1.1, 3), (0.5, 0.5), (0.5, math.inf)])
def test_scores_outside_their_range_are_refused(left_out, others):
    with pytest.raises(ValueError, match="must"):
        estimate_similarity_to_truth(left_out, others)


def test_independent_simulated_workers_give_their_similarity_back():
    rng = np.random.default_rng(0)
    truth = np.zeros(4000)
    truth[0] = 1
    # Unit vectors of likeness .6 to the truth, with errors in random directions.
    errors = rng.standard_normal((40, 4000))
    errors[:, 0] = 0
    errors /= np.linalg.norm(errors, axis=1)[:, None]
    x = 0.6 * truth + 0.8 * errors
    mean = x.sum(axis=0)
    rest = mean - x
    left_out = float((np.einsum("id,id->i", x, rest) / np.linalg.norm(rest, axis=1)).mean())
    assert estimate_similarity_to_truth(left_out, 39) == pytest.approx(0.6, abs=0.01)


def test_answers_for_an_error_are_those_that_a_search_finds():
    # M >= r^2 (1 - S^2) / (S^2 (1 - r^2)): S = .5, t = .05: .9025 x .75 / (.25 x .0975) = 27.77
    assert find_answers_for_error(0.5, 0.05) == 28
    likeness = np.linspace(0.05, 1.0, 40)
    for target in (0.01, 0.05, 0.2):
        searched = [find_workers_needed(S, target).average for S in likeness]
        assert find_answers_for_error(likeness, target).tolist() == searched
    assert np.isinf(find_answers_for_error([0.0, -0.3], 0.05)).all()
    for bad in ((1.1, 0.05), (0.5, 0.0), (0.5, 1.0)):
        with pytest.raises(ValueError, match="must lie"):
            find_answers_for_error(*bad)


def test_an_interval_narrows_with_the_root_of_the_number_of_answers():
    # .2 x sqrt(16 / 64) = .1; for .1 it takes 16 x (.2 / .1)^2 = 64, for .3 no more than there are
    assert predict_width(0.2, 16, 64) == pytest.approx(0.1)
    assert find_answers_for_width([0.2, 0.2], 16, 0.1).tolist() == [64, 64]
    assert find_answers_for_width(0.2, 16, 0.3) == 16
    with pytest.raises(ValueError, match="target"):
        find_answers_for_width(0.2, 16, 0.0)
    with pytest.raises(ValueError, match="negative"):
        predict_width(-0.1, 16, 64)


@given(st.floats(0.001, 2.0), crowds, st.floats(0.01, 2.0))
def test_so_many_answers_reach_the_width_and_one_fewer_does_not(width, answers, target):
    needed = int(find_answers_for_width(width, answers, target))
    assert predict_width(width, answers, needed) <= target * (1 + 1e-6)
    if needed > answers:
        assert predict_width(width, answers, needed - 1) > target * (1 - 1e-6)
