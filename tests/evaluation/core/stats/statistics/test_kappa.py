"""Cohen's kappa, by hand and against scikit-learn."""

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import fleiss_kappa as statsmodels_fleiss_kappa

from evaluation.core.stats.statistics.agreement import (
    cohen_kappa,
    compute_fleiss_parts,
    compute_kappa_of_tables,
    fleiss_kappa,
)


def test_kappa_by_hand():
    # They agree on 3 of 4; by chance on 1/2 * 1/4 (no) and 1/2 * 3/4 (yes): 1/2.
    one, other = ["no", "no", "yes", "yes"], ["no", "yes", "yes", "yes"]
    assert cohen_kappa(one, other) == pytest.approx((3 / 4 - 1 / 2) / (1 - 1 / 2))


def test_quadratic_weights_by_hand():
    # Squares 0, 1, 4; of every two ratings 0 4 0, 1 1 1, 4 0 4, which is 15 in 9, three times.
    assert cohen_kappa([0, 1, 2], [0, 2, 0], weights="quadratic") == pytest.approx(
        1 - 5 / (3 * 15 / 9)
    )


def test_linear_weights_by_hand():
    # Differences 0, 1, 2; of every two ratings 0 2 0, 1 1 1, 2 0 2, which is 9 in 9, three times.
    assert cohen_kappa([0, 1, 2], [0, 2, 0], weights="linear") == pytest.approx(1 - 3 / 3)


@pytest.mark.parametrize("weights", [None, "linear", "quadratic"])
@pytest.mark.parametrize("seed", range(3))
def test_it_is_that_of_scikit_learn(seed, weights):
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 6, 40)
    b = np.clip(a + rng.integers(-1, 2, 40), 0, 5)
    expected = cohen_kappa_score(a, b, weights=weights)
    assert cohen_kappa(a, b, weights=weights) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("weights", [None, "linear", "quadratic"])
def test_without_ratings_or_with_equal_ones_only_there_is_none(weights):
    assert cohen_kappa([], [], weights=weights) is None
    assert cohen_kappa([2, 2], [2, 2], weights=weights) is None


def test_raters_of_different_things_are_refused():
    with pytest.raises(ValueError, match="cannot be paired"):
        cohen_kappa([1, 2], [1, 2, 3])


def test_kappa_of_tables_is_cohens_kappa_of_the_ratings():
    rng = np.random.default_rng(5)
    one, other = rng.integers(0, 3, (2, 80))
    table = np.zeros((3, 3))
    np.add.at(table, (one, other), 1)
    assert compute_kappa_of_tables(table) == pytest.approx(cohen_kappa_score(one, other))
    # Weights are ratings that stand for several.
    assert compute_kappa_of_tables(np.stack([table, table * 7])) == pytest.approx(
        [cohen_kappa_score(one, other)] * 2
    )


def test_a_table_of_one_label_or_of_nothing_has_no_kappa():
    assert np.isnan(compute_kappa_of_tables([[[5, 0], [0, 0]], [[0, 0], [0, 0]]])).all()


def test_fleiss_kappa_is_that_of_statsmodels():
    rng = np.random.default_rng(6)
    counts = rng.multinomial(5, [0.5, 0.3, 0.2], 40)
    found = fleiss_kappa(compute_fleiss_parts(counts).sum(axis=0))
    assert found == pytest.approx(statsmodels_fleiss_kappa(counts))


def test_fleiss_kappa_by_hand_where_some_have_fewer_raters():
    # Two raters agree on yes; of three two say yes, one no; a lone rater tells nothing.
    parts = compute_fleiss_parts([[2, 0], [2, 1], [0, 1]])
    assert parts.tolist()[2] == [0, 0, 0, 0]
    # Pairs that agree: 1 and 1/3, mean 2/3. Pooled ratings: 4 of 5 are yes, 1 is no.
    by_chance = (4 / 5) ** 2 + (1 / 5) ** 2
    expected = (2 / 3 - by_chance) / (1 - by_chance)
    assert fleiss_kappa(parts.sum(axis=0)) == pytest.approx(expected)


def test_fleiss_kappa_is_undefined_where_all_say_the_same_and_where_nobody_is_second():
    assert np.isnan(fleiss_kappa(compute_fleiss_parts([[3, 0], [2, 0]]).sum(axis=0)))
    assert np.isnan(fleiss_kappa(compute_fleiss_parts([[1, 0], [0, 1]]).sum(axis=0)))
