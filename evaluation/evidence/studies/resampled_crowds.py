"""Raise alarms on samples of a crowd's workers, in parallel processes.

It stands apart from the study, because a process that begins anew must read no more than this.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from evaluation.consensus.parameters import AqerParameters
from evaluation.core.stats.grams import Vectors
from evaluation.grading.alarms.messages import IN_PART, OF_QUESTIONS, choose_case
from evaluation.grading.alarms.run.detection import Alarms, GradedAnswers, detect_alarms

# What rings or is told of people alone, in the order of the table, and by which check it is known
# whether there was anything to look at; None where there always is.
ALARMS: dict[str, str | None] = {
    "copies": "copies",
    "clique": "copies",
    "two_camps": "two_camps",
    OF_QUESTIONS: OF_QUESTIONS,
    "leverage": "leverage",
    "grader_disagreement": "grader_disagreement",
}
NOTICES: dict[str, str | None] = {
    IN_PART: "copies",
    "dont_know": None,
    "concentrated_weight": "concentrated_weight",
    "unstable_ranking": "unstable_ranking",
    "no_convergence": None,
}
# Draws of questions, for `unstable_ranking`; a median of agreements needs no more.
DRAWS = 50


@dataclass(frozen=True)
class RealCrowd:
    """Answers of a real crowd with their workers, questions and vectors.

    Attributes
    ----------
    workers : (N,) codes from 0. questions : (N,) labels. embedder : SPEC of the vectors (N, d).
    """

    texts: Sequence[str]
    workers: NDArray[np.int64]
    questions: NDArray[np.str_]
    vectors: Vectors
    embedder: str

    @property
    def n_workers(self) -> int:
        """Number of workers."""
        return int(self.workers.max()) + 1

    def sample(self, size: int, seed: int) -> NDArray[np.int64]:
        """Return the rows of all answers of `size` random workers."""
        chosen = np.random.default_rng(seed).choice(self.n_workers, size, replace=False)
        return np.flatnonzero(np.isin(self.workers, chosen))


@dataclass(frozen=True)
class Resample:
    """Some answer rows of a crowd, and the workers assigned to them (None: the crowd's own)."""

    crowd: str
    rows: NDArray[np.int64]
    workers: NDArray[np.int64] | None = None


@dataclass(frozen=True)
class Inspection:
    """Kinds of alarms raised in a resample, and kinds with enough answers to be computed."""

    raised: frozenset[str]
    inspected: frozenset[str]

    @classmethod
    def from_alarms(cls, alarms: Alarms) -> Inspection:
        """Build the object from a grading's alarms and checks."""
        computed = {check.check for check in alarms.checks if check.statistic is not None}
        return cls(
            frozenset(
                choose_case(one.kind, one.severity, bool(one.workers)) for one in alarms.found
            ),
            frozenset(
                case
                for case, check in (ALARMS | NOTICES).items()
                if check is None or check in computed
            ),
        )


def inspect_resample(crowd: RealCrowd, resample: Resample) -> Inspection:
    """Grade a resample and return its alarms."""
    rows = resample.rows
    workers = crowd.workers[rows] if resample.workers is None else resample.workers
    questions, vectors = crowd.questions[rows], crowd.vectors[rows]
    parameters = AqerParameters(embedder=crowd.embedder, bootstrap=DRAWS)
    aqer = parameters.estimator().fit(vectors, workers, questions)
    texts = [crowd.texts[row] for row in rows.tolist()]
    answers = GradedAnswers(texts, workers.tolist(), questions.tolist(), vectors)
    return Inspection.from_alarms(detect_alarms(parameters, aqer, answers))


def inspect_resamples(
    crowds: dict[str, RealCrowd], resamples: Iterable[Resample]
) -> Iterator[Inspection]:
    """Yield the alarms of the resamples in order, computed in one process per core."""
    # Processes that begin anew: copies of one that has threads may hang.
    with ProcessPoolExecutor(
        os.cpu_count(), get_context("spawn"), _start_process, (crowds,)
    ) as processes:
        yield from processes.map(_inspect_in_process, resamples, chunksize=10)


_crowds: dict[str, RealCrowd] = {}


def _start_process(crowds: dict[str, RealCrowd]) -> None:
    """Store the crowds in a new process and limit it to one thread."""
    _crowds.update(crowds)
    threadpool_limits(1)


def _inspect_in_process(resample: Resample) -> Inspection:
    """Return the alarms of a resample of a crowd that the process holds."""
    return inspect_resample(_crowds[resample.crowd], resample)
