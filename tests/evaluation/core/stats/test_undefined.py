"""Ratios without a whole, and numbers without a value."""

import numpy as np

from evaluation.core.stats.cells import convert_nan_to_none, divide_where_positive


def test_a_ratio_is_undefined_where_there_is_no_whole():
    assert divide_where_positive([6, 1, 0], [3, 0, 2]).tolist()[::2] == [2.0, 0.0]
    assert np.isnan(divide_where_positive([6, 1, 0], [3, 0, 2])[1])
    assert divide_where_positive([[6, 9], [1, 2]], [[3], [0]], -1.0).tolist() == [
        [2.0, 3.0],
        [-1.0, -1.0],
    ]


def test_nan_is_none_in_a_result_and_zero_stays_zero():
    assert convert_nan_to_none(np.float64("nan")) is None
    assert convert_nan_to_none(np.float64(0.0)) == 0.0
    assert type(convert_nan_to_none(np.float64(1.5))) is float
