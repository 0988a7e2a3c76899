"""Scores of models against exemplary answers."""

import numpy as np
import pytest
from scipy import sparse

from evaluation.consensus import AQER
from evaluation.consensus.methods.percentiles import compute_percentile
from evaluation.consensus.methods.scale import compute_worker_means
from evaluation.core.stats.grams import NonFiniteError
from tests.evaluation.core.stats.worlds import crowd

SQUARE = np.array([[1, 0], [1, 0], [0, 1], [1, 0], [1, 0], [0, 1]], float)
WORKERS, QUESTIONS = ["ann", "bob", "cy"] * 2, [1, 1, 1, 2, 2, 2]


def fit(**switches):
    # The exemplary answers are (1, 0) on both questions: see test_aqer.
    return AQER(**({"n_draws": 0} | switches)).fit(SQUARE, WORKERS, QUESTIONS)


def test_scores_by_hand():
    # m: (3, 4) and (1, 0) against (1, 0): .6 and 1; k: (0, 2): 0; no answer of k to question 2.
    found = fit().score_models([[3, 4], [0, 2], [1, 0]], ["m", "k", "m"], [1, 1, 2])
    assert found.models.tolist() == ["m", "k"]
    assert found.answer_scores == pytest.approx([0.6, 0, 1])
    assert found.scores == pytest.approx([0.8, 0])
    assert (found.n.tolist(), found.n_answered.tolist()) == ([2, 1], [2, 1])
    assert found.reasons == [None, None]


def test_no_text_scores_zero_under_cosine_and_counts():
    x = [[3, 4], [np.nan, 0]]  # what stands in a row without a text is not read
    found = fit().score_models(x, ["m", "m"], [1, 2], ["text", "no_text"])
    assert (found.scores[0], found.scores_answered[0]) == pytest.approx((0.3, 0.6))
    assert (found.n[0], found.n_answered[0]) == (2, 1)
    assert found.answer_reasons == [None, "no_text"]


def test_no_text_scores_no_more_under_cosine_than_the_lowest_worker():
    # cy says the opposite of (1, 0) on question 2, cosine -1, so a refusal there scores -1; a
    # wrong text (-1, 1) scores -.71 and stands above it. On question 1 cy scores 0.
    against = SQUARE.copy()
    against[5] = [-1, 0]
    aqer = AQER(n_draws=0).fit(against, WORKERS, QUESTIONS)
    found = aqer.score_models(
        [[0, 0], [0, 0], [-1, 1]], ["m", "m", "k"], [1, 2, 2], ["no_text", "no_text", "text"]
    )
    assert found.answer_scores == pytest.approx([0, -1, -np.sqrt(0.5)])


def test_no_text_scores_the_lowest_worker_score_of_its_question_under_euclidean_distance():
    # Grades: SEA (2, 1)/3, distances sqrt 2/3 (ann, bob) and sqrt 8/3 (cy); then SEA (1, 0):
    # 0, 0 and sqrt 2. Text (1, 1) is 1 away.
    found = fit(similarity="euclidean").score_models(
        [[1, 1], [0, 0]], ["m", "m"], [1, 2], ["text", "no_text"]
    )
    assert found.answer_scores == pytest.approx([-1, -np.sqrt(2)])


@pytest.mark.parametrize("similarity", ["cosine", "euclidean"])
def test_the_lowest_worker_score_is_that_of_the_final_weights(similarity):
    # One iteration: the scores behind raw have equal weights, the exemplary answers of the result
    # do not. A model that copies the lowest worker scores as much as no answer does.
    against = SQUARE.copy()
    against[5] = [-1, 0.2]
    aqer = AQER(n_draws=0, similarity=similarity, max_iterations=1)
    aqer.fit(against, WORKERS, QUESTIONS)
    found = aqer.score_models([against[5], [0, 0]], ["m", "k"], [2, 2], ["text", "no_text"])
    copied, silent = found.answer_scores
    assert silent == pytest.approx(copied)
    assert silent == pytest.approx(aqer.final_scores_[5])
    assert silent != pytest.approx(aqer.scores_[5], abs=0.01)


def test_an_error_is_missing_and_keeps_the_model_out_of_rankings():
    found = fit().score_models(
        [[1, 0], [0, 0], [1, 0], [1, 0]],
        ["m", "m", "k", "k"],
        [1, 2, 1, 2],
        ["text", "error", "text", "text"],
    )
    assert (found.scores.tolist(), found.n.tolist()) == ([1, 1], [1, 2])
    assert found.ranks.tolist() == [0, 1]
    assert found.reasons == ["missing_answers", None]
    assert found.answer_reasons[1] == "error"
    assert np.isnan(found.percentiles[0])


def test_a_question_nobody_answered_is_out_of_the_mean():
    found = fit().score_models([[3, 4], [1, 0]], ["m", "m"], [1, 99])
    assert found.answer_reasons == [None, "no_exemplar"]
    assert np.isnan(found.answer_scores[1])
    assert (found.scores[0], found.n[0]) == (pytest.approx(0.6), 1)
    nothing = fit().score_models([[1, 0]], ["m"], [99], ["no_text"])
    assert np.isnan([nothing.scores, nothing.low, nothing.percentiles]).all()
    assert (nothing.reasons, nothing.ranks.tolist()) == (["no_exemplar"], [0])


def test_without_answers_there_are_no_models():
    assert len(fit().score_models(np.empty((0, 2)), [], []).models) == 0


def test_models_are_scored_but_not_placed_beside_two_workers():
    model = AQER(n_draws=50).fit([[1, 0], [0, 1]] * 3, ["a", "b"] * 3, [1, 1, 2, 2, 3, 3])
    # SEA (1, 1)/2 on each question
    found = model.score_models([[1, 1], [1, 0], [1, 1]], ["m"] * 3, [1, 2, 3])
    assert found.scores == pytest.approx([(2 + 1 / np.sqrt(2)) / 3])
    assert np.isnan(found.percentiles).all()
    assert found.low[0] < found.scores[0] < found.high[0]


@pytest.mark.parametrize("similarity", ["cosine", "euclidean"])
@pytest.mark.parametrize("factor", [1.0, 1e-150, 1e150])
@pytest.mark.parametrize("dimension", [3, 12])
@pytest.mark.parametrize("packed", [False, True])
def test_scores_agree_with_the_exemplary_answers(similarity, factor, dimension, packed):
    x, workers, questions = crowd(1, dimension=dimension, answered=0.8)
    x[0] = 0
    x[2:4, 0] = 0
    model = AQER(similarity=similarity, n_draws=0, max_iterations=3)
    as_given = sparse.csr_array if packed else np.asarray
    model.fit(as_given(x * factor), workers, questions)
    asked = model.questions_.tolist()
    y = np.random.default_rng(0).standard_normal((len(asked), dimension))
    found = model.score_models(as_given(y * factor), ["m"] * len(asked), asked)
    sea = model.compute_exemplars()
    sea = (sea.toarray() if packed else sea) / factor
    if similarity == "cosine":
        norms = np.linalg.norm(sea, axis=1) * np.linalg.norm(y, axis=1)
        expected = (sea * y).sum(axis=1) / norms
    else:
        expected = -np.linalg.norm(sea - y, axis=1) * factor
    assert found.answer_scores / expected == pytest.approx(np.ones(len(asked)), rel=1e-9)


def test_percentile_is_among_supported_workers_on_the_questions_the_model_answered():
    x, workers, questions = crowd(2, workers=12, questions=9, answered=0.8)
    model = AQER(n_draws=0).fit(x, workers, questions)
    asked = model.questions_[:4].tolist()
    rows = [int(np.flatnonzero(questions == q)[0]) for q in asked]
    kind = ["text", "text", "no_text", "text"]
    found = model.score_models(x[rows], ["m"] * 4, asked, kind)
    cells = model.fitted_.crowd.vote.cells
    on = np.isin(model.questions_, [asked[0], asked[1], asked[3]])
    others = compute_worker_means(model.leave_one_out_scores_[cells.row], cells, on)
    expected = compute_percentile(found.answer_scores[[0, 1, 3]].mean(), others[model.supported_])
    assert found.percentiles[0] == pytest.approx(expected)


@pytest.mark.parametrize("leave_one_out", [False, True])
def test_intervals_of_models_follow_the_four_cases(leave_one_out):
    x, workers, questions = crowd(3, workers=8, questions=12, answered=0.8)
    y = np.random.default_rng(1).standard_normal((12, 5))
    asked = sorted(set(questions.tolist()))
    for n_draws in (0, 100):
        model = AQER(leave_one_out=leave_one_out, n_draws=n_draws).fit(x, workers, questions)
        found = model.score_models(y, ["m"] * 12, asked)
        if n_draws or leave_one_out:
            assert found.low[0] < found.scores[0] < found.high[0]
            assert found.interval_reasons == [None]
        else:
            assert np.isnan(found.low[0])
            assert found.interval_reasons == ["no_draws"]
    if leave_one_out:
        # Closed form: mean +- t(.975, 11) sd / sqrt 12 with t = 2.200985
        model = AQER(leave_one_out=True, n_draws=0).fit(x, workers, questions)
        found = model.score_models(y, ["m"] * 12, asked)
        half = 2.200985 * found.answer_scores.std(ddof=1) / np.sqrt(12)
        assert found.high[0] - found.scores[0] == pytest.approx(half, rel=1e-6)


def test_a_better_model_ranks_first_and_equals_share_a_rank():
    x, workers, questions = crowd(4, workers=8, questions=20, answered=0.9)
    model = AQER(n_draws=0).fit(x, workers, questions)
    sea, asked = model.compute_exemplars(), model.questions_.tolist()
    rng = np.random.default_rng(0)
    y = np.vstack([sea, sea, rng.standard_normal(sea.shape)])
    names = ["good"] * 20 + ["same"] * 20 + ["noise"] * 20
    found = model.score_models(y, names, asked * 3)
    assert found.scores[:2] == pytest.approx([1, 1])
    assert found.ranks.tolist() == [1, 1, 3]
    assert len(found.comparisons) == 3


def test_wrong_input_is_refused():
    with pytest.raises(NonFiniteError):
        fit().score_models([[np.inf, 0]], ["m"], [1])
    with pytest.raises(ValueError, match="2 vectors for 1"):
        fit().score_models([[1, 0], [1, 0]], ["m"], [1])
    with pytest.raises(ValueError, match="as many"):
        fit().score_models([[1, 0]], ["m"], [1, 2])
