from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from evaluation.core.stats.inference.corrections import benjamini_hochberg, holm
from evaluation.core.stats.inference.paired import (
    compute_bootstrap_mean_difference,
    compute_mcnemar_exact,
    compute_permutation_p_value,
    compute_smallest_detectable_difference,
)

NAN = float("nan")
scores = st.lists(
    st.tuples(st.integers(-20, 20), st.integers(-20, 20)), min_size=2, max_size=40
).map(lambda pairs: np.array(pairs, dtype=float).T / 10)
p_value_lists = st.lists(st.floats(0, 1), min_size=1, max_size=30)


@pytest.fixture
def clustered():
    rng = np.random.default_rng(3)
    clusters = rng.integers(0, 25, size=80)
    shared = rng.normal(size=25)[clusters]
    return 0.3 + shared + rng.normal(size=80), rng.normal(size=80), clusters


# --- mean difference -------------------------------------------------------------------------


def test_closed_form_of_four_pairs_by_hand():
    # d = 1, 2, 3, 6: mean 3; squares around it 4 + 1 + 0 + 9 = 14, variance 14 / 3 = 4.66667,
    # error sqrt(4.66667 / 4) = 1.080123; t(.975, 3) = 3.182446; 3 +- 3.437435
    result = compute_bootstrap_mean_difference([1, 2, 3, 6], [0, 0, 0, 0], n_draws=0)
    assert result.difference == 3
    assert (result.low, result.high) == pytest.approx((-0.437435, 6.437435), abs=1e-6)
    assert (result.n, result.n_clusters, result.method, result.seed) == (4, 4, "closed-form", None)


def test_closed_form_agrees_with_scipys_paired_t_test():
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(2, 30))
    expected = stats.ttest_rel(a, b).confidence_interval(0.9)
    result = compute_bootstrap_mean_difference(a, b, n_draws=0, level=0.9)
    assert (result.low, result.high) == pytest.approx((expected.low, expected.high))


def test_bootstrap_error_agrees_with_scipys_bootstrap(clustered):
    a, b, clusters = clustered
    result = compute_bootstrap_mean_difference(a, b, clusters, n_draws=20_000)
    sums = np.bincount(clusters, weights=a - b)
    sizes = np.bincount(clusters)
    known = sizes > 0
    expected = stats.bootstrap(
        (sums[known], sizes[known]),
        lambda s, n, axis=-1: s.sum(axis=axis) / n.sum(axis=axis),
        paired=True,
        vectorized=True,
        method="percentile",
        n_resamples=20_000,
        rng=np.random.default_rng(5),
    ).standard_error
    n = result.n_clusters
    assert n == known.sum()
    half_width = stats.t.ppf(0.975, n - 1) * expected * np.sqrt(n / (n - 1))
    assert (result.high - result.low) / 2 == pytest.approx(half_width, rel=0.03)
    assert result.difference == pytest.approx((a - b).mean())


def test_clustered_closed_form_is_close_to_the_clustered_bootstrap(clustered):
    a, b, clusters = clustered
    closed = compute_bootstrap_mean_difference(a, b, clusters, n_draws=0)
    drawn = compute_bootstrap_mean_difference(a, b, clusters, n_draws=5_000)
    assert closed.high - closed.low == pytest.approx(drawn.high - drawn.low, rel=0.1)
    unclustered = compute_bootstrap_mean_difference(a, b, n_draws=0)
    assert closed.high - closed.low > 1.3 * (unclustered.high - unclustered.low)


def test_repeating_every_pair_within_its_question_adds_no_evidence():
    rng = np.random.default_rng(2)
    a, b = rng.normal(size=(2, 20))
    once = compute_bootstrap_mean_difference(a, b, range(20))
    thrice = compute_bootstrap_mean_difference(np.tile(a, 3), np.tile(b, 3), list(range(20)) * 3)
    assert (thrice.low, thrice.high) == pytest.approx((once.low, once.high))
    assert (thrice.n, thrice.n_clusters) == (60, 20)
    p_once, p_thrice = (
        compute_permutation_p_value(a, b, range(20)),
        compute_permutation_p_value(np.tile(a, 3), np.tile(b, 3), list(range(20)) * 3),
    )
    assert p_thrice.p_value == p_once.p_value


def test_missing_scores_drop_their_pair_only():
    result = compute_bootstrap_mean_difference(
        [1, NAN, 3, 5], [0, 2, NAN, 2], ["q1", "q1", "q2", "q3"]
    )
    # left: 1 - 0 of q1 and 5 - 2 of q3
    assert (result.difference, result.n, result.n_clusters) == (2, 2, 2)


@pytest.mark.parametrize(
    ("a", "b", "clusters", "difference", "reason"),
    [
        ([], [], None, None, "no_pairs"),
        ([NAN], [1], None, None, "no_pairs"),
        ([2], [1], None, 1, "fewer_than_2_clusters"),
        ([2, 4], [1, 1], ["q", "q"], 2, "fewer_than_2_clusters"),
    ],
)
def test_what_is_undefined_is_none_with_its_reason(a, b, clusters, difference, reason):
    for n_draws in (0, 400):
        result = compute_bootstrap_mean_difference(a, b, clusters, n_draws=n_draws)
        assert (result.difference, result.low, result.high) == (difference, None, None)
        assert result.reason == reason
    permutation = compute_permutation_p_value(a, b, clusters)
    assert (permutation.p_value, permutation.reason) == (None, reason)
    detectable = compute_smallest_detectable_difference(a, b, clusters)
    assert (detectable.difference, detectable.reason) == (None, reason)


@settings(max_examples=50)
@given(scores)
def test_swapping_a_and_b_flips_the_signs_and_keeps_p(pair):
    a, b = pair
    forth, back = compute_bootstrap_mean_difference(a, b), compute_bootstrap_mean_difference(b, a)
    assert forth.difference == pytest.approx(-back.difference)
    assert (forth.low, forth.high) == pytest.approx((-back.high, -back.low))
    p_forth, p_back = (
        compute_permutation_p_value(x, y, n_permutations=99) for x, y in ((a, b), (b, a))
    )
    assert p_forth.p_value == p_back.p_value


def test_the_seed_decides_the_draws():
    rng = np.random.default_rng(4)
    a, b = rng.normal(size=(2, 40))
    assert compute_bootstrap_mean_difference(a, b, seed=1) == compute_bootstrap_mean_difference(
        a, b, seed=1
    )
    assert (
        compute_bootstrap_mean_difference(a, b, seed=1).low
        != compute_bootstrap_mean_difference(a, b).low
    )
    assert compute_permutation_p_value(a, b, seed=1) == compute_permutation_p_value(a, b, seed=1)


def test_intervals_of_clustered_differences_cover_the_true_one():
    # 15 questions with 1 to 4 pairs each; question effects make the pairs dependent.
    rng = np.random.default_rng(11)
    covered = 0
    for _ in range(400):
        clusters = np.repeat(np.arange(15), rng.integers(1, 5, size=15))
        effect = rng.normal(size=15)[clusters]
        a = 0.5 + effect + 0.5 * rng.normal(size=len(clusters))
        result = compute_bootstrap_mean_difference(a, np.zeros(len(a)), clusters)
        covered += result.low <= 0.5 <= result.high
    assert 0.90 <= covered / 400 <= 0.98


# --- permutation -----------------------------------------------------------------------------


def test_sign_flips_of_three_pairs_by_hand():
    # d = 1, 2, 3, sum 6. Of the 8 sign patterns only +++ and --- reach |sum| 6: p = 2/8.
    result = compute_permutation_p_value([1, 2, 3], [0, 0, 0])
    assert result.p_value == 0.25
    assert (result.method, result.n_permutations, result.seed) == ("sign-flip-exact", 0, None)
    # d = 1, 2, -3, sum 0: every pattern reaches it.
    assert compute_permutation_p_value([1, 2, -3], [0, 0, 0]).p_value == 1


def test_clusters_flip_whole():
    # Totals 1 + 2 = 3 and 3: of ++ -- +- -+ two reach |sum| 6, p = 2/4 (unclustered it is 2/8).
    assert compute_permutation_p_value([1, 2, 3], [0, 0, 0], ["p", "p", "q"]).p_value == 0.5


def test_equal_scores_give_p_one():
    assert compute_permutation_p_value([0.1] * 30, [0.1] * 30).p_value == 1


@settings(max_examples=30)
@given(scores.filter(lambda pair: pair.shape[1] <= 9))
def test_exact_p_agrees_with_enumeration_and_with_scipy(pair):
    a, b = pair
    d = np.round((a - b) * 10)
    sums = [abs(np.dot(signs, d)) for signs in product((-1, 1), repeat=len(d))]
    expected = np.mean(np.array(sums) >= abs(d.sum()))
    assert compute_permutation_p_value(a, b).p_value == pytest.approx(expected)
    scipys = stats.permutation_test((d,), np.sum, permutation_type="samples", n_resamples=np.inf)
    assert expected == pytest.approx(scipys.pvalue)


def test_monte_carlo_p_is_near_the_exact_one_and_never_zero():
    rng = np.random.default_rng(6)
    a = rng.normal(0.5, 1, size=18)
    drawn = compute_permutation_p_value(a, np.zeros(18), n_permutations=40_000)
    exact = stats.permutation_test(
        (a,), np.sum, permutation_type="samples", n_resamples=np.inf
    ).pvalue
    # Four Monte Carlo standard errors: sqrt(p (1 - p) / 40000)
    assert drawn.method == "sign-flip-monte-carlo"
    assert abs(drawn.p_value - exact) < 4 * np.sqrt(exact * (1 - exact) / 40_000) + 1 / 40_000
    assert (
        compute_permutation_p_value(np.ones(60), np.zeros(60), n_permutations=99).p_value == 1 / 100
    )


def test_permutation_test_keeps_its_level():
    # Under the null hypothesis p < .05 in 5% of 1000 samples: standard error .0069.
    rng = np.random.default_rng(7)
    p = [
        compute_permutation_p_value(rng.normal(size=20), np.zeros(20), n_permutations=199).p_value
        for _ in range(1000)
    ]
    assert np.mean(np.array(p) <= 0.05) == pytest.approx(0.05, abs=0.02)


# --- right and wrong -------------------------------------------------------------------------


def test_mcnemar_by_hand():
    # 6 only A, 1 only B: 2 x (C(7,0) + C(7,1)) / 2^7 = 2 x 8 / 128 = .125
    a = [1] * 6 + [0] + [1, 0]
    b = [0] * 6 + [1] + [1, 0]
    result = compute_mcnemar_exact(a, b)
    assert (result.only_a, result.only_b, result.n) == (6, 1, 9)
    assert result.p_value == pytest.approx(0.125)


def test_mcnemar_without_a_discordant_pair_is_one_and_without_a_pair_is_null():
    same = compute_mcnemar_exact([True, False, True], [True, False, True])
    assert (same.p_value, same.n, same.reason) == (1.0, 3, None)
    none = compute_mcnemar_exact([1, NAN], [NAN, 0])
    assert (none.p_value, none.n, none.reason) == (None, 0, "no_pairs")


@given(st.integers(0, 12), st.integers(0, 12), st.integers(0, 3))
def test_mcnemar_is_the_binomial_test_and_the_sign_flip_test(only_a, only_b, both):
    a = [1] * only_a + [0] * only_b + [1] * both + [0, 0]
    b = [0] * only_a + [1] * only_b + [1] * both + [0, 0]
    result = compute_mcnemar_exact(a, b)
    if only_a + only_b:
        expected = stats.binomtest(only_a, only_a + only_b, 0.5).pvalue
        assert result.p_value == pytest.approx(expected)
    if only_a + only_b <= 14:
        assert compute_permutation_p_value(a, b).p_value == pytest.approx(result.p_value)
    assert compute_mcnemar_exact(b, a).p_value == result.p_value


# --- smallest detectable difference ----------------------------------------------------------


def test_smallest_detectable_difference_by_hand():
    # d = 1, 2, 3, 6: standard error 1.080123 (above), times 2.8 = 3.024346
    result = compute_smallest_detectable_difference([1, 2, 3, 6], [0, 0, 0, 0])
    assert result.difference == pytest.approx(3.024346, abs=1e-6)
    # Clusters {1, 2}, {3}, {6}, N = 4, mean 3: residuals 3 - 6 = -3, 0, 3;
    # sqrt(3/2 x 18) / 4 = 1.299038; x 2.8 = 3.637307
    result = compute_smallest_detectable_difference(
        [1, 2, 3, 6], [0, 0, 0, 0], ["p", "p", "q", "r"]
    )
    assert result.difference == pytest.approx(3.637307, abs=1e-6)
    assert (result.n, result.n_clusters) == (4, 3)


def test_the_smallest_detectable_difference_is_found_four_times_in_five():
    # 60 pairs of sd 1: 2.8 / sqrt(60) = .3615; power 80% (a t test has slightly less).
    rng = np.random.default_rng(8)
    d = rng.normal(2.8 / np.sqrt(60), 1, size=(2000, 60))
    assert np.mean(stats.ttest_1samp(d, 0, axis=1).pvalue < 0.05) == pytest.approx(0.8, abs=0.03)


# --- corrections -----------------------------------------------------------------------------


def test_holm_and_benjamini_hochberg_by_hand():
    p = [0.04, 0.01, 0.03]
    # Holm: 3 x .01 = .03; 2 x .03 = .06; 1 x .04 = .04, raised to .06
    assert holm(p) == pytest.approx([0.06, 0.03, 0.06])
    # Benjamini-Hochberg: .01 x 3/1 = .03, .03 x 3/2 = .045 lowered to .04 x 3/3 = .04
    assert benjamini_hochberg(p) == pytest.approx([0.04, 0.03, 0.04])


def test_nulls_stay_out_of_the_correction():
    assert holm([0.02, None, 0.03]) == pytest.approx([0.04, NAN, 0.04], nan_ok=True)
    assert benjamini_hochberg([0.02, NAN, 0.03]) == pytest.approx([0.03, NAN, 0.03], nan_ok=True)
    assert np.isnan(holm([NAN])).all()
    assert np.isnan(benjamini_hochberg([NAN])).all()
    assert len(holm([])) == len(benjamini_hochberg([])) == 0


@given(p_value_lists)
def test_adjusted_values_are_monotone_in_the_raw_ones_and_bounded(p):
    adjusted, rates = holm(p), benjamini_hochberg(p)
    order = np.argsort(p)
    for values in (adjusted, rates):
        assert (values >= np.array(p) - 1e-12).all()
        assert (values <= 1).all()
        assert (np.diff(values[order]) >= -1e-12).all()
    assert (rates <= adjusted + 1e-12).all()
    assert (adjusted <= np.minimum(1, len(p) * np.array(p)) + 1e-12).all()


@given(p_value_lists, st.randoms(use_true_random=False))
def test_the_order_of_the_hypotheses_does_not_matter(p, random):
    order = list(range(len(p)))
    random.shuffle(order)
    p = np.array(p)
    for correct in (holm, benjamini_hochberg):
        assert correct(p[order]) == pytest.approx(correct(p)[order])


# --- refusals --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "call",
    [
        lambda: compute_bootstrap_mean_difference([1, 2], [1]),
        lambda: compute_bootstrap_mean_difference([[1, 2]], [[1, 2]]),
        lambda: compute_bootstrap_mean_difference([1, np.inf], [1, 2]),
        lambda: compute_bootstrap_mean_difference([1, 2], [1, 2], ["q"]),
        lambda: compute_bootstrap_mean_difference([1, 2], [1, 2], [1, NAN]),
        lambda: compute_bootstrap_mean_difference([1, 2], [1, 2], np.array(["q", None])),
        lambda: compute_bootstrap_mean_difference([1, 2], [1, 2], n_draws=1),
        lambda: compute_bootstrap_mean_difference([1, 2], [1, 2], level=1),
        lambda: compute_permutation_p_value([1, 2], [1, 2], n_permutations=0),
        lambda: compute_mcnemar_exact([0.5], [1]),
        lambda: holm([1.2]),
        lambda: holm([[0.1]]),
        lambda: benjamini_hochberg([-0.1]),
    ],
)
def test_wrong_inputs_are_refused(call):
    with pytest.raises(ValueError, match=r"must|needs"):
        call()
