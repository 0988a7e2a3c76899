"""Simulated crowds: a true vector a question, and workers with more or less noise around it.

Nothing here says how good AQER is; the crowds only have to be as large as real ones and to take
a believable number of iterations to come to rest.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

# Standard deviation of a worker's noise, from the best to the worst; the signal's is 1.
NOISE = (0.5, 2.0)
# Numbers made at once.
CHUNK = 20_000_000


@dataclass(frozen=True)
class BenchmarkCrowd:
    """N answers: (N, d) float32 vectors, (N,) codes of workers and questions, grouped by question.

    Codes are whole numbers from 0; a question has the same number of answers as any other.
    """

    vectors: NDArray[np.float32]
    workers: NDArray[np.int64]
    questions: NDArray[np.int64]
    n_workers: int
    n_questions: int

    def __len__(self) -> int:
        return len(self.vectors)


def crowd(
    n_workers: int,
    n_questions: int,
    dimension: int,
    answers: int | None = None,
    seed: int = 0,
    pool: NDArray[np.float32] | None = None,
) -> BenchmarkCrowd:
    """Return a crowd with `answers` to each question, by default one of every worker.

    `pool` is standard noise (N, d) to take, from a random row on, instead of making it anew.
    """
    rng = np.random.default_rng(seed)
    each = n_workers if answers is None else answers
    workers = _who_answers(rng, n_workers, n_questions, each)
    questions = np.repeat(np.arange(n_questions), each)
    vectors = np.empty((len(workers), dimension), dtype=np.float32)
    noise = np.linspace(*NOISE, n_workers, dtype=np.float32)
    if pool is not None:
        turn = int(rng.integers(len(pool)))
        vectors[: len(pool) - turn], vectors[len(pool) - turn :] = pool[turn:], pool[:turn]
    step = max(1, CHUNK // (each * dimension)) * each
    for begin in range(0, len(workers), step):
        part = vectors[begin : begin + step]
        if pool is None:
            rng.standard_normal(out=part, dtype=np.float32)
        part *= noise[workers[begin : begin + step], None]
        truth = rng.standard_normal((len(part) // each, 1, dimension), dtype=np.float32)
        by_question = part.reshape(-1, each, dimension)
        by_question += truth
    return BenchmarkCrowd(vectors, workers, questions, n_workers, n_questions)


def blocks(
    n_blocks: int, n_workers: int, n_questions: int, dimension: int, answers: int
) -> Iterator[BenchmarkCrowd]:
    """Yield crowds of the same workers and other questions, made when they are asked for.

    Truth and workers are drawn anew; the noise is one array, begun at another row each time,
    because making it would take longer than all that is measured.
    """
    shape = (n_questions * answers, dimension)
    pool = np.random.default_rng(n_blocks).standard_normal(shape, dtype=np.float32)
    for number in range(n_blocks):
        made = crowd(n_workers, n_questions, dimension, answers, seed=number, pool=pool)
        made.questions[:] += number * n_questions
        yield made


def _who_answers(
    rng: np.random.Generator, n_workers: int, n_questions: int, each: int
) -> NDArray[np.int64]:
    """Different workers for each question: from a random one on, in strides of random length."""
    if each == n_workers:
        return np.tile(np.arange(n_workers), n_questions)
    first = rng.integers(n_workers, size=(n_questions, 1))
    stride = rng.integers(1, max(2, n_workers // each), size=(n_questions, 1))
    return ((first + stride * np.arange(each)) % n_workers).ravel()
