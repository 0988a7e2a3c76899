from math import exp, log

import numpy as np
import pytest
from scipy.stats import entropy

from evaluation.methods.maqa.semantic_entropy import (
    clusters_of,
    discrete_entropy,
    weighted_entropy,
)


def test_entropy_is_over_the_shares_of_the_clusters():
    # Shares 2/4, 1/4, 1/4: -(1/2 ln 1/2 + 2 * 1/4 ln 1/4) = 1.5 ln 2.
    assert discrete_entropy([0, 1, 0, 2]) == pytest.approx(1.5 * log(2))


def test_entropy_is_0_where_all_say_the_same_and_ln_m_where_nobody_does():
    assert discrete_entropy([0, 0, 0]) == 0
    assert discrete_entropy([0, 1, 2, 3, 4]) == pytest.approx(log(5))


def test_sequences_weigh_by_their_probability():
    # exp of the mean log-probabilities: .4 and .2 of the first cluster, .2 of the second, so
    # p = .75 and .25.
    found = weighted_entropy([0, 0, 1], [log(0.4), log(0.2), log(0.2)])
    assert found == pytest.approx(-(0.75 * log(0.75) + 0.25 * log(0.25)))


def test_a_sequence_that_was_drawn_twice_counts_once_by_its_first_number():
    # "a" weighs .2 once, "b" .2: equal. With "a" twice it would be 2/3 and 1/3.
    found = weighted_entropy([0, 0, 1], [log(0.2), log(0.9), log(0.2)], ["a", "a", "b"])
    assert found == pytest.approx(log(2))


def test_probabilities_too_small_for_the_computer_still_weigh_by_their_ratio():
    assert exp(-2000) == 0
    found = weighted_entropy([0, 1], [-2000, -2000 + log(3)])
    assert found == pytest.approx(entropy([1 / 4, 3 / 4]))


def test_both_agree_with_scipy_over_random_clusters():
    rng = np.random.default_rng(3)
    for _ in range(50):
        m = int(rng.integers(2, 12))
        labels = rng.integers(0, 4, m)
        logs = rng.normal(-2, 1, m)
        shares = np.bincount(labels)
        masses = np.bincount(labels, np.exp(logs))
        assert discrete_entropy(labels) == pytest.approx(entropy(shares), abs=1e-12)
        assert weighted_entropy(labels, logs) == pytest.approx(entropy(masses), abs=1e-12)


@pytest.mark.parametrize("labels", [[], [0]])
def test_fewer_than_two_samples_have_none(labels):
    assert discrete_entropy(labels) is None
    assert weighted_entropy(labels, [-1.0] * len(labels)) is None


def test_a_sample_joins_the_first_cluster_whose_first_member_says_the_same():
    # 1 is like 0 and like 2, but 2 is not like 0: it is compared with 0, the first member, only.
    same = np.array([[1, 1, 0], [1, 1, 1], [0, 1, 1]])
    assert clusters_of(same).tolist() == [0, 0, 1]
    # Like the first members of two clusters: the earlier one.
    same = np.array([[1, 0, 1], [0, 1, 1], [1, 1, 1]])
    assert clusters_of(same).tolist() == [0, 1, 0]


def test_no_sample_no_cluster():
    assert clusters_of(np.zeros((0, 0))).tolist() == []
