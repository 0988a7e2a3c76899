"""What must not change the grades, what must, and blocks against the whole."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from evaluation.consensus import AQER
from evaluation.core.stats.grams import NonFiniteError
from tests.evaluation.core.stats.worlds import crowd

SWITCHES = st.fixed_dictionaries(
    {
        "similarity": st.sampled_from(["cosine", "euclidean"]),
        "leave_one_out": st.booleans(),
        "difficulty": st.booleans(),
        "discrimination": st.booleans(),
    }
)
CROWDS = st.builds(
    crowd,
    seed=st.integers(0, 10_000),
    workers=st.integers(3, 8),
    questions=st.integers(2, 7),
    dimension=st.integers(2, 9),
    answered=st.sampled_from([0.5, 0.8, 1.0]),
)
# Few rounds: after many, a crowd on the edge between two fixed points magnifies rounding.
ROUNDS = {"n_draws": 0, "max_iterations": 4}


def raw_and_grades(crowd, **switches):
    found = AQER(**ROUNDS, **switches).fit(*crowd)
    return {
        name: (raw, grade)
        for name, raw, grade in zip(found.workers_.tolist(), found.raw_, found.grades_, strict=True)
    }


def assert_same(one, other, tolerance=1e-7):
    assert one.keys() == other.keys()
    for name, values in one.items():
        assert other[name] == pytest.approx(values, abs=tolerance, nan_ok=True)


@settings(max_examples=40, deadline=None)
@given(CROWDS, SWITCHES, st.randoms(use_true_random=False))
def test_the_order_of_workers_and_questions_changes_nothing(world, switches, random):
    order = list(range(len(world[0])))
    random.shuffle(order)
    shuffled = tuple(part[order] for part in world)
    assert_same(raw_and_grades(world, **switches), raw_and_grades(shuffled, **switches))


@settings(max_examples=40, deadline=None)
@given(CROWDS, SWITCHES, st.integers(-150, 150))
def test_a_common_positive_factor_changes_nothing_under_cosine(world, switches, power):
    switches["similarity"] = "cosine"
    x, workers, questions = world
    scaled = (x * 10.0**power, workers, questions)
    assert_same(raw_and_grades(world, **switches), raw_and_grades(scaled, **switches))


@settings(max_examples=40, deadline=None)
@given(CROWDS, SWITCHES)
def test_a_question_set_doubled_changes_no_grade(world, switches):
    # Not with discrimination: a copy is another question, and correlates with its original.
    switches["discrimination"] = False
    x, workers, questions = world
    copies = np.char.add(questions, " again")
    twice = (np.vstack([x, x]), np.tile(workers, 2), np.concatenate([questions, copies]))
    assert_same(raw_and_grades(world, **switches), raw_and_grades(twice, **switches))


@settings(max_examples=40, deadline=None)
@given(CROWDS, SWITCHES)
def test_grades_and_weights_keep_their_ranges(world, switches):
    found = AQER(**ROUNDS, **switches).fit(*world)
    assume(found.reason_ != "fewer_than_3_workers")
    known = ~np.isnan(found.raw_)
    assert (np.isnan(found.grades_) == ~known).all()
    if known.any():
        assert (found.grades_[known].max(), found.weights_.sum()) == pytest.approx((1, 1))
    assert ((found.grades_[known] >= 0) & (found.grades_[known] <= 1)).all()
    assert (found.weights_ >= 0).all()
    assert (found.weights_[~known] == 0).all()


# --- leave one out on noise -----------------------------------------------------------------------


def correlation_with_truth(seed, leave_one_out, noise, questions=30, dimension=20):
    """Pearson correlation of raw with the workers' mean cosine to the truth, in one world."""
    rng = np.random.default_rng(seed)
    truth = rng.standard_normal((questions, 1, dimension))
    level = np.asarray(noise)[None, :, None]
    x = truth + level * rng.standard_normal((questions, len(noise), dimension))
    cosine = (x * truth).sum(2) / np.linalg.norm(x, axis=2) / np.linalg.norm(truth, axis=2)
    workers, asked = np.tile(np.arange(len(noise)), questions), np.arange(questions)
    model = AQER(n_draws=0, leave_one_out=leave_one_out)
    model.fit(x.reshape(-1, dimension), workers, np.repeat(asked, len(noise)))
    return np.corrcoef(model.raw_, cosine.mean(axis=0))[0, 1]


def test_with_three_workers_the_noisiest_wins_unless_it_is_left_out_of_its_own_centroid():
    # Its long vectors dominate the mean of three, so that it is nearest to it.
    noise = [0.5, 1.0, 3.0]
    plain = [correlation_with_truth(seed, False, noise) for seed in range(30)]
    left_out = [correlation_with_truth(seed, True, noise) for seed in range(30)]
    assert np.mean(plain) < -0.5
    assert np.mean(left_out) > 0.9
    assert np.mean(np.array(left_out) > np.array(plain)) > 0.9


def test_with_twelve_workers_both_are_right():
    noise = np.linspace(0.5, 3.0, 12)
    for leave_one_out in (False, True):
        found = [correlation_with_truth(seed, leave_one_out, noise) for seed in range(10)]
        assert np.mean(found) > 0.9


# --- blocks ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("leave_one_out", [False, True])
@pytest.mark.parametrize("similarity", ["cosine", "euclidean"])
def test_blocks_equal_the_whole(similarity, leave_one_out):
    world = crowd(7, workers=9, questions=12, answered=0.6)
    asked = np.unique(world[2])
    blocks = [
        tuple(part[np.isin(world[2], some)] for part in world)
        for some in (asked[:5], asked[5:6], asked[6:])
    ]
    switches = {"similarity": similarity, "leave_one_out": leave_one_out, "n_draws": 20}
    whole = AQER(**switches).fit(*(np.concatenate(part) for part in zip(*blocks, strict=True)))
    found = AQER(**switches).fit_blocks(iter(blocks))
    assert found.workers_.tolist() == whole.workers_.tolist()
    assert found.questions_.tolist() == whole.questions_.tolist()
    for name in ("grades_", "raw_", "weights_", "scores_", "leave_one_out_scores_", "dispersion_"):
        assert getattr(found, name) == pytest.approx(getattr(whole, name), abs=1e-9, nan_ok=True)
    assert found.nearest_.tolist() == whole.nearest_.tolist()
    # The draws name questions in the order of their cells, which both have.
    assert found.raw_low_ == pytest.approx(whole.raw_low_, abs=1e-6, nan_ok=True)


def test_blocks_keep_no_vectors_and_refuse_a_question_in_two_of_them():
    x, workers, questions = crowd(7)
    model = AQER(n_draws=0).fit_blocks([(x, workers, questions)])
    with pytest.raises(ValueError, match="not stored"):
        model.compute_exemplars()
    with pytest.raises(ValueError, match=r"\bblock\b"):
        AQER(n_draws=0).fit_blocks([(x, workers, questions)] * 2)
    with pytest.raises(ValueError, match="no answers"):
        AQER(n_draws=0).fit_blocks([])
    with pytest.raises(ValueError, match="mean vote"):
        AQER(aggregation="majority").fit_blocks([])


def test_a_vector_that_is_not_finite_is_named_by_its_row_over_all_blocks():
    x, bad = np.ones((3, 2)), np.ones((3, 2))
    bad[1, 0] = np.nan
    blocks = [(x, list("abc"), [1, 1, 1]), (bad, list("abc"), [2, 2, 2])]
    with pytest.raises(NonFiniteError, match="row 4 "):
        AQER(n_draws=0).fit_blocks(blocks)
