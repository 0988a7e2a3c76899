import numpy as np
import pytest

from evaluation.backends.embedding import batching


@pytest.mark.parametrize("lengths", [[], [5], [3, 9, 1, 9, 2], list(range(1, 200))])
def test_every_row_is_in_one_batch_and_no_batch_is_too_big(lengths):
    batches = batching.plan(lengths, tokens=64, rows=8)
    assert sorted(place for batch in batches for place in batch) == list(range(len(lengths)))
    for batch in batches:
        cost = len(batch) * max(lengths[place] for place in batch)
        assert len(batch) <= 8
        assert cost <= 64 or len(batch) == 1
    longest = [lengths[batch[0]] for batch in batches]
    assert longest == sorted(longest, reverse=True)


def test_every_row_is_computed_once_and_told():
    out = np.zeros(1000)
    told = []

    def compute(batch, factor):
        out[batch] += factor

    batching.run([1 + i % 50 for i in range(1000)], "cpu", lambda batch: 2, compute, told.append)
    assert (out == 2).all()
    assert sum(told) == 1000


def test_an_interruption_ends_the_threads():
    def interrupt(rows):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        batching.run([500] * 100, "cpu", lambda batch: 0, lambda batch, x: None, interrupt)
