"""The area under the ROC curve and average precision, by counting and by somebody else's code."""

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score

from evaluation.core.stats.statistics.descriptive import auc, average_precision


def test_it_counts_the_pairs_that_are_in_order_ties_half():
    # 3 beats 1 and 2; 2 beats 1 and ties with 2; 4 beats both: 2 + 1.5 + 2 of 6.
    assert auc([3, 2, 4], [1, 2]) == pytest.approx(5.5 / 6)


@pytest.mark.parametrize(
    ("positive", "negative", "expected"),
    [
        ([2, 3], [0, 1], 1.0),
        ([0, 1], [2, 3], 0.0),
        ([1, 1], [1], 0.5),
        ([], [1], None),
        ([1], [], None),
    ],
)
def test_the_ends_and_what_is_undefined(positive, negative, expected):
    assert auc(positive, negative) == expected


def test_average_precision_is_the_precision_at_each_positive():
    # Downwards 4+ 3- 2+ 1-: precision 1/1 at the first, 2/3 at the second.
    assert average_precision([4, 2], [3, 1]) == pytest.approx((1 + 2 / 3) / 2)
    # All alike are found at once: 2 of 6.
    assert average_precision([1, 1], [1, 1, 1, 1]) == pytest.approx(2 / 6)


def test_average_precision_without_a_positive_is_undefined_and_without_a_negative_full():
    assert average_precision([], [1.0]) is None
    assert average_precision([1.0, 2.0], []) == 1.0


def test_both_agree_with_scikit_learn():
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 9, 40), rng.integers(2, 12, 30)
    kind, numbers = [1] * 40 + [0] * 30, np.concatenate([x, y])
    assert auc(x, y) == pytest.approx(roc_auc_score(kind, numbers))
    assert average_precision(x, y) == pytest.approx(average_precision_score(kind, numbers))


@pytest.mark.parametrize("statistic", [auc, average_precision])
def test_a_number_that_is_not_finite_is_refused(statistic):
    with pytest.raises(ValueError, match="finite"):
        statistic([1.0, float("nan")], [0.0])
