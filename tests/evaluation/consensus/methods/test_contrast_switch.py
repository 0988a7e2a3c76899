"""The switch `question_contrast` of AQER: raw scores, grades and ranks; what stays as it is."""

import numpy as np
import pytest

from evaluation.consensus import AQER
from evaluation.consensus.methods.fixed_point import scale_to_grades
from evaluation.consensus.methods.resampling import map_to_grades


def draw_crowd(seed=0, n_workers=8, n_questions=9, dimension=6):
    """Return vectors, workers and questions of a crowd whose last worker pastes one sentence."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=(n_questions, dimension)) + 0.6
    noise = np.linspace(0.3, 2, n_workers)[:, None, None]
    x = truth + noise * rng.normal(size=(n_workers, n_questions, dimension))
    x[-1] = truth.mean(axis=0)
    worker, question = np.divmod(np.arange(n_workers * n_questions), n_questions)
    return x.reshape(-1, dimension), worker, question


def fit(crowd, groups=None, **switches):
    return AQER(**{"n_draws": 50} | switches).fit(*crowd, question_groups=groups)


def test_raw_grades_and_intervals_are_those_of_the_contrast_and_the_weights_stay():
    crowd = draw_crowd()
    plain, switched = fit(crowd), fit(crowd, question_contrast=True)
    expected = plain.contrasts_
    np.testing.assert_allclose(switched.raw_, expected.means)
    np.testing.assert_allclose(switched.grades_, scale_to_grades(expected.means[:, None])[:, 0])
    np.testing.assert_allclose(switched.raw_low_, expected.low)
    np.testing.assert_allclose(switched.grade_high_, map_to_grades(expected.high, expected.means))
    for name in ("weights_", "scores_", "leave_one_out_scores_", "dispersion_", "trace_"):
        np.testing.assert_array_equal(getattr(switched, name), getattr(plain, name))
    # The paster's sentence lies amid all answers: in the middle under AQER, last by contrast.
    assert plain.ranks_[-1] < 8
    assert switched.ranks_[-1] == 8
    assert switched.raw_[-1] == pytest.approx(0, abs=1e-12)
    assert (
        (switched.rank_low_ <= switched.ranks_) & (switched.ranks_ <= switched.rank_high_)
    ).all()


def test_the_draws_spread_as_the_standard_error_says():
    switched = fit(draw_crowd(), question_contrast=True, n_draws=4000)
    found = switched.contrasts_
    # A bootstrap's variance is (n - 1) / n of the estimate; 4,000 draws have it within 7% (3 errors
    # of 1 / sqrt(8,000) each on the scale of the deviation).
    spread = switched.fitted_.drawn_raw.std(axis=1)
    np.testing.assert_allclose(spread, found.errors * np.sqrt(8 / 9), rtol=0.05)


def test_passages_are_compared_within_and_labels_may_be_empty():
    crowd = draw_crowd(n_questions=12)
    passages = np.array(["storm"] * 6 + ["sea"] * 5 + [""])[crowd[2]]
    found = fit(crowd, passages).contrasts_.answers
    by_code = fit(crowd, np.array([0] * 6 + [1] * 5 + [2])[crowd[2]]).contrasts_.answers
    np.testing.assert_allclose(found, by_code)
    assert np.abs(found - fit(crowd).contrasts_.answers)[crowd[2] < 6].max() > 0.05


def test_two_workers_have_a_contrast_and_no_grade():
    crowd = draw_crowd(n_workers=2)
    found = fit(crowd, question_contrast=True)
    assert np.isnan(found.grades_).all()
    assert found.reason_ == "fewer_than_3_workers"
    np.testing.assert_allclose(found.raw_, found.contrasts_.means)
    assert not np.isnan(found.raw_).any()


@pytest.mark.parametrize(
    ("switches", "reason"),
    [
        ({"similarity": "euclidean"}, "contrast_needs_cosine"),
        ({"aggregation": "majority"}, "contrast_needs_mean_vote"),
    ],
)
def test_a_distance_and_a_majority_have_no_contrast(switches, reason):
    x, worker, question = draw_crowd()
    crowd = ((x > 0.5).astype(float), worker, question)
    found = fit(crowd, **switches).contrasts_
    assert np.isnan(found.answers).all()
    assert set(found.reasons) == {reason} == set(found.owner_reasons)
    with pytest.raises(ValueError, match=reason):
        fit(crowd, question_contrast=True, **switches)


def test_several_exemplary_answers_to_a_question_have_no_contrast():
    x, worker, question = draw_crowd()
    found = AQER(n_draws=0).fit(x, worker, question, camps=worker % 2).contrasts_
    assert set(found.reasons) == {"contrast_needs_mean_vote"}


def test_other_adjustments_of_the_raw_score_are_refused():
    for name in ("difficulty", "discrimination"):
        with pytest.raises(ValueError, match=name):
            fit(draw_crowd(), question_contrast=True, **{name: True})


@pytest.mark.parametrize("factor", [1e-200, 1e200])
def test_huge_and_tiny_vectors_have_the_same_contrast(factor):
    x, worker, question = draw_crowd()
    scale = np.where(question == 3, factor, 1.0)[:, None]
    found = fit((x * scale, worker, question)).contrasts_.answers
    np.testing.assert_allclose(found, fit((x, worker, question)).contrasts_.answers, atol=1e-12)


def test_a_grading_block_by_block_keeps_no_vectors_to_compare():
    x, worker, question = draw_crowd()
    found = AQER(n_draws=0).fit_blocks([(x, worker, question)])
    assert set(found.contrasts_.reasons) == {"contrast_needs_vectors"}
    with pytest.raises(ValueError, match="vectors"):
        AQER(n_draws=0, question_contrast=True).fit_blocks([(x, worker, question)])
