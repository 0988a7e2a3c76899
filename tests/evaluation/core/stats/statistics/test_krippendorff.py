"""Krippendorff's alpha: the published example with missing values, by hand, by another formula."""

import numpy as np
import pytest
from statsmodels.stats.inter_rater import fleiss_kappa

from evaluation.core.stats.statistics.agreement import count_ratings, krippendorff_alpha

NAN = np.nan
# Four observers, twelve units (Krippendorff 2011, "Computing Krippendorff's alpha-reliability",
# section C: any number of observers, missing data).
OBSERVERS = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, NAN, NAN, NAN],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NAN, 3],
    [NAN, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NAN],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NAN],
]


def alpha(ratings, level):
    return krippendorff_alpha(*count_ratings(ratings), level)


@pytest.mark.parametrize(
    ("level", "published"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)]
)
def test_the_published_example_has_the_published_alpha(level, published):
    assert round(alpha(np.transpose(OBSERVERS), level), 3) == published


def test_two_raters_of_three_things_by_hand():
    # Ratings 0 0, 0 2, 2 2. Coincidences: 0-0 2, 0-2 1, 2-0 1, 2-2 2; three zeros, three twos.
    # Nominal: 1 - 5 x 2 / (2 x 3 x 3) = 1 - 10 / 18; all levels alike, as there are two values.
    for level in ("nominal", "ordinal", "interval"):
        assert alpha([[0, 0], [0, 2], [2, 2]], level) == pytest.approx(1 - 10 / 18)


def test_ordinal_counts_the_ratings_between_and_interval_measures():
    # Ratings 1 1, 2 10, 10 10: times 2 of 1, 1 of 2, 3 of 10; six in all.
    # Ordinal middles 1, 2.5, 4.5. Within: 2 x (2 - ) only 2-10, twice (4.5 - 2.5)^2 = 4: 8.
    # Expected: 2 (2 x 1 x 1.5^2 + 2 x 3 x 3.5^2 + 1 x 3 x 2^2) = 2 (4.5 + 73.5 + 12) = 180.
    ratings = [[1, 1], [2, 10], [10, 10]]
    assert alpha(ratings, "ordinal") == pytest.approx(1 - 5 * 8 / 180)
    # Interval: within 2 x 64 = 128; expected 2 (2 x 1 + 2 x 3 x 81 + 1 x 3 x 64) = 1360.
    assert alpha(ratings, "interval") == pytest.approx(1 - 5 * 128 / 1360)


@pytest.mark.parametrize("seed", range(3))
def test_with_all_ratings_it_is_fleiss_kappa_of_statsmodels_for_a_small_sample(seed):
    # With n things and k raters alpha = 1 - (1 - kappa) (nk - 1) / nk (Krippendorff 2011).
    counts = np.random.default_rng(seed).multinomial(4, [0.5, 0.3, 0.2], 15)
    found = krippendorff_alpha(counts, [0, 1, 2], "nominal")
    assert found == pytest.approx(1 - (1 - fleiss_kappa(counts)) * 59 / 60)


def test_a_thing_with_one_rating_tells_nothing():
    ratings = [[1, 2, NAN], [2, 2, 2], [1, NAN, 1]]
    assert alpha([*ratings, [NAN, NAN, 2]], "interval") == alpha(ratings, "interval")


def test_where_all_is_the_same_or_nothing_pairs_there_is_none():
    assert alpha([[3, 3], [3, 3]], "interval") is None
    assert alpha([[1, NAN], [NAN, 2]], "nominal") is None
    assert krippendorff_alpha(np.zeros((0, 2)), [0, 1], "ordinal") is None


def test_an_unknown_level_or_a_row_of_ratings_is_refused():
    with pytest.raises(ValueError, match="ratio"):
        alpha([[1, 2], [2, 2]], "ratio")
    with pytest.raises(ValueError, match="raters in columns"):
        count_ratings([1, 2])
    with pytest.raises(ValueError, match="shape"):
        krippendorff_alpha([[1, 1]], [1, 2, 3], "nominal")
