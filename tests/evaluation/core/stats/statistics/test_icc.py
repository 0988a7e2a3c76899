"""Intraclass correlations: the table of Shrout and Fleiss 1979, by hand, and an analysis of
variance of statsmodels."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from statsmodels.stats.anova import anova_lm

from evaluation.core.stats.statistics.agreement import intraclass_correlation

# Four judges rate six targets (Shrout and Fleiss 1979, table 2).
TARGETS = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]


def test_the_published_table_has_the_published_correlations():
    found = intraclass_correlation(TARGETS)
    assert round(found.single, 2) == 0.29
    assert round(found.mean, 2) == 0.62
    assert (found.n, found.raters, found.left_out) == (6, 4, 0)


def test_two_raters_of_three_things_by_hand():
    # Ratings 1 2, 3 3, 5 4: mean 3; rows' means 1.5, 3, 4.5: MSR = 2 (2.25 + 0 + 2.25) / 2 = 4.5.
    # Both columns have the mean 3: MSC = 0. In all 4 + 1 + 0 + 0 + 4 + 1 = 10, the rest 10 - 9 = 1:
    # MSE = 1 / 2. Single (4.5 - .5) / (4.5 + .5 + 2 (0 - .5) / 3) = 4 / 4.6667; mean
    # 4 / (4.5 - .5 / 3) = 4 / 4.3333.
    found = intraclass_correlation([[1, 2], [3, 3], [5, 4]])
    assert found.single == pytest.approx(4 / (14 / 3))
    assert found.mean == pytest.approx(4 / (13 / 3))


@pytest.mark.parametrize("seed", range(3))
def test_the_mean_squares_are_those_of_statsmodels(seed):
    rng = np.random.default_rng(seed)
    n, k = 12, 3
    x = rng.normal(size=(n, 1)) + 0.5 * rng.normal(size=k) + rng.normal(size=(n, k))
    rows = pd.DataFrame(
        {"y": x.ravel(), "thing": np.repeat(np.arange(n), k), "rater": np.tile(np.arange(k), n)}
    )
    squares = anova_lm(smf.ols("y ~ C(thing) + C(rater)", rows).fit())
    msr, msc, mse = squares["mean_sq"].tolist()
    found = intraclass_correlation(x)
    assert found.single == pytest.approx(
        (msr - mse) / (msr + (k - 1) * mse + k * (msc - mse) / n), abs=1e-10
    )
    assert found.mean == pytest.approx((msr - mse) / (msr + (msc - mse) / n), abs=1e-10)


def test_a_milder_rater_disagrees_and_the_scale_does_not_matter():
    alike = intraclass_correlation([[1, 1], [3, 3], [5, 5]])
    assert (alike.single, alike.mean) == (pytest.approx(1), pytest.approx(1))
    milder = intraclass_correlation([[1, 2], [3, 4], [5, 6]])
    # MSR = 8, MSC = 1.5, MSE = 0: 8 / (8 + 2 x 1.5 / 3) = 8 / 9.
    assert milder.single == pytest.approx(8 / 9)
    shifted = intraclass_correlation(1e3 * (np.array(TARGETS) + 100.0))
    assert shifted.single == pytest.approx(intraclass_correlation(TARGETS).single)


def test_things_that_not_all_rated_are_left_out_and_counted():
    found = intraclass_correlation([*TARGETS, [1, np.nan, 2, 3], [np.nan] * 4])
    assert found.single == pytest.approx(intraclass_correlation(TARGETS).single)
    assert (found.n, found.left_out) == (6, 2)


@pytest.mark.parametrize("ratings", [[[3, 3], [3, 3]], [[1, 2]], [[1], [2]], [[np.nan, 1]] * 3])
def test_where_all_is_the_same_or_nothing_is_shared_there_is_none(ratings):
    found = intraclass_correlation(ratings)
    assert (found.single, found.mean) == (None, None)


def test_what_is_no_table_of_numbers_is_refused():
    with pytest.raises(ValueError, match="things in rows"):
        intraclass_correlation([1, 2, 3])
    with pytest.raises(ValueError, match="finite"):
        intraclass_correlation([[1, np.inf], [2, 3]])
