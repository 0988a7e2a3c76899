"""Pearson's and Spearman's correlation, by hand, against scipy, and where they are undefined."""

import numpy as np
import pytest
from scipy import stats

from evaluation.core.stats.statistics.descriptive import pearson, round_for_ties, spearman

NAN = float("nan")


def test_pearsons_by_hand():
    # Differences to the means: -1 0 1 and -2 1 1; 3 / sqrt(2 * 6).
    assert pearson([1, 2, 3], [0, 3, 3]) == pytest.approx(3 / np.sqrt(12))


def test_spearmans_by_hand_with_mean_ranks_for_ties():
    # Ranks 1 2 3 and 1 2.5 2.5, differences to 2: -1 0 1 and -1 .5 .5; 1.5 / sqrt(2 * 1.5).
    assert spearman([1, 2, 30], [0, 3, 3]) == pytest.approx(1.5 / np.sqrt(3))


@pytest.mark.parametrize("seed", range(5))
def test_both_are_those_of_scipy(seed):
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 8, 30)  # with ties
    b = a + rng.normal(size=30) * 3
    assert pearson(a, b) == pytest.approx(stats.pearsonr(a, b).statistic, abs=1e-12)
    assert spearman(a, b) == pytest.approx(stats.spearmanr(a, b).statistic, abs=1e-12)


@pytest.mark.parametrize("correlation", [pearson, spearman])
def test_a_pair_with_a_missing_number_is_left_out_before_ranking(correlation):
    a, b = [1, NAN, 3, 4, 9], [2, 7, NAN, 1, 5]
    assert correlation(a, b) == correlation([1, 4, 9], [2, 1, 5])
    assert correlation([1, None, 3, 4, 9], [2, 7, None, 1, 5]) == correlation(a, b)


@pytest.mark.parametrize("correlation", [pearson, spearman])
def test_only_the_pairs_among_those_asked_for_count(correlation):
    among = np.array([True, False, True, True])
    assert correlation([1, 9, 3, 4], [2, 0, 6, 5], among) == correlation([1, 3, 4], [2, 6, 5])


@pytest.mark.parametrize("correlation", [pearson, spearman])
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ([], []),
        ([1], [2]),
        ([1, NAN], [2, 3]),  # one pair left
        ([1, 1, 1], [1, 2, 3]),
        ([1, 2, 3], [5, 5, 5]),
        ([1, 2, NAN], [5, 5, 6]),  # no spread among those left
    ],
)
def test_without_two_pairs_or_without_spread_there_is_none(correlation, one, other):
    assert correlation(one, other) is None


@pytest.mark.parametrize("correlation", [pearson, spearman])
def test_columns_that_cannot_be_paired_are_refused(correlation):
    with pytest.raises(ValueError, match="cannot be paired"):
        correlation([1, 2], [1, 2, 3])


def test_scores_that_differ_by_the_last_bits_share_a_rank():
    scores, truth = [0.1 + 0.2, 0.3, 0.5], [1.0, 2.0, 3.0]
    assert scores[0] > scores[1]
    # Ranks 1.5, 1.5, 3 against 1, 2, 3: 1.5 / sqrt(1.5 * 2).
    assert spearman(round_for_ties(scores), truth) == pytest.approx(1.5 / 3**0.5)
    # Told apart, they are 2, 1, 3: 1 - 6 * 2 / (3 * 8).
    assert spearman(scores, truth) == pytest.approx(0.5)
