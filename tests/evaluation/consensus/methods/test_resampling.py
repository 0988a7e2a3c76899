"""Bootstrap draws, and the intervals of raw and grade in their four cases."""

import numpy as np
import pytest
from scipy import stats

from evaluation.consensus import AQER
from evaluation.consensus.methods import resampling
from evaluation.consensus.methods.exemplary_answers import MeanVote
from evaluation.consensus.methods.fixed_point import (
    IterationRules,
    WorkerMeans,
    iterate_to_fixed_point,
)
from evaluation.consensus.methods.resampling import Draws, compute_score_intervals
from evaluation.core.stats.cells import Cells, encode_labels
from tests.evaluation.core.stats.worlds import crowd

WORLD = crowd(11, workers=8, questions=15, answered=0.8)
BOUNDS = ("raw_low_", "raw_high_", "grade_low_", "grade_high_")


def fit(world=WORLD, **switches):
    return AQER(**switches).fit(*world)


def bounds(found):
    return np.array([getattr(found, name) for name in BOUNDS])


# --- draws -------------------------------------------------------------------------------------


@pytest.mark.parametrize("bootstrap_workers", [False, True])
def test_draws_depend_on_the_seed_and_not_on_the_size_of_a_chunk(monkeypatch, bootstrap_workers):
    how = {"n_draws": 30, "bootstrap_workers": bootstrap_workers, "seed": 5, "leave_one_out": True}
    whole = bounds(fit(**how))
    assert bounds(fit(**how)).tolist() == whole.tolist()
    assert (bounds(fit(**how | {"seed": 6})) != whole).any()
    monkeypatch.setattr(resampling, "AT_ONCE", 7 * len(WORLD[0]))
    assert bounds(fit(**how)) == pytest.approx(whole, abs=1e-9)


def test_every_draw_has_as_many_questions_and_workers_as_the_run():
    cells = fit(n_draws=0).fitted_.crowd.vote.cells
    for _, times, copies in Draws(cells, 20, 0, workers=True):
        assert (times.sum(axis=0) == cells.n_questions).all()
        assert (copies.sum(axis=0) == cells.n_workers).all()
    # Resampling workers does not change which questions are drawn.
    alone = next(iter(Draws(cells, 20, 0)))
    assert (alone[1] == times).all()
    assert alone[2] is None


def test_a_draw_is_a_run_on_its_questions():
    x, workers, questions = WORLD
    model = fit(n_draws=3, leave_one_out=True)
    cells = model.fitted_.crowd.vote.cells
    rules = IterationRules(True, False, False, "relative", 1e-6, 100)
    start = np.full(8, 1 / 8)
    raw, _ = resampling.compute_bootstrap_draws(
        model.fitted_.crowd.vote, start, rules, Draws(cells, 3, 0)
    )
    _, times, _ = next(iter(Draws(cells, 3, 0)))
    for d in range(3):
        rows, names = [], []
        for code, label in enumerate(model.questions_.tolist()):
            for copy in range(int(times[code, d])):
                mine = np.flatnonzero(questions == label)
                rows.extend(mine)
                names.extend([f"{label} {copy}"] * len(mine))
        again = AQER(leave_one_out=True, n_draws=0).fit(x[rows], workers[rows], names)
        expected = dict(zip(again.workers_.tolist(), again.raw_, strict=True))
        assert raw[:, d] == pytest.approx([expected[w] for w in model.workers_.tolist()], abs=1e-9)


def test_copies_of_a_worker_vote_together_and_are_left_out_together():
    # Workers a, b, c drawn 2, 1, 0 times, each weight 1/3: votes 2/3, 1/3, 0.
    # Without a: b alone, (0, 1): cosine of (1, 0) 0. Without b: (1, 0): 0.
    # c votes nowhere: (2, 1)/3, cosine of (1, 1): 3/sqrt(2 x 5).
    x = np.array([[1.0, 0], [0, 1], [1, 1]])
    worker, _ = encode_labels(["a", "b", "c"])
    cells = Cells.from_codes(worker, np.zeros(3, dtype=int), 3, 1)
    vote = MeanVote.from_vectors(x, cells, "cosine")
    rules = IterationRules(True, False, False, "relative", 1e-6, 1)
    copies = np.array([[2.0], [1.0], [0.0]])
    found = iterate_to_fixed_point(vote, np.full((3, 1), 1 / 3), WorkerMeans(cells, rules), copies)
    assert found.raw[:, 0] == pytest.approx([0, 0, 3 / np.sqrt(10)])
    # Minimum and maximum are of those who were drawn: both 0, so all count alike.
    assert found.grades[:, 0].tolist() == [1, 1, 1]
    assert (found.weights * copies).sum() == pytest.approx(1)


def test_another_crowd_of_the_kind_is_less_certain():
    world = crowd(12, workers=8, questions=60, answered=1.0)
    narrow = fit(world, leave_one_out=True, n_draws=200)
    wide = fit(world, leave_one_out=True, n_draws=200, bootstrap_workers=True)
    assert (wide.raw_high_ - wide.raw_low_ > narrow.raw_high_ - narrow.raw_low_).mean() > 0.8


# --- the four cases ----------------------------------------------------------------------------


def test_left_out_with_draws_is_bootstrap_t_on_the_arctanh_scale():
    model = fit(n_draws=50, leave_one_out=True)
    rules = IterationRules(True, False, False, "relative", 1e-6, 100)
    vote = model.fitted_.crowd.vote
    drawn, _ = resampling.compute_bootstrap_draws(
        vote,
        np.full(8, 1 / 8),
        rules,
        Draws(vote.cells, 50, 0),
    )
    n = model.n_answers_
    error = np.arctanh(drawn).std(axis=1, ddof=1) * np.sqrt(n / (n - 1))
    half = stats.t.ppf(0.975, n - 1) * error
    assert model.raw_low_ == pytest.approx(np.tanh(np.arctanh(model.raw_) - half))
    assert model.raw_high_ == pytest.approx(np.tanh(np.arctanh(model.raw_) + half))


def test_left_out_without_draws_is_the_t_interval_of_the_answer_scores():
    model = fit(n_draws=0, leave_one_out=True, tolerance=1e-12)
    workers = WORLD[1]
    for code, name in enumerate(model.workers_.tolist()):
        scores = model.leave_one_out_scores_[workers == name]
        expected = stats.ttest_1samp(scores, 0).confidence_interval()
        found = (model.raw_low_[code], model.raw_high_[code])
        assert found == pytest.approx((expected.low, expected.high), abs=1e-8)


def test_euclidean_scores_stay_on_their_own_scale():
    model = fit(n_draws=50, leave_one_out=True, similarity="euclidean")
    assert model.raw_ - model.raw_low_ == pytest.approx(model.raw_high_ - model.raw_)


def test_plain_with_draws_is_the_widened_percentile_interval():
    model = fit(n_draws=60)
    rules = IterationRules(False, False, False, "relative", 1e-6, 100)
    vote = model.fitted_.crowd.vote
    drawn, _ = resampling.compute_bootstrap_draws(
        vote,
        np.full(8, 1 / 8),
        rules,
        Draws(vote.cells, 60, 0),
    )
    for code, n in enumerate(model.n_answers_):
        tail = stats.norm.cdf(np.sqrt(n / (n - 1)) * stats.t.ppf(0.025, n - 1))
        expected = np.quantile(drawn[code], [tail, 1 - tail])
        assert [model.raw_low_[code], model.raw_high_[code]] == pytest.approx(expected.tolist())


def test_plain_without_draws_is_empty():
    model = fit(n_draws=0)
    assert np.isnan(bounds(model)).all()
    assert set(model.interval_reasons_) == {"no_draws"}


def test_grade_bounds_are_raw_bounds_by_the_runs_own_minimum_and_maximum():
    model = fit(n_draws=50, leave_one_out=True)
    low, high = model.raw_.min(), model.raw_.max()
    expected = np.clip((model.raw_low_ - low) / (high - low), 0, 1)
    assert model.grade_low_ == pytest.approx(expected)
    best = model.raw_.argmax()
    assert (model.grade_high_[best], model.grade_low_[model.raw_.argmin()]) == (1, 0)


def test_perfect_agreement_gives_the_interval_from_1_to_1():
    x, workers, questions = WORLD
    same = (np.tile([0.3, 0.4], (len(x), 1)), workers, questions)
    model = fit(same, n_draws=20, leave_one_out=True)
    assert (model.raw_low_, model.raw_high_) == (pytest.approx([1] * 8), pytest.approx([1] * 8))
    # Without spread there is no scale for grades.
    assert np.isnan(model.grade_low_).all()


def test_a_weighted_mean_of_ones_rounded_above_1_is_still_a_cosine():
    low, high, reasons = compute_score_intervals(
        np.array([1 + 2e-16]),
        np.full((1, 9), 1 + 2e-16),
        np.array([5]),
        leave_one_out=True,
        cosine=True,
    )
    assert (low[0], high[0], reasons) == (1, 1, [None])


# --- coverage ----------------------------------------------------------------------------------


@pytest.mark.parametrize("n_draws", [0, 100])
@pytest.mark.long
def test_intervals_cover_the_value_at_many_questions(n_draws):
    level = np.linspace(0.4, 1.6, 8)[None, :, None]

    def world(seed, n):
        rng = np.random.default_rng(seed)
        truth = rng.standard_normal((n, 1, 16))
        x = truth + level * rng.standard_normal((n, 8, 16))
        return x.reshape(-1, 16), np.tile(np.arange(8), n), np.repeat(np.arange(n), 8)

    value = AQER(leave_one_out=True, n_draws=0).fit(*world(99, 4000)).raw_
    covered = []
    for seed in range(150):
        model = AQER(leave_one_out=True, n_draws=n_draws).fit(*world(seed, 15))
        covered.append((model.raw_low_ <= value) & (value <= model.raw_high_))
    assert 0.90 <= np.mean(covered) <= 0.98
