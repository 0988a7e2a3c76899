import numpy as np
import pytest

from evaluation.core.backends.embedding import batching


@pytest.mark.parametrize("lengths", [[], [5], [3, 9, 1, 9, 2], list(range(1, 200))])
def test_every_row_is_in_one_batch_and_no_batch_is_too_big(lengths):
    batches = batching.plan_batches(lengths, tokens=64, rows=8)
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

    batching.run_batches(
        [1 + i % 50 for i in range(1000)], "cpu", lambda batch: 2, compute, told.append
    )
    assert (out == 2).all()
    assert sum(told) == 1000


def test_an_interruption_ends_the_threads():
    def interrupt(rows):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        batching.run_batches([500] * 100, "cpu", lambda batch: 0, lambda batch, x: None, interrupt)


def test_on_a_graphics_card_batches_are_large_and_nothing_runs_in_threads(monkeypatch):
    monkeypatch.setattr(batching, "_run_threads", None)
    seen, told = [], []
    # At most 512 rows and 16,384 tokens: 600 rows of 10 are two batches, rows of 64 end at 256.
    batching.run_batches([10] * 600, "cuda:0", len, lambda batch, n: seen.append(n), told.append)
    batching.run_batches([64] * 300, "cuda:0", len, lambda batch, n: seen.append(n))
    assert seen == [512, 88, 256, 44]
    assert told == [512, 88]
