import numpy as np
import pytest
from scipy import stats

from evaluation.core.stats.inference.clustered import (
    compute_clustered_draws,
    compute_clustered_interval,
)
from evaluation.core.stats.inference.intervals import compute_widened_percentile_interval
from evaluation.core.stats.statistics.descriptive import pearson


@pytest.fixture
def pairs():
    rng = np.random.default_rng(2)
    clusters = np.repeat(np.arange(15), 4)
    shared = rng.normal(size=15)[clusters]
    a = shared + rng.normal(size=60)
    return a, shared + a + rng.normal(size=60), clusters


def test_a_draw_holds_whole_clusters():
    # Cluster 0 has rows 0 and 3 (sum 3), cluster 1 row 1, cluster 2 row 2: a draw of three
    # clusters sums to 3a + b + 2c with a + b + c = 3.
    clusters = np.array([0, 1, 2, 0])
    sums = compute_clustered_draws(lambda rows: float(rows.sum()), clusters, 200, seed=1)
    possible = {3 * a + b + 2 * (3 - a - b) for a in range(4) for b in range(4 - a)}
    assert set(sums.tolist()) <= possible
    sizes = compute_clustered_draws(lambda rows: float(len(rows)), clusters, 200, seed=1)
    assert set(sizes.tolist()) == {3.0, 4.0, 5.0, 6.0}


def test_the_interval_is_the_widened_percentile_one_of_these_draws(pairs):
    a, b, clusters = pairs
    found = compute_clustered_interval(
        lambda rows: pearson(a[rows], b[rows]), clusters, 300, seed=3
    )
    assert found.value == pytest.approx(stats.pearsonr(a, b).statistic)
    assert (found.n, found.n_clusters, found.reason) == (60, 15, None)
    draws = compute_clustered_draws(lambda rows: pearson(a[rows], b[rows]), clusters, 300, seed=3)
    interval = compute_widened_percentile_interval(draws, 15)[0]
    assert (found.low, found.high) == (interval.low, interval.high)
    assert found.low < found.value < found.high


def test_rows_of_their_own_clusters_give_a_narrower_interval_where_clusters_share(pairs):
    a, b, clusters = pairs
    whole = compute_clustered_interval(lambda rows: pearson(a[rows], b[rows]), clusters, 400)
    single = compute_clustered_interval(lambda rows: pearson(a[rows], b[rows]), np.arange(60), 400)
    assert whole.high - whole.low > 1.2 * (single.high - single.low)


def test_what_is_undefined_has_its_reason():
    def mean(rows):
        return float(rows.mean())

    assert compute_clustered_interval(mean, []).reason == "nothing_to_compare"
    assert compute_clustered_interval(lambda rows: None, [1, 2]).reason == "no_correlation"
    one = compute_clustered_interval(mean, [7, 7, 7])
    assert (one.value, one.low, one.reason) == (1.0, None, "fewer_than_2_questions")
    with pytest.raises(ValueError, match="at least 2"):
        compute_clustered_interval(mean, [1, 2], n_draws=1)
