"""How far means of vectors lie apart, and how far chance alone brings them."""

import numpy as np
import pytest

from evaluation.core.stats.statistics.descriptive import (
    compute_cosine_distances,
    estimate_chance_distances,
)


def test_distances_by_hand():
    found = compute_cosine_distances(
        [[1, 0], [1, 0], [2, 0], [0, 0]], [[0, 3], [5, 0], [1, 1], [1, 0]]
    )
    # At a right angle 1, the same way 0, half a right angle 1 - sqrt(.5), no direction: none.
    assert found[:3] == pytest.approx([1.0, 0.0, 1 - np.sqrt(0.5)])
    assert np.isnan(found[3])
    with pytest.raises(ValueError, match="cannot be compared"):
        compute_cosine_distances([[1, 0]], [[1, 0, 0]])


def test_chance_by_hand():
    # Twice 5 vectors whose mean has the length .6: squares .36. 5 * .36 - 1 = .8 each, 1.6 in all,
    # by 4 + 4 is .2; .2 / .36 is a cosine of .5556.
    assert estimate_chance_distances([0.4], [5], [0.4], [5]) == pytest.approx([1 - 0.2 / 0.36])
    # Who all say the same are nowhere by chance, however few.
    assert estimate_chance_distances([0.0], [2], [0.0], [3]) == pytest.approx([0.0])
    assert np.isnan(estimate_chance_distances([0.4, np.nan], [1, 9], [0.4, 0.4], [5, 9])).all()


@pytest.mark.parametrize(("spread", "n_one", "n_other"), [(0.5, 10, 10), (1.0, 8, 30), (1.5, 6, 6)])
def test_samples_of_one_crowd_lie_as_far_apart_as_chance_brings(spread, n_one, n_other):
    rng = np.random.default_rng(7)
    distances, expected = [], []
    for _ in range(400):
        middle = rng.normal(size=64)
        means, dispersions = [], []
        for n in (n_one, n_other):
            rows = middle + spread * rng.normal(size=(n, 64))
            rows /= np.linalg.norm(rows, axis=1, keepdims=True)
            means.append(rows.mean(axis=0))
            dispersions.append(1 - np.linalg.norm(means[-1]))
        distances.append(compute_cosine_distances([means[0]], [means[1]])[0])
        expected.append(
            estimate_chance_distances(dispersions[0], n_one, dispersions[1], n_other).item()
        )
    assert np.mean(distances) / np.mean(expected) == pytest.approx(1.0, abs=0.05)


def test_a_crowd_that_moved_lies_further_apart():
    rng = np.random.default_rng(8)
    a, b = np.eye(16)[0], np.eye(16)[0] + np.eye(16)[1]
    means = []
    for middle in (a, b):
        rows = middle + 0.2 * rng.normal(size=(12, 16))
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        means.append(rows.mean(axis=0))
    one, other = (1 - np.linalg.norm(mean) for mean in means)
    # 45 degrees apart: 1 - sqrt(.5) is about .29.
    distance = compute_cosine_distances([means[0]], [means[1]])[0]
    assert distance == pytest.approx(0.29, abs=0.08)
    assert distance > 2 * estimate_chance_distances(one, 12, other, 12).item()
