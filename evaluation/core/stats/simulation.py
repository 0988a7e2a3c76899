"""Simulate crowds with a known truth, for stress tests of AQER (Yahav et al. 2025, app. F).

A question's truth is a vector of independent standard normal numbers. A worker answers it with
the truth plus a bias plus noise. Groups of workers differ in their noise, their bias and in whether
their members err together. This is the simulator of Yahav et al. 2025, appendix F, built from its
description: `build_few_worker_groups`, `build_noisy_groups`, `build_correlated_weak_groups` and
`build_biased_groups` are its four stress tests.

It differs from the authors' script in two points; functions for the script's way are included:

- A worker's true quality is the mean cosine of its answers to the truth of the same questions
  (`quality`). The script averages over all pairs of an answer and a truth, of other questions too
  (`compute_script_quality`).
- The script does not bring the answer that correlated workers share to unit variance, so their
  answers correlate higher than its rho says: `compute_actual_correlation`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evaluation.core.stats.cells import Floats, Integers, divide_where_positive


@dataclass(frozen=True)
class WorkerGroup:
    """A group of simulated workers with the same noise, bias and error correlation.

    Attributes
    ----------
    size : how many, 0 or more.
    noise : standard deviation of every number of an answer around the truth's; the truth's is 1.
    bias : added to every number of an answer.
    rho : None for workers who err independently. Otherwise, 0 to 1, they share one answer to each
        question, made with this noise and bias: a worker's answer is rho times it, centred, plus
        sqrt(1 - rho^2) standard noise, standardised.
    """

    size: int
    noise: float
    bias: float = 0.0
    rho: float | None = None

    def __post_init__(self) -> None:
        """Raise ValueError for a negative size or noise, infinite bias, or rho outside 0..1."""
        if self.size < 0 or self.noise < 0 or not math.isfinite(self.bias):
            raise ValueError(f"size and noise must not be negative, bias finite: {self}")
        if self.rho is not None and not 0 <= self.rho <= 1:
            raise ValueError(f"rho must lie in 0..1, got {self.rho}")


@dataclass(frozen=True)
class SimulatedCrowd:
    """Simulated answers of workers to questions, as vectors, with the true answers.

    Attributes
    ----------
    vectors : (N, d) answers. workers, questions : (N,) numbers 0..M-1 and 0..Q-1.
    truth : (Q, d). group : (M,) place of each worker's group in the list of groups.
    """

    vectors: Floats
    workers: Integers
    questions: Integers
    truth: Floats
    group: Integers

    @property
    def n_workers(self) -> int:
        """Number of workers, including those without an answer."""
        return len(self.group)

    @property
    def n_questions(self) -> int:
        """Number of questions."""
        return len(self.truth)

    def compute_quality(self) -> Floats:
        """Return each worker's true quality: mean cosine of answers to their true answers.

        -1 to 1; NaN for a worker without an answer.
        """
        x, y = _scale_to_unit_length(self.vectors), _scale_to_unit_length(self.truth)
        return self._compute_mean_by_worker(np.einsum("nd,nd->n", x, y[self.questions]))

    def compute_script_quality(self) -> Floats:
        """Return each worker's quality as in the authors' script, by all questions' true answers.

        It is the mean cosine of a worker's answers to the true answers of all questions.

        This is the authors' measure of quality. Of its Q^2 cosines only Q compare an answer with
        the truth of its own question; the others are noise, or measure the bias alone.
        """
        mean = _scale_to_unit_length(self.truth).mean(axis=0)
        return self._compute_mean_by_worker(_scale_to_unit_length(self.vectors) @ mean)

    def _compute_mean_by_worker(self, values: Floats) -> Floats:
        """Return each worker's mean of one value per answer; NaN without an answer."""
        n = np.bincount(self.workers, minlength=self.n_workers)
        total = np.bincount(self.workers, weights=values, minlength=self.n_workers)
        return divide_where_positive(total, n)


def simulate_crowd(
    groups: Sequence[WorkerGroup],
    n_questions: int,
    dimension: int,
    seed: int,
    answers_per_question: int | None = None,
) -> SimulatedCrowd:
    """Return a crowd simulated from groups of workers; equal arguments give equal answers.

    Parameters
    ----------
    groups : workers are numbered in their order.
    answers_per_question : None where everybody answers everything. Otherwise that many workers
        answer each question: those with the fewest answers so far, ties at random, so that
        everybody gets about the same number.

    Raises
    ------
    ValueError : no worker, question or dimension, or more answers than workers.
    """
    n_workers = sum(group.size for group in groups)
    each = n_workers if answers_per_question is None else answers_per_question
    if min(n_workers, n_questions, dimension) < 1:
        raise ValueError("at least one worker, one question and one dimension are needed")
    if not 1 <= each <= n_workers:
        raise ValueError(f"{each} answers a question of {n_workers} workers: give 1 to all of them")
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(len(groups)), [g.size for g in groups]).astype(np.int64)
    truth = rng.standard_normal((n_questions, dimension))
    workers = _draw_answering_workers(rng, n_workers, n_questions, each)
    vectors = np.empty((n_questions, each, dimension))
    for question in range(n_questions):
        kind = group[workers[question]]
        for index, members in enumerate(groups):
            here = kind == index
            vectors[question, here] = _draw_answers(rng, members, truth[question], int(here.sum()))
    return SimulatedCrowd(
        vectors=vectors.reshape(-1, dimension),
        workers=workers.ravel(),
        questions=np.repeat(np.arange(n_questions), each).astype(np.int64),
        truth=truth,
        group=group,
    )


def build_honest_groups(
    n_workers: int, noise: Sequence[float] = (0.5, 1.0, 2.0)
) -> list[WorkerGroup]:
    """Return one group of independent workers for each noise, of about equal size."""
    parts = len(noise)
    sizes = [n_workers // parts + (index < n_workers % parts) for index in range(parts)]
    return [WorkerGroup(size, sd) for size, sd in zip(sizes, noise, strict=True)]


def build_few_worker_groups(n_workers: int) -> list[WorkerGroup]:
    """Return the groups of app. F.2 (few workers): thirds with noise 1, .5 and 2.

    The simulation there has 10 questions and 300 dimensions.
    """
    return build_honest_groups(n_workers, (1.0, 0.5, 2.0))


def build_noisy_groups(level: float, n_workers: int = 30) -> list[WorkerGroup]:
    """Return the groups of app. F.3 (noise): thirds with noise `level` + 1.5, + 0.5 and + 1.

    `level` is the script's own count; the axis of the paper's figure has `level` + 0.5, and the
    mean noise of the workers is `level` + 1.
    """
    return build_honest_groups(n_workers, (level + 1.5, level + 0.5, level + 1.0))


def build_correlated_weak_groups(
    rho: float, share: float = 0.5, n_workers: int = 20, weak: float = 3.0, good: float = 0.5
) -> list[WorkerGroup]:
    """Return the groups of app. F.1: some workers are weak, with correlated errors.

    The weak ones come first. Their number is rounded to the nearest whole one.
    """
    n_weak = round(share * n_workers)
    return [WorkerGroup(n_weak, weak, rho=rho), WorkerGroup(n_workers - n_weak, good)]


def build_biased_groups(share: float, n_workers: int = 60, bias: float = 0.5) -> list[WorkerGroup]:
    """Return the groups of app. F.4: a share of workers has a common bias.

    Among the biased and the others alike, half have noise .5 and half 1.
    """
    half = n_workers // 2
    n_biased = round(share * half)
    return [
        WorkerGroup(half - n_biased, 0.5),
        WorkerGroup(n_workers - half - n_biased, 1.0),
        WorkerGroup(n_biased, 0.5, bias),
        WorkerGroup(n_biased, 1.0, bias),
    ]


def compute_actual_correlation(rho: float, noise: float) -> float:
    """Return the correlation of a group's answers with their shared answer, 0 to 1.

    rho s / sqrt(rho^2 s^2 + 1 - rho^2), s = sqrt(1 + noise^2) being the standard deviation of the
    answer they share. Two of them correlate by its square. At noise 3 a rho of .7 is .95.
    """
    s = math.sqrt(1 + noise**2)
    return rho * s / math.sqrt(rho**2 * s**2 + 1 - rho**2)


def _draw_answers(rng: np.random.Generator, group: WorkerGroup, truth: Floats, n: int) -> Floats:
    """Return the answers of `n` members of a group to one question, one row each."""
    shape = (n, len(truth))
    if group.rho is None:
        return np.asarray(truth + group.bias + group.noise * rng.standard_normal(shape))
    shared = truth + group.bias + group.noise * rng.standard_normal(len(truth))
    # Not scaled to unit variance, as in the authors' script: `compute_actual_correlation` gives the
    # correlation that results.
    mixed = group.rho * (shared - shared.mean())
    mixed = mixed + math.sqrt(1 - group.rho**2) * rng.standard_normal(shape)
    mixed -= mixed.mean(axis=1, keepdims=True)
    spread = mixed.std(axis=1, keepdims=True)
    return divide_where_positive(mixed, spread, 0.0)


def _draw_answering_workers(
    rng: np.random.Generator, n_workers: int, n_questions: int, each: int
) -> Integers:
    """Return the workers who answer each question, one row per question."""
    if each == n_workers:
        return np.tile(np.arange(n_workers), (n_questions, 1))
    done = np.zeros(n_workers, dtype=np.int64)
    chosen = np.empty((n_questions, each), dtype=np.int64)
    for question in range(n_questions):
        # lexsort sorts by its last key first: fewest answers so far, then at random.
        order = np.lexsort((rng.random(n_workers), done))
        chosen[question] = np.sort(order[:each])
        done[chosen[question]] += 1
    return chosen


def _scale_to_unit_length(vectors: Floats) -> Floats:
    """Return the vectors (rows) scaled to length 1; zero vectors stay zero."""
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    return divide_where_positive(vectors, norms, 0.0)
