"""Codes of labels: whole numbers are counted, everything else is sorted, and both say the same."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.core.stats.cells import encode_labels


def by_hand(labels):
    distinct = list(dict.fromkeys(labels))
    return [distinct.index(label) for label in labels], distinct


NUMBERS = st.one_of(
    st.lists(st.integers(-5, 20)),
    # Far apart: sorted.
    st.lists(st.integers(-(2**62), 2**62)),
)


@given(NUMBERS)
def test_codes_go_by_first_appearance(labels):
    codes, distinct = encode_labels(np.array(labels, dtype=np.int64))
    assert (codes.tolist(), distinct.tolist()) == by_hand(labels)


@pytest.mark.parametrize(
    "labels",
    [
        np.array([100, -100, 100, -128], dtype=np.int8),
        np.array([2**64 - 1, 2**64 - 2, 2**64 - 1], dtype=np.uint64),
        np.array([3, 1, 3], dtype=np.uint16),
        np.array([True, False, True]),
        np.array(["b", "a", "b"]),
        np.array(["b", "a", "b"], dtype=object),
    ],
    ids=lambda labels: str(labels.dtype),
)
def test_labels_of_any_type_keep_it(labels):
    codes, distinct = encode_labels(labels)
    assert (codes.tolist(), distinct.tolist()) == by_hand(labels.tolist())
    assert distinct.dtype == labels.dtype
