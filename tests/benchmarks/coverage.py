"""How often intervals hold what they promise: 500 samples of questions, against 10,000 questions.

A setting is a pool of 10,000 questions answered by workers and two models of known noise. The value
of a raw score, or of a difference between models, is what AQER finds on the whole pool: the value
of the rule, not the truth. Then 500 samples of few questions are graded, each with its intervals.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context

import numpy as np

from evaluation.consensus import AQER, ModelScores
from evaluation.core.stats.cells import Floats, Integers
from tests.benchmarks.results import Claim, Figure, Findings, figure

POOL = 10_000
SAMPLES = 500
DRAWS = 400
DIMENSION = 32
# Standard deviation of the noise of workers, from the best to the worst, and of the two models;
# the truth's is 1.
NOISE = (0.5, 2.0)
MODEL_NOISE = (0.8, 1.0)
# Standard deviation of the logarithm of what a question multiplies all noise with.
DIFFICULTY = 0.4
COVERS = Claim("between", 0.92, upper=0.98)


@dataclass(frozen=True)
class CrowdSize:
    """A crowd: how many workers, questions in a sample, and answers to each question."""

    workers: int
    questions: int
    answers: int

    def __str__(self) -> str:
        sparse = f", {self.answers} answers each" if self.answers < self.workers else ""
        return f"{self.workers} workers x {self.questions} questions{sparse}"


@dataclass(frozen=True)
class Rule:
    """How intervals are made: with leave-one-out or without, from draws or in closed form."""

    leave_one_out: bool
    n_draws: int

    def __str__(self) -> str:
        left = "leave-one-out" if self.leave_one_out else "plain"
        return left if self.n_draws else f"{left}, closed form"


SETTINGS = (
    CrowdSize(6, 10, 6),
    CrowdSize(20, 30, 20),
    CrowdSize(60, 10, 60),
    CrowdSize(20, 30, 6),
    CrowdSize(60, 87, 8),
)
RULES = (Rule(False, DRAWS), Rule(True, DRAWS), Rule(True, 0))


@dataclass(frozen=True)
class Coverage:
    """Shares of intervals that hold the value, 0 to 1.

    Attributes
    ----------
    raw : of workers' raw scores, over samples and workers; `worst` of the worker least covered.
    difference : of the difference between the two models, over samples.
    undefined : share of raw scores without an interval, which `raw` leaves out.
    """

    setting: CrowdSize
    rule: Rule
    raw: float
    worst: float
    difference: float
    undefined: float


@dataclass(frozen=True)
class Pool:
    """Q questions with m answers of workers and two of models each.

    Attributes
    ----------
    answers : (Q, m, d). workers : (Q, m) who gave them. models : (Q, 2, d).
    """

    answers: Floats
    workers: Integers
    models: Floats

    def grade(self, chosen: Integers, rule: Rule, seed: int) -> tuple[AQER, ModelScores]:
        """Grade some questions."""
        n, m, d = len(chosen), self.answers.shape[1], self.answers.shape[2]
        aqer = AQER(leave_one_out=rule.leave_one_out, n_draws=rule.n_draws, seed=seed)
        aqer.fit(
            self.answers[chosen].reshape(-1, d),
            self.workers[chosen].ravel(),
            np.repeat(np.arange(n), m),
        )
        models = self.models[chosen].reshape(-1, d)
        names = np.tile(np.array(["a", "b"]), n)
        return aqer, aqer.score_models(models, names, np.repeat(np.arange(n), 2))


def pool(setting: CrowdSize, size: int = POOL, seed: int = 0) -> Pool:
    """Return the pool of a setting; in a sparse one random workers answer each question."""
    rng = np.random.default_rng(seed)
    if setting.answers < setting.workers:
        order = np.argsort(rng.random((size, setting.workers)), axis=1)
        workers = order[:, : setting.answers]
    else:
        workers = np.tile(np.arange(setting.workers), (size, 1))
    truth = rng.standard_normal((size, 1, DIMENSION))
    harder = np.exp(DIFFICULTY * rng.standard_normal((size, 1, 1)))
    noise = np.linspace(*NOISE, setting.workers)[workers][:, :, None] * harder
    answers = truth + noise * rng.standard_normal((*workers.shape, DIMENSION))
    models = np.array(MODEL_NOISE)[None, :, None] * harder
    return Pool(answers, workers, truth + models * rng.standard_normal((size, 2, DIMENSION)))


def measure(
    setting: CrowdSize, rule: Rule, samples: int = SAMPLES, size: int = POOL, seed: int = 0
) -> Coverage:
    """Grade samples of questions and count the intervals that hold the value of the whole pool."""
    made = pool(setting, size, seed)
    whole, models = made.grade(np.arange(size), Rule(rule.leave_one_out, 0), seed)
    value = np.full(setting.workers, np.nan)
    value[whole.workers_.astype(np.int64)] = whole.raw_
    difference = _difference(models)[0]
    rng = np.random.default_rng([seed, 1])
    held, known = np.zeros(setting.workers), np.zeros(setting.workers)
    held_difference = 0
    for sample in range(samples):
        chosen = rng.choice(size, setting.questions, replace=False)
        aqer, models = made.grade(chosen, rule, sample)
        there = ~np.isnan(aqer.raw_low_)
        who = aqer.workers_[there].astype(np.int64)
        known[who] += 1
        held[who] += (aqer.raw_low_[there] <= value[who]) & (value[who] <= aqer.raw_high_[there])
        _, low, high = _difference(models)
        held_difference += low <= difference <= high
    return Coverage(
        setting,
        rule,
        raw=float(held.sum() / known.sum()),
        worst=float((held[known > 0] / known[known > 0]).min()),
        difference=held_difference / samples,
        undefined=float(1 - known.sum() / (samples * setting.workers)),
    )


def _difference(models: ModelScores) -> tuple[float, float, float]:
    (pair,) = models.comparisons
    assert pair.difference is not None
    assert pair.low is not None
    assert pair.high is not None
    return pair.difference, pair.low, pair.high


def of_intervals(
    settings: Sequence[CrowdSize] = SETTINGS, samples: int = SAMPLES, size: int = POOL
) -> Findings:
    """Measure all settings by all rules, a process for each core."""
    jobs = [(setting, rule) for setting in settings for rule in RULES]
    run = partial(_measure, samples=samples, size=size)
    # Processes that begin anew: copies of one that has threads may hang.
    with ProcessPoolExecutor(os.cpu_count(), get_context("spawn")) as processes:
        found = list(processes.map(run, jobs))
    return Findings(
        [row for coverage in found for row in _rows(coverage)],
        [
            f"{samples} samples of questions; {DRAWS} draws where there are draws; the value is "
            f"that of {size:,} questions answered by the same workers",
            "an interval is for the value of the rule, not for the truth: where workers collude it "
            "is narrow around the wrong value",
        ],
    )


def _measure(job: tuple[CrowdSize, Rule], samples: int, size: int) -> Coverage:
    return measure(*job, samples=samples, size=size)


def _rows(found: Coverage) -> Iterator[Figure]:
    setting, rule = str(found.setting), found.rule
    yield figure(setting, f"{rule}: raw scores", found.raw, "share", COVERS)
    yield figure(setting, f"{rule}: raw score least covered", found.worst, "share")
    if found.undefined:
        yield figure(setting, f"{rule}: raw scores without", found.undefined, "share")
    yield figure(setting, f"{rule}: model difference", found.difference, "share", COVERS)
