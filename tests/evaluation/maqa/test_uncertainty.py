from itertools import combinations
from math import exp, inf, log, nan

import numpy as np
import pytest
from scipy import stats
from scipy.stats import entropy

from evaluation.maqa.methods.uncertainty import (
    DistributionError,
    assign_clusters,
    compute_consistency,
    compute_coverage_entropy,
    compute_discrete_entropy,
    compute_kernel_entropy,
    compute_weighted_entropy,
    estimate_meaning_count,
    estimate_meaning_coverage,
    measure_logits,
    measure_top_logprobs,
)


def test_the_numbers_of_a_whole_distribution():
    # softmax(log 5, log 3, log 2) = .5, .3, .2
    found = measure_logits([log(5), log(3), log(2)])
    assert found.max_softmax == pytest.approx(0.5)
    assert found.margin == pytest.approx(0.2)
    assert found.entropy == pytest.approx(-(0.5 * log(0.5) + 0.3 * log(0.3) + 0.2 * log(0.2)))
    assert found.entropy_high == found.entropy


def test_the_entropy_is_that_of_scipy_and_large_logits_do_not_overflow():
    logits = np.random.default_rng(3).normal(size=500) * 5
    p = np.exp(logits) / np.exp(logits).sum()
    assert measure_logits(logits + 5000).entropy == pytest.approx(stats.entropy(p), rel=1e-9)


def test_a_token_that_cannot_come_adds_nothing():
    found = measure_logits([0.0, 0.0, -inf])
    assert (found.max_softmax, found.margin) == (0.5, 0)
    assert found.entropy == pytest.approx(log(2))


def test_the_entropy_of_the_likeliest_tokens_is_an_interval():
    # Known .6 and .3, missing r = .1, which 1 token or 8 tokens may share.
    found = measure_top_logprobs([log(0.3), log(0.6)], 10)
    known = -(0.6 * log(0.6) + 0.3 * log(0.3))
    assert found.entropy == pytest.approx(known - 0.1 * log(0.1))
    assert found.entropy_high == pytest.approx(known - 0.1 * log(0.1) + 0.1 * log(8))
    assert (found.max_softmax, found.margin) == pytest.approx((0.6, 0.3))


def test_the_interval_holds_the_entropy_of_any_distribution_with_these_tokens():
    rng = np.random.default_rng(1)
    for _ in range(50):
        p = np.sort(rng.dirichlet(np.full(12, 0.4)))[::-1]
        found = measure_top_logprobs(np.log(p[:4]), 12)
        assert found.entropy <= stats.entropy(p) + 1e-12
        assert stats.entropy(p) <= found.entropy_high + 1e-12


def test_a_whole_distribution_given_as_logprobs_has_no_interval():
    found = measure_top_logprobs([log(0.75), log(0.25)], 2)
    assert (
        found.entropy == found.entropy_high == pytest.approx(-(0.75 * log(0.75) + 0.25 * log(0.25)))
    )


def test_without_the_number_of_tokens_the_interval_is_open():
    assert measure_top_logprobs([log(0.5), log(0.2)], None).entropy_high is None


def test_one_token_tells_no_margin_unless_it_is_certain():
    assert measure_top_logprobs([log(0.7)], 100).margin is None
    assert measure_top_logprobs([0.0], 100).margin == 1


@pytest.mark.parametrize(
    ("logprobs", "vocabulary", "code"),
    [
        ([], 10, "no_numbers"),
        ([nan, -1.0], 10, "not_finite"),
        ([-inf, -inf], 10, "not_finite"),
        ([0.3], 10, "probability_above_1"),
        ([log(0.7), log(0.5)], 10, "probability_above_1"),
        ([log(0.5), log(0.2)], 1, "vocabulary_too_small"),
        ([log(0.5), log(0.2)], 2, "vocabulary_too_small"),
    ],
)
def test_what_is_no_distribution_is_refused(logprobs, vocabulary, code):
    with pytest.raises(DistributionError) as refused:
        measure_top_logprobs(logprobs, vocabulary)
    assert refused.value.code == code


@pytest.mark.parametrize(
    ("logits", "code"), [([], "no_numbers"), ([1.0, nan], "not_finite"), ([inf], "not_finite")]
)
def test_logits_that_are_none_are_refused(logits, code):
    with pytest.raises(DistributionError) as refused:
        measure_logits(logits)
    assert refused.value.code == code


def test_probabilities_that_a_server_rounded_are_taken():
    assert measure_top_logprobs([log(0.7502), log(0.2502)], None).max_softmax == pytest.approx(
        0.7502
    )
    assert exp(0.0005) > 1
    assert measure_top_logprobs([0.0005], None).max_softmax == 1


AB, AC, A = frozenset("ab"), frozenset("ac"), frozenset("a")


def test_consistency_is_the_mean_similarity_of_all_pairs():
    # Of the pairs (ab, ab), (ab, ac), (ab, ac) one is the same set: 2 / (3 * 2) * 1.
    assert compute_consistency([AB, AB, AC]) == pytest.approx(1 / 3)
    # Of what is in either, ab and ac share one of three: (1 + 1/3 + 1/3) / 3.
    assert compute_consistency([AB, AB, AC], "jaccard") == pytest.approx(5 / 9)
    # Of the smaller one, one of two: (1 + 1/2 + 1/2) / 3.
    assert compute_consistency([AB, AB, AC], "overlap") == pytest.approx(2 / 3)


def test_a_part_of_a_set_overlaps_it_wholly():
    assert compute_consistency([AB, A], "overlap") == 1
    assert compute_consistency([AB, A], "jaccard") == 1 / 2


def test_pairs_are_counted_as_if_one_by_one():
    replies = [AB, A, AC, A, AB, frozenset(), A]

    def jaccard(one, other):
        return len(one & other) / len(one | other) if one | other else 1.0

    pairs = [jaccard(*pair) for pair in combinations(replies, 2)]
    assert compute_consistency(replies, "jaccard") == pytest.approx(sum(pairs) / len(pairs))


def test_two_replies_without_answers_say_the_same_and_one_says_nothing_like_it():
    for similarity in ("exact", "overlap", "jaccard"):
        assert compute_consistency([frozenset(), frozenset()], similarity) == 1
        assert compute_consistency([frozenset(), A], similarity) == 0


def test_one_reply_has_no_consistency():
    assert compute_consistency([A]) is None
    assert compute_consistency([]) is None


def test_an_unknown_similarity_is_an_error():
    with pytest.raises(ValueError, match="unknown similarity"):
        compute_consistency([A, A], "dice")


def test_entropy_is_over_the_shares_of_the_clusters():
    # Shares 2/4, 1/4, 1/4: -(1/2 ln 1/2 + 2 * 1/4 ln 1/4) = 1.5 ln 2.
    assert compute_discrete_entropy([0, 1, 0, 2]) == pytest.approx(1.5 * log(2))


def test_entropy_is_0_where_all_say_the_same_and_ln_m_where_nobody_does():
    assert compute_discrete_entropy([0, 0, 0]) == 0
    assert compute_discrete_entropy([0, 1, 2, 3, 4]) == pytest.approx(log(5))


def test_sequences_weigh_by_their_probability():
    # exp of the mean log-probabilities: .4 and .2 of the first cluster, .2 of the second, so
    # p = .75 and .25.
    found = compute_weighted_entropy([0, 0, 1], [log(0.4), log(0.2), log(0.2)])
    assert found == pytest.approx(-(0.75 * log(0.75) + 0.25 * log(0.25)))


def test_a_sequence_that_was_drawn_twice_counts_once_by_its_first_number():
    # "a" weighs .2 once, "b" .2: equal. With "a" twice it would be 2/3 and 1/3.
    found = compute_weighted_entropy([0, 0, 1], [log(0.2), log(0.9), log(0.2)], ["a", "a", "b"])
    assert found == pytest.approx(log(2))


def test_probabilities_too_small_for_the_computer_still_weigh_by_their_ratio():
    assert exp(-2000) == 0
    found = compute_weighted_entropy([0, 1], [-2000, -2000 + log(3)])
    assert found == pytest.approx(entropy([1 / 4, 3 / 4]))


def test_both_agree_with_scipy_over_random_clusters():
    rng = np.random.default_rng(3)
    for _ in range(50):
        m = int(rng.integers(2, 12))
        labels = rng.integers(0, 4, m)
        logs = rng.normal(-2, 1, m)
        shares = np.bincount(labels)
        masses = np.bincount(labels, np.exp(logs))
        assert compute_discrete_entropy(labels) == pytest.approx(entropy(shares), abs=1e-12)
        assert compute_weighted_entropy(labels, logs) == pytest.approx(entropy(masses), abs=1e-12)


@pytest.mark.parametrize("labels", [[], [0]])
def test_fewer_than_two_samples_have_none(labels):
    assert compute_discrete_entropy(labels) is None
    assert compute_weighted_entropy(labels, [-1.0] * len(labels)) is None


def test_a_sample_joins_the_first_cluster_whose_first_member_says_the_same():
    # 1 is like 0 and like 2, but 2 is not like 0: it is compared with 0, the first member, only.
    same = np.array([[1, 1, 0], [1, 1, 1], [0, 1, 1]])
    assert assign_clusters(same).tolist() == [0, 0, 1]
    # Like the first members of two clusters: the earlier one.
    same = np.array([[1, 0, 1], [0, 1, 1], [1, 1, 1]])
    assert assign_clusters(same).tolist() == [0, 1, 0]


def test_no_sample_no_cluster():
    assert assign_clusters(np.zeros((0, 0))).tolist() == []


# --- semantic entropy of few replies


def test_coverage_and_meanings_by_hand():
    # Of five replies two have a meaning of their own: coverage 3/5, three meanings, 3/(3/5) = 5.
    labels = [0, 0, 0, 1, 2]
    assert estimate_meaning_coverage(labels) == pytest.approx(3 / 5)
    assert estimate_meaning_count(labels) == pytest.approx(5)
    # All seen twice or more: nothing is missing.
    assert estimate_meaning_coverage([0, 0, 1, 1]) == 1
    assert estimate_meaning_count([0, 0, 1, 1]) == 2
    # All different: as if one had occurred again, 1/4, so 16 meanings.
    assert estimate_meaning_coverage([0, 1, 2, 3]) == pytest.approx(1 / 4)
    assert estimate_meaning_count([0, 1, 2, 3]) == pytest.approx(16)
    assert estimate_meaning_count([0]) is None


def test_coverage_entropy_by_hand():
    # Coverage 3/5: shares .36, .12, .12, each divided by the probability of being seen in five.
    expected = -sum(p * log(p) / (1 - (1 - p) ** 5) for p in (3 / 5 * 3 / 5, 3 / 5 / 5, 3 / 5 / 5))
    assert compute_coverage_entropy([0, 0, 0, 1, 2]) == pytest.approx(expected)
    assert compute_coverage_entropy([0, 0, 0]) == 0
    assert compute_coverage_entropy([0]) is None


@pytest.mark.parametrize("m", [3, 5, 10])
def test_coverage_entropy_is_nearer_to_the_truth_of_many_meanings(m):
    # Six equally likely meanings: ln 6 = 1.79. Measured errors of the mean over 4,000 draws are
    # -.92, -.59 and -.30 for the plug-in entropy (it is at most ln m), and .02, .20 and .02.
    rng = np.random.default_rng(0)
    draws = rng.integers(0, 6, (4000, m))
    plain = np.mean([compute_discrete_entropy(row) for row in draws]) - log(6)
    corrected = np.mean([compute_coverage_entropy(row) for row in draws]) - log(6)
    assert plain < -0.2
    assert abs(corrected) < 0.5 * abs(plain)


def test_coverage_entropy_is_no_nearer_for_two_uneven_meanings_and_three_replies():
    # It is less biased (-.04, plug-in -.15), but spreads more: root mean squared error .47 and .32.
    rng = np.random.default_rng(0)
    draws = (rng.random((4000, 3)) < 0.1).astype(int)
    truth = -(0.9 * log(0.9) + 0.1 * log(0.1))
    plain, corrected = (
        np.array([measure(row) for row in draws]) - truth
        for measure in (compute_discrete_entropy, compute_coverage_entropy)
    )
    assert abs(corrected.mean()) < abs(plain.mean())
    assert (corrected**2).mean() > 1.5 * (plain**2).mean()


def test_kernel_entropy_of_equal_and_different_meanings_is_the_plug_in_entropy():
    labels = np.array([0, 1, 0, 2, 0])
    kernel = (labels[:, None] == labels[None, :]).astype(float)
    assert compute_kernel_entropy(kernel) == pytest.approx(compute_discrete_entropy(labels))
    assert compute_kernel_entropy([[1.0]]) is None


def test_kernel_entropy_of_two_replies_by_hand():
    # The eigenvalues of [[1, c], [c, 1]] / 2 are (1 + c)/2 and (1 - c)/2.
    found = compute_kernel_entropy([[1, 0.6], [0.6, 1]])
    assert found == pytest.approx(-(0.8 * log(0.8) + 0.2 * log(0.2)))
