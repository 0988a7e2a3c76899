import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.core.stats.inference.comparison import compare_models, rank_by_significance
from evaluation.core.stats.inference.paired import (
    compute_bootstrap_mean_difference,
    compute_mcnemar_test,
    compute_permutation_test,
    compute_smallest_detectable_difference,
)
from evaluation.core.stats.inference.significance import (
    benjamini_hochberg,
    compute_corrected_levels,
    holm,
)

NAN = float("nan")


@pytest.fixture
def scores():
    """Four models on 40 questions: two good ones alike, a middling one, a bad one; some missing."""
    rng = np.random.default_rng(0)
    ease = rng.normal(size=40)
    skill = np.array([1.0, 1.0, 0.4, -0.5])
    table = ease + skill[:, None] + 0.4 * rng.normal(size=(4, 40))
    table[1, 3] = table[2, :5] = NAN
    return table


NAMES = ["ada", "bo", "cy", "di"]


def test_every_pair_says_what_the_pairwise_functions_say(scores):
    compared = compare_models(scores, NAMES, n_permutations=9_999)
    assert [(c.model_a, c.model_b) for c in compared] == [
        ("ada", "bo"), ("ada", "cy"), ("ada", "di"), ("bo", "cy"), ("bo", "di"), ("cy", "di"),
    ]  # fmt: skip
    for pair in compared:
        a, b = (scores[NAMES.index(name)] for name in (pair.model_a, pair.model_b))
        expected = compute_bootstrap_mean_difference(a, b)
        assert pair.difference == pytest.approx(expected.difference)
        assert (pair.low, pair.high) == pytest.approx((expected.low, expected.high))
        assert pair.n == expected.n
        assert pair.p_value == pytest.approx(compute_permutation_test(a, b).p_value, abs=0.02)
        assert (pair.test, pair.n_permutations) == ("sign-flip-monte-carlo", 9_999)
    raw = [pair.p_value for pair in compared]
    assert [pair.adjusted_p_value for pair in compared] == pytest.approx(list(holm(raw)))
    # Five of six differ; of ada and bo, who are alike, one comparison is left: 5%.
    levels = compute_corrected_levels(raw)
    assert levels[0] == pytest.approx(0.05)
    for pair, level in zip(compared, levels, strict=True):
        a, b = (scores[NAMES.index(name)] for name in (pair.model_a, pair.model_b))
        detectable = compute_smallest_detectable_difference(a, b, alpha=level)
        assert pair.smallest_detectable == pytest.approx(detectable.difference)
        assert pair.mid_p_value is None
    relaxed = compare_models(scores, NAMES, "benjamini-hochberg", n_permutations=9_999)
    assert [p.adjusted_p_value for p in relaxed] == pytest.approx(list(benjamini_hochberg(raw)))


def test_without_draws_the_intervals_are_the_closed_form(scores):
    for pair in compare_models(scores, NAMES, n_draws=0):
        a, b = (scores[NAMES.index(name)] for name in (pair.model_a, pair.model_b))
        expected = compute_bootstrap_mean_difference(a, b, n_draws=0)
        assert (pair.low, pair.high) == pytest.approx((expected.low, expected.high))
        assert pair.interval_method == "closed-form"


def test_ranks_count_the_significantly_better(scores):
    ranks = rank_by_significance(compare_models(scores, NAMES), NAMES)
    # ada and bo are alike and share rank 1, cy has those two above it, di all three.
    assert [(r.model, r.rank, r.n_better) for r in ranks] == [
        ("ada", 1, 0),
        ("bo", 1, 0),
        ("cy", 3, 2),
        ("di", 4, 3),
    ]
    assert {r.n_compared for r in ranks} == {3}


def test_right_and_wrong_answers_are_compared_by_mcnemar():
    right = np.array([[1] * 6 + [0] + [1, 0], [0] * 6 + [1] + [1, 0]], dtype=float)
    (pair,) = compare_models(right, ["ada", "bo"], test="mcnemar")
    # 2 x (1 + 7) / 2^7 = .125, as in the test of mcnemar_exact
    assert pair.p_value == pytest.approx(0.125)
    assert pair.p_value == pytest.approx(compute_mcnemar_test(*right).p_value)
    # 2 x (1 + 7/2) / 2^7
    assert pair.mid_p_value == pytest.approx(0.0703125)
    assert (pair.test, pair.n_permutations) == ("mcnemar-exact", 0)
    assert pair.difference == pytest.approx(5 / 9)


def test_fewer_than_two_common_questions_give_null_and_do_not_count_in_the_correction():
    table = np.array([[1.0, 2, 3, 4, NAN], [0, 0, 0, 0, NAN], [NAN, NAN, NAN, 1, 5]])
    compared = compare_models(table, ["ada", "bo", "cy"])
    # ada - bo = 1, 2, 3, 4: only ++++ and ---- reach the sum, p = 2/16; one test, so m = 1.
    assert (compared[0].p_value, compared[0].adjusted_p_value) == (0.125, 0.125)
    for pair in compared[1:]:
        assert (pair.n, pair.reason) == (1, "fewer_than_2_common_questions")
        assert (pair.low, pair.high, pair.p_value) == (None, None, None)
        assert (pair.adjusted_p_value, pair.smallest_detectable) == (None, None)
        assert pair.mid_p_value is None
    assert compared[1].difference == 3
    ranks = rank_by_significance(compared, ["ada", "bo", "cy"])
    assert [(r.rank, r.n_compared, r.reason) for r in ranks] == [
        (1, 1, None),
        (1, 1, None),
        (None, 0, "no_comparison"),
    ]
    nothing = compare_models([[1.0, NAN], [NAN, 1.0]], ["ada", "bo"])[0]
    assert (nothing.difference, nothing.n) == (None, 0)


def test_one_model_has_nothing_to_be_compared_with_and_ranks_first():
    assert compare_models([[0.5, 0.6]], ["ada"]) == []
    assert rank_by_significance([], ["ada"])[0].rank == 1
    assert rank_by_significance([], []) == []


@settings(max_examples=25)
@given(st.permutations(range(4)), st.integers(0, 1000))
def test_permuting_the_models_permutes_the_results(order, seed):
    rng = np.random.default_rng(seed)
    table = np.round(rng.normal(size=(4, 16)) + np.array([[0.0], [0.5], [1.0], [1.5]]), 2)
    table[rng.random(table.shape) < 0.1] = NAN
    permuted = [NAMES[i] for i in order]
    settings_ = {"n_permutations": 499, "n_draws": 50}
    before = compare_models(table, NAMES, **settings_)
    after = compare_models(table[list(order)], permuted, **settings_)
    found = {(c.model_a, c.model_b): c for c in after}
    for pair in before:
        same = found.get((pair.model_a, pair.model_b))
        if same is not None:
            assert same.difference == pytest.approx(pair.difference)
            assert (same.low, same.high) == pytest.approx((pair.low, pair.high))
        else:
            same = found[pair.model_b, pair.model_a]
            assert same.difference == pytest.approx(-pair.difference)
            assert (same.low, same.high) == pytest.approx((-pair.high, -pair.low))
        assert same.adjusted_p_value == pytest.approx(pair.adjusted_p_value)
    ranks = {r.model: r.rank for r in rank_by_significance(before, NAMES)}
    assert {r.model: r.rank for r in rank_by_significance(after, permuted)} == ranks


@pytest.mark.medium
def test_holm_keeps_the_family_wise_error_rate():
    # Five equal models, 200 times: a false significance in about 5% of them (standard error 1.5%).
    rng = np.random.default_rng(5)
    names = list("abcde")
    false = 0
    for _ in range(200):
        compared = compare_models(rng.normal(size=(5, 25)), names, n_draws=0, n_permutations=1_999)
        false += any(pair.adjusted_p_value < 0.05 for pair in compared)
    assert false / 200 <= 0.10


@pytest.mark.long
def test_thirty_models_on_a_thousand_questions_take_seconds():
    rng = np.random.default_rng(6)
    table = rng.normal(size=(30, 1000)) + np.linspace(0, 1, 30)[:, None]
    names = [f"model {i}" for i in range(30)]
    start = time.perf_counter()
    compared = compare_models(table, names)
    assert time.perf_counter() - start < 30
    # Enough permutations for Holm over 435 pairs: the least adjusted p is 435 / 43501 = .01.
    assert min(pair.adjusted_p_value for pair in compared) < 0.05
    ranks = rank_by_significance(compared, names)
    assert ranks[-1].rank == 1
    assert ranks[0].rank > 20


@pytest.mark.parametrize(
    "call",
    [
        lambda: compare_models([0.5, 0.6], ["a", "b"]),
        lambda: compare_models([[0.5], [0.6]], ["a"]),
        lambda: compare_models([[0.5], [0.6]], ["a", "a"]),
        lambda: compare_models([[0.5], [np.inf]], ["a", "b"]),
        lambda: compare_models([[0.5], [1]], ["a", "b"], test="mcnemar"),
        lambda: compare_models([[0.5], [1]], ["a", "b"], test="t"),
        lambda: compare_models([[0.5], [1]], ["a", "b"], "bonferroni"),
        lambda: compare_models([[0.5], [1]], ["a", "b"], n_draws=1),
        lambda: compare_models([[0.5], [1]], ["a", "b"], n_permutations=0),
        lambda: rank_by_significance([], ["a", "b"]),
        lambda: rank_by_significance([], ["a", "a"]),
        lambda: rank_by_significance([], ["a"], alpha=0),
    ],
)
def test_wrong_inputs_are_refused(call):
    with pytest.raises(ValueError, match="must"):
        call()
