"""Cohen's kappa, by hand and against scikit-learn."""

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from evaluation.methods.statistics.kappa import cohen_kappa


def test_kappa_by_hand():
    # They agree on 3 of 4; by chance on 1/2 * 1/4 (no) and 1/2 * 3/4 (yes): 1/2.
    one, other = ["no", "no", "yes", "yes"], ["no", "yes", "yes", "yes"]
    assert cohen_kappa(one, other) == pytest.approx((3 / 4 - 1 / 2) / (1 - 1 / 2))


def test_quadratic_weights_by_hand():
    # Squares 0, 1, 4; of every two ratings 0 4 0, 1 1 1, 4 0 4, which is 15 in 9, three times.
    assert cohen_kappa([0, 1, 2], [0, 2, 0], quadratic=True) == pytest.approx(1 - 5 / (3 * 15 / 9))


@pytest.mark.parametrize("quadratic", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_it_is_that_of_scikit_learn(seed, quadratic):
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 6, 40)
    b = np.clip(a + rng.integers(-1, 2, 40), 0, 5)
    expected = cohen_kappa_score(a, b, weights="quadratic" if quadratic else None)
    assert cohen_kappa(a, b, quadratic=quadratic) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("quadratic", [False, True])
def test_without_ratings_or_with_equal_ones_only_there_is_none(quadratic):
    assert cohen_kappa([], [], quadratic=quadratic) is None
    assert cohen_kappa([2, 2], [2, 2], quadratic=quadratic) is None


def test_raters_of_different_things_are_refused():
    with pytest.raises(ValueError, match="cannot be paired"):
        cohen_kappa([1, 2], [1, 2, 3])
