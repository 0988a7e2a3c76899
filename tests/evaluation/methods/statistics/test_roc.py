"""The area under the ROC curve, by counting and by somebody else's code."""

import numpy as np
import pytest

from evaluation.methods.statistics.roc import auc


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


def test_it_agrees_with_scikit_learn():
    from sklearn.metrics import roc_auc_score

    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 9, 40), rng.integers(2, 12, 30)
    expected = roc_auc_score([1] * 40 + [0] * 30, np.concatenate([x, y]))
    assert auc(x, y) == pytest.approx(expected)


def test_a_number_that_is_not_finite_is_refused():
    with pytest.raises(ValueError, match="finite"):
        auc([1.0, float("nan")], [0.0])
