"""AQER by hand: one small case for each rule of the method."""

import doctest

import numpy as np
import pytest

from evaluation.consensus import AQER
from evaluation.consensus.methods import estimator as aqer
from evaluation.consensus.methods.fixed_point import scale_to_grades

# Three workers, two questions; every direction is a multiple of 45 degrees or a 3-4-5 triangle.
SQUARE = [[1, 0], [1, 0], [0, 1], [1, 0], [1, 0], [0, 1]]
WORKERS = ["ann", "bob", "cy"] * 2
QUESTIONS = [1, 1, 1, 2, 2, 2]


def fit(vectors=SQUARE, workers=WORKERS, questions=QUESTIONS, **switches):
    return AQER(**({"n_draws": 0} | switches)).fit(np.asarray(vectors, float), workers, questions)


def by_name(found, values):
    return dict(zip(found.workers_.tolist(), values.tolist(), strict=True))


def test_the_example_in_the_docstring_runs():
    assert doctest.testmod(aqer).failed == 0


def test_nothing_is_learned_before_the_first_fit():
    assert not hasattr(AQER(), "grades_")


def test_a_second_fit_forgets_the_first_whose_results_stay_what_they_were():
    others = [[1, 0], [0, 1], [0, 1]] * 2
    names = ("grades_", "scores_", "leave_one_out_scores_", "nearest_", "dispersion_")
    model = fit()
    first = model.fitted_
    before = {name: getattr(model, name).tolist() for name in names}
    model.fit(np.asarray(others, float), WORKERS, QUESTIONS)
    fresh = fit(others)
    for name in names:
        assert getattr(model, name).tolist() == getattr(fresh, name).tolist()
        assert getattr(first, name.removesuffix("_")).tolist() == before[name]
    assert model.grades_.tolist() != before["grades_"]


# --- the iteration ----------------------------------------------------------------------------


def test_one_round_by_hand():
    # SEA = (2, 1)/3 on both questions: cosines 2/sqrt 5, 2/sqrt 5, 1/sqrt 5; grades 1, 1, 0;
    # weights .5, .5, 0; RMSE from 1/3 each: sqrt((1/36 + 1/36 + 4/36)/3) = sqrt(1/18)
    found = fit(max_iterations=1)
    assert found.raw_ == pytest.approx(np.array([2, 2, 1]) / np.sqrt(5), abs=1e-15)
    assert found.grades_.tolist() == [1, 1, 0]
    assert found.weights_.tolist() == [0.5, 0.5, 0]
    assert found.trace_ == pytest.approx([np.sqrt(1 / 18)])
    assert (found.n_iter_, found.converged_, found.reason_) == (1, False, None)


def test_scores_are_of_the_round_that_produced_raw_and_left_out_ones_of_the_final_weights():
    # Weights of the round 1/3 each: SEA (2, 1)/3. Final weights .5, .5, 0: without ann, bob alone
    # votes: cosine 1; without cy ann and bob: 0. Best response and exemplary answer: the final.
    found = fit(max_iterations=1)
    assert found.scores_[:3] == pytest.approx(np.array([2, 2, 1]) / np.sqrt(5), abs=1e-15)
    assert found.leave_one_out_scores_.tolist() == [1, 1, 0] * 2
    assert found.final_scores_.tolist() == [1, 1, 0] * 2
    assert np.asarray(found.compute_exemplars()).tolist() == [[1, 0], [1, 0]]
    assert found.nearest_.tolist() == [0, 3]
    assert found.dispersion_.tolist() == [0, 0]


def test_the_second_round_uses_the_weights_of_the_first_and_the_third_rests():
    # Weights .5, .5, 0: SEA (1, 0), raw 1, 1, 0, the same weights again: RMSE 0.
    found = fit()
    assert found.raw_.tolist() == [1, 1, 0]
    assert found.trace_ == pytest.approx([np.sqrt(1 / 18), 0])
    assert (found.n_iter_, found.converged_) == (2, True)


@pytest.mark.parametrize(("stopping", "rounds"), [("paper", 1), ("relative", 2)])
def test_the_relative_rule_multiplies_the_change_by_the_number_of_workers(stopping, rounds):
    # The first change is sqrt(1/18) = .2357; times M = 3 it is .7071.
    assert fit(stopping=stopping, tolerance=0.3).n_iter_ == rounds


def test_a_change_equal_to_the_tolerance_does_not_stop():
    found = fit(tolerance=0.0, max_iterations=7)
    assert (found.n_iter_, found.converged_) == (7, False)


def test_workers_without_spread_all_get_grade_1():
    found = fit([[1, 0]] * 6)
    assert found.grades_.tolist() == [1, 1, 1]
    assert found.weights_ == pytest.approx([1 / 3] * 3)
    assert found.ranks_.tolist() == [0, 0, 0]  # two questions only: too few for a rank


def test_a_spread_within_rounding_is_none():
    # cosines to the SEA differ by about 1e-14 < 1e-12
    x = np.array([[1, 0], [1, 1e-7], [1, -1e-7]] * 2)
    assert fit(x, max_iterations=1).grades_.tolist() == [1, 1, 1]


def test_workers_tied_for_the_lowest_all_get_weight_0_whatever_rounding_says():
    # cy and dee differ by 1e-15; together they would otherwise be judged by one of them alone.
    raw = np.array([[0.9], [0.5], [0.1 + 1e-15], [0.1]])
    assert scale_to_grades(raw)[:, 0] == pytest.approx([1, 0.5, 0, 0], abs=1e-12)
    assert scale_to_grades(raw)[2:, 0].tolist() == [0, 0]


def test_euclidean_by_hand():
    # SEA (2, 1)/3 x 3 = (1, 1) for vectors (3, 0), (0, 3), (0, 0): distances sqrt 5, sqrt 5, sqrt 2
    found = fit([[3, 0], [0, 3], [0, 0]] * 2, similarity="euclidean", max_iterations=1)
    assert found.raw_ == pytest.approx(-np.sqrt([5, 5, 2]))
    assert found.grades_ == pytest.approx([0, 0, 1])


def test_random_weights_depend_on_the_seed_alone():
    first = fit(init="random", max_iterations=1, seed=3).raw_
    assert fit(init="random", max_iterations=1, seed=3).raw_.tolist() == first.tolist()
    assert fit(init="random", max_iterations=1, seed=4).raw_.tolist() != first.tolist()


def test_entailment_weights_are_the_workers_mean_scores():
    # ann (.5 + .1)/2 = .3, bob .1 (the other unknown), cy 0: weights .75, .25, 0; SEA (1, 0)
    scores = [0.5, 0.1, 0, 0.1, np.nan, 0]
    model = AQER(init="entailment", n_draws=0, max_iterations=1)
    found = model.fit(np.array(SQUARE, float), WORKERS, QUESTIONS, initial_scores=scores)
    assert found.raw_.tolist() == [1, 1, 0]
    # Weights .5, .5, 0 after it: change sqrt((.0625 + .0625 + 0)/3)
    assert found.trace_ == pytest.approx([np.sqrt(0.125 / 3)])


# --- leave one out and single answers ------------------------------------------------------------


def test_leave_one_out_by_hand():
    # Without ann (1, 1)/2: 1/sqrt 2; the same for bob; without cy (1, 0): 0.
    found = fit(leave_one_out=True, max_iterations=1)
    assert found.raw_ == pytest.approx([1 / np.sqrt(2), 1 / np.sqrt(2), 0], abs=1e-15)
    assert found.grades_ == pytest.approx([1, 1, 0])


def test_two_workers_of_pure_noise_score_071_unless_left_out():
    # Orthogonal unit vectors: cosine of each to the mean 1/sqrt 2 = .71, of each to the other 0.
    x, who = [[1, 0], [0, 1]], ["ann", "bob"]
    assert fit(x, who, [1, 1]).raw_ == pytest.approx([1 / np.sqrt(2)] * 2)
    assert fit(x, who, [1, 1], leave_one_out=True).raw_.tolist() == [0, 0]


LONELY = {
    "vectors": [*SQUARE, [0, 1], [1, 1]],
    "workers": [*WORKERS, "ann", "dee"],
    "questions": [*QUESTIONS, 3, 4],
}


def test_a_question_with_one_answer_scores_1_and_counts_in_the_plain_mean():
    # ann: (2/sqrt 5 + 2/sqrt 5 + 1)/3; dee: 1
    found = fit(**LONELY, max_iterations=1)
    raw = by_name(found, found.raw_)
    assert raw["ann"] == pytest.approx((4 / np.sqrt(5) + 1) / 3)
    assert raw["dee"] == 1
    assert found.n_workers_of_question_.tolist() == [3, 3, 1, 1]


def test_left_out_it_has_no_score_and_a_worker_with_nothing_else_has_no_raw():
    found = fit(**LONELY, leave_one_out=True)
    assert np.isnan(found.leave_one_out_scores_[6:]).all()
    assert found.scores_[6:].tolist() == [1, 1]
    # Round 2: weights .5, .5, 0: raw of ann 1 (bob alone votes), bob 1, cy 0.
    assert found.raw_[:3].tolist() == [1, 1, 0]
    assert np.isnan(found.raw_[3])
    assert np.isnan(found.grades_[3])
    assert found.weights_[3] == 0
    assert found.interval_reasons_[3] == "fewer_than_2_questions"


def test_left_out_questions_with_one_answer_each_leave_nobody_a_raw_score():
    found = fit([[1, 0], [0, 1], [1, 1]], ["a", "b", "c"], [1, 2, 3], leave_one_out=True, n_draws=9)
    assert np.isnan([found.raw_, found.grades_, found.raw_low_, found.grade_low_]).all()
    assert found.weights_.tolist() == [0, 0, 0]
    assert found.ceiling_.reason == "no_supported_worker"


# --- fewer than three workers -----------------------------------------------------------------


@pytest.mark.parametrize("n_draws", [0, 20])
@pytest.mark.parametrize("leave_one_out", [False, True])
def test_two_workers_are_scored_in_one_pass_and_not_ranked(n_draws, leave_one_out):
    # SEA (1, 1)/2 on question 1, (1, 0) on question 2: cosines 1/sqrt 2 and 1.
    found = fit(
        [[1, 0], [0, 1], [1, 0], [1, 0]],
        ["ann", "bob"] * 2,
        [1, 1, 2, 2],
        leave_one_out=leave_one_out,
        n_draws=n_draws,
    )
    expected = [0.5, 0.5] if leave_one_out else [(1 / np.sqrt(2) + 1) / 2] * 2
    assert found.raw_ == pytest.approx(expected)
    assert found.reason_ == "fewer_than_3_workers"
    assert (found.n_iter_, found.trace_, found.converged_) == (0, [], None)
    empty = [found.grades_, found.weights_, found.raw_low_, found.raw_high_]
    assert np.isnan([*empty, found.grade_low_, found.grade_high_]).all()
    assert found.interval_reasons_ == ["fewer_than_3_workers"] * 2
    assert found.ranks_.tolist() == [0, 0]
    assert (found.ceiling_.score, found.ceiling_.reason) == (None, "fewer_than_3_workers")
    assert np.asarray(found.compute_exemplars()).tolist() == [[0.5, 0.5], [1, 0]]


def test_two_workers_are_scored_with_equal_weights_whatever_the_initialisation():
    found = fit([[3, 0], [0, 1]], ["a", "b"], [1, 1], init="random", max_iterations=50)
    # SEA (1.5, .5)
    assert found.raw_ == pytest.approx(np.array([3, 1]) / np.sqrt(10))


def test_one_worker_is_scored():
    found = fit([[1, 0], [0, 1]], ["ann"] * 2, [1, 2])
    assert found.raw_.tolist() == [1]
    assert np.isnan(fit([[1, 0]], ["ann"], [1], leave_one_out=True).raw_).all()


# --- difficulty, discrimination: small crowds; see their own tests for the parts ------------------


def test_workers_in_two_components_have_no_common_rank_under_difficulty():
    rng = np.random.default_rng(0)
    who = np.tile(np.arange(4), 6) + np.repeat([0, 4], 24).reshape(2, 24)
    x, workers, questions = rng.standard_normal((48, 3)), who.ravel(), np.repeat(np.arange(12), 4)
    alone = fit(x, workers, questions)
    assert alone.reason_ is None
    # Two groups of four, each with ranks of its own.
    assert alone.groups_.tolist() == [1] * 4 + [2] * 4
    assert [sorted(part.tolist()) for part in np.split(alone.ranks_, 2)] == [[1, 2, 3, 4]] * 2
    found = fit(x, workers, questions, difficulty=True)
    assert (found.reason_, found.ranks_.tolist()) == ("disconnected", [0] * 8)
    assert not np.isnan(found.grades_).any()


@pytest.mark.parametrize("leave_one_out", [False, True])
def test_on_complete_data_difficulty_changes_nothing(leave_one_out):
    rng = np.random.default_rng(1)
    x, workers = rng.standard_normal((40, 3)) + 1, np.tile(np.arange(5), 8)
    questions = np.repeat(np.arange(8), 5)
    plain = fit(x, workers, questions, leave_one_out=leave_one_out)
    adjusted = fit(x, workers, questions, leave_one_out=leave_one_out, difficulty=True)
    assert adjusted.raw_ == pytest.approx(plain.raw_, abs=1e-12)


# --- ties -----------------------------------------------------------------------------------------


def test_the_best_response_of_equal_answers_is_the_first_row():
    x = [[0, 1], [0.3, 0.4], [0.3, 0.4], [0.3, 0.4]]
    for similarity in ("cosine", "euclidean"):
        assert fit(x, list("abcd"), [1] * 4, similarity=similarity).nearest_.tolist() == [1]
        order = [3, 0, 2, 1]
        found = fit(np.array(x)[order], np.array(list("abcd"))[order], [1] * 4)
        assert found.nearest_.tolist() == [0]


def test_labels_keep_the_order_of_the_rows():
    found = fit([[1, 0]] * 4, ["z", "a", "m", "z"], ["q2", "q2", "q1", "q1"])
    assert found.workers_.tolist() == ["z", "a", "m"]
    assert found.questions_.tolist() == ["q2", "q1"]
    assert found.n_answers_.tolist() == [2, 1, 1]


# --- what is refused ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("switch", "value"),
    [
        ("similarity", "dot"),
        ("init", "zeros"),
        ("aggregation", "median"),
        ("stopping", "never"),
        ("tolerance", -1),
        ("tolerance", float("nan")),
        ("max_iterations", 0),
        ("n_draws", 1),
        ("n_draws", -5),
    ],
)
def test_an_unknown_parameter_is_refused_by_name(switch, value):
    with pytest.raises(ValueError, match=switch):
        fit(**{switch: value})


@pytest.mark.parametrize(
    ("vectors", "workers", "questions", "message"),
    [
        ([[1.0]], ["a", "b"], [1, 1], "as many"),
        (np.empty((0, 3)), [], [], "no answers"),
        (np.empty((2, 0)), ["a", "b"], [1, 1], r"\(answers, dimensions\)"),
        ([1.0, 2.0], ["a", "b"], [1, 1], r"\(answers, dimensions\)"),
        ([[1.0], [2.0]], ["a", "a"], [1, 1], "repeat"),
        ([[1.0], [np.inf]], ["a", "b"], [1, 1], "row 1 is not finite"),
    ],
)
def test_wrong_input_is_refused(vectors, workers, questions, message):
    with pytest.raises(ValueError, match=message):
        fit(vectors, workers, questions)


def test_entailment_needs_a_score_for_each_answer():
    with pytest.raises(ValueError, match="initial_scores"):
        fit(init="entailment")
    with pytest.raises(ValueError, match=r"initial_scores.* 6\b"):
        AQER(init="entailment", n_draws=0).fit(np.eye(6), WORKERS, QUESTIONS, initial_scores=[1.0])


@pytest.mark.parametrize(
    ("n_workers", "n_questions", "ceiling", "percentile"),
    [
        # One question: nobody has 5 answers. Two workers: no ranking. Nine: no percentile.
        (12, 1, (None, "no_supported_worker"), None),
        (1, 6, (None, "fewer_than_3_workers"), None),
        (9, 6, (1.0, None), None),
        (12, 6, (1.0, None), 50.0),
    ],
)
def test_crowds_of_equal_answers_too_small_for_a_ceiling_or_a_percentile_have_none(
    n_workers, n_questions, ceiling, percentile
):
    workers = np.repeat([f"w{i}" for i in range(n_workers)], n_questions)
    questions = np.tile([f"q{j}" for j in range(n_questions)], n_workers)
    x = np.tile([0.6, 0.8], (len(workers), 1))
    found = AQER(n_draws=20, leave_one_out=True).fit(x, workers, questions)
    score, reason = found.ceiling_.score, found.ceiling_.reason
    assert (score, reason) == (pytest.approx(ceiling[0]), ceiling[1])
    model = found.score_models(x[:n_questions], ["m"] * n_questions, questions[:n_questions])
    place = model.percentiles[0]
    assert np.isnan(place) if percentile is None else place == percentile
