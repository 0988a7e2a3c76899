"""What a pair's likeness owes to each of the two, also where the pairs leave that open."""

import numpy as np
import pytest

from evaluation.grading.alarms.methods import pairs as additive
from evaluation.grading.alarms.methods.pairs import Pairs, fit_loadings, fit_worker_effects


def pairs_of(n_workers, left, right):
    left, right = np.asarray(left), np.asarray(right)
    each = np.arange(len(left))
    return Pairs(left, right, each, np.zeros_like(each), np.ones(len(each)), n_workers, 1)


def test_two_camps_of_which_only_pairs_across_count_have_the_smallest_effects():
    # Workers 0 and 1 against 2 and 3: b_i + c_k = 3 fits for any b = 3 - c; the smallest are
    # halves. A ridge would leave their difference to rounding.
    pairs = pairs_of(4, [0, 0, 1, 1], [2, 3, 2, 3])
    found = fit_worker_effects(pairs, np.full(4, 3.0), np.ones(4))
    np.testing.assert_allclose(found, [1.5] * 4, rtol=1e-14)
    # Unequal ones, by hand: b = (1, 2), c = (10, 20) up to a shift t of b + t and c - t; the sum of
    # squares is least at t = (sum c - sum b) / 4 = 6.75.
    found = fit_worker_effects(pairs, np.array([11.0, 21.0, 12.0, 22.0]), np.ones(4))
    np.testing.assert_allclose(found, [7.75, 8.75, 3.25, 13.25], rtol=1e-13)


@pytest.mark.parametrize("dense", [0, 300])
def test_a_triangle_has_the_effects_that_fit_whatever_the_way(monkeypatch, dense):
    monkeypatch.setattr(additive, "DENSE", dense)
    pairs = pairs_of(4, [0, 0, 1], [1, 2, 2])  # the fourth worker met nobody
    mean = np.array([1.0 + 2.0, 1.0 + 5.0, 2.0 + 5.0])
    found = fit_worker_effects(pairs, mean, np.array([3.0, 1.0, 2.0]))
    np.testing.assert_allclose(found, [1, 2, 5, 0], atol=1e-5)
    assert found[3] == 0


def test_pairs_count_by_their_weight():
    # One effect pair seen twice: b_0 + b_1 is the weighted mean 1/4 * 2 + 3/4 * 6 = 5.
    pairs = pairs_of(2, [0, 0], [1, 1])
    found = fit_worker_effects(pairs, np.array([2.0, 6.0]), np.array([1.0, 3.0]))
    np.testing.assert_allclose(found, [2.5, 2.5], rtol=1e-12)


def test_loadings_are_the_factors_of_the_products():
    pairs = pairs_of(4, [0, 0, 1], [1, 2, 2])
    q = np.array([0.9, 0.5, 0.7])
    mean = np.array([q[0] * q[1], q[0] * q[2], q[1] * q[2]])
    found = fit_loadings(pairs, mean, np.array([10.0, 20.0, 30.0]), rounds=2000)
    np.testing.assert_allclose(found[:3], q, atol=1e-4)
    assert found[3] == 0
    assert fit_loadings(pairs, mean, np.zeros(3)).tolist() == [0, 0, 0, 0]
    np.testing.assert_array_equal(fit_loadings(pairs, -mean, np.ones(3)), np.zeros(4))
