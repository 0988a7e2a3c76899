"""Run a torch model over rows of different length, in batches of equal work on all cores."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Sequence
from typing import Any

import torch

# Measured with MiniLM on two cores: 256 to 1024 tokens are equal within the noise; activations of
# 512 tokens still fit a core's cache, and a batch of short answers has some 20 rows.
TOKENS_ON_PROCESSOR = 512
TOKENS_ON_ACCELERATOR = 16_384
ROWS = 64
ROWS_ON_ACCELERATOR = 512
# Beyond this many threads Python's own share of a batch (its lock) would be waited for.
THREADS = 8
# Thread counts are a setting of the process: two runs at once would restore each other's.
_turn = threading.Lock()


def plan_batches(lengths: Sequence[int], *, tokens: int, rows: int) -> list[list[int]]:
    """Return batches of row indices, longest rows first, limited in rows and in tokens.

    A batch costs rows x length of its longest row, at most `tokens` unless it is a single row.
    Longest rows come first, so that a lack of memory shows at once, and short batches last, so that
    all threads end at about the same time.
    """
    batches: list[list[int]] = []
    for place in sorted(range(len(lengths)), key=lambda place: -lengths[place]):
        batch = batches[-1] if batches else []
        if batch and len(batch) < rows and (len(batch) + 1) * lengths[batch[0]] <= tokens:
            batch.append(place)
        else:
            batches.append([place])
    return batches


def run_batches(
    lengths: Sequence[int],
    device: Any,
    prepare: Callable[[list[int]], Any],
    compute: Callable[[list[int], Any], None],
    done: Callable[[int], None] | None = None,
) -> None:
    """Run a model over all rows, in batches of similar length, on all cores.

    Calls `compute(batch, prepare(batch))` for each batch of row indices.

    `prepare` runs for one batch at a time (fast tokenizers refuse to be shared), `compute` from
    several threads, in inference mode; it stores its own results. `done(n)` is called from the
    calling thread after n more rows. The first error is raised, after all threads have ended.
    """
    if torch.device(device).type != "cpu":
        with torch.inference_mode():
            for batch in plan_batches(
                lengths, tokens=TOKENS_ON_ACCELERATOR, rows=ROWS_ON_ACCELERATOR
            ):
                compute(batch, prepare(batch))
                if done is not None:
                    done(len(batch))
        return
    with _turn:
        cores = torch.get_num_threads()
        batches = plan_batches(lengths, tokens=TOKENS_ON_PROCESSOR, rows=ROWS)
        threads = max(1, min(cores, THREADS, len(batches)))
        try:
            _run_threads(batches, threads, cores // threads, prepare, compute, done)
        finally:
            torch.set_num_threads(cores)


def _run_threads(
    batches: list[list[int]],
    threads: int,
    cores_each: int,
    prepare: Callable[[list[int]], Any],
    compute: Callable[[list[int], Any], None],
    done: Callable[[int], None] | None,
) -> None:
    """Run the batches on several threads, and raise the first error after all have ended."""
    # One thread a batch instead of all threads in each operation: no thread waits after every
    # matrix product. Measured with MiniLM: that waiting took half the time on two busy cores.
    batch_iterator = iter(batches)
    lock, stop = threading.Lock(), threading.Event()
    finished: queue.SimpleQueue[int | BaseException | None] = queue.SimpleQueue()

    def run_worker() -> None:
        """Run batches until none is left or a thread has failed."""
        try:
            torch.set_num_threads(cores_each)
            with torch.inference_mode():
                while not stop.is_set():
                    with lock:
                        batch = next(batch_iterator, None)
                        inputs = prepare(batch) if batch is not None else None
                    if batch is None:
                        break
                    compute(batch, inputs)
                    finished.put(len(batch))
        # Python only prints an exception in a thread: the caller gets it through the queue.
        except BaseException as error:
            stop.set()
            finished.put(error)
        finally:
            finished.put(None)

    workers = [threading.Thread(target=run_worker, daemon=True) for _ in range(threads)]
    for worker in workers:
        worker.start()
    failure: BaseException | None = None
    try:
        running = threads
        while running:
            message = finished.get()
            if message is None:
                running -= 1
            elif isinstance(message, BaseException):
                failure = failure or message
            elif done is not None:
                done(message)
    finally:
        stop.set()
        for worker in workers:
            worker.join()
    if failure is not None:
        raise failure
