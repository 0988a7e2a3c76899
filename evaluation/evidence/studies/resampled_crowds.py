"""Looking at samples of a crowd's workers for alarms, in processes beside each other.

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
from evaluation.grading.alarms.messages import IN_PART, OF_QUESTIONS, case_of
from evaluation.grading.alarms.run.detection import Alarms, GradedAnswers, alarms_of
from evaluation.methods.grams import Vectors

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
    """N answers of a crowd: who gave which to what, and their vectors.

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
        """Return the rows of all answers of `size` different random workers."""
        chosen = np.random.default_rng(seed).choice(self.n_workers, size, replace=False)
        return np.flatnonzero(np.isin(self.workers, chosen))


@dataclass(frozen=True)
class Resample:
    """Some rows of a crowd, and who is taken to have given them (workers of the crowd if None)."""

    crowd: str
    rows: NDArray[np.int64]
    workers: NDArray[np.int64] | None = None


@dataclass(frozen=True)
class Heard:
    """What rang in a resample, and what could be looked at; cases of `ALARMS` and `NOTICES`."""

    rang: frozenset[str]
    looked: frozenset[str]

    @classmethod
    def of(cls, seen: Alarms) -> Heard:
        """Read what a grading found."""
        known = {check.check for check in seen.checks if check.statistic is not None}
        return cls(
            frozenset(case_of(one.kind, one.severity, bool(one.workers)) for one in seen.found),
            frozenset(
                case
                for case, check in (ALARMS | NOTICES).items()
                if check is None or check in known
            ),
        )


def heard_in(crowd: RealCrowd, resample: Resample) -> Heard:
    """Grade a resample and look at it, as every grading does."""
    rows = resample.rows
    workers = crowd.workers[rows] if resample.workers is None else resample.workers
    questions, vectors = crowd.questions[rows], crowd.vectors[rows]
    parameters = AqerParameters(embedder=crowd.embedder, bootstrap=DRAWS)
    aqer = parameters.estimator().fit(vectors, workers, questions)
    texts = [crowd.texts[row] for row in rows.tolist()]
    answers = GradedAnswers(texts, workers.tolist(), questions.tolist(), vectors)
    return Heard.of(alarms_of(parameters, aqer, answers))


def heard_in_all(crowds: dict[str, RealCrowd], resamples: Iterable[Resample]) -> Iterator[Heard]:
    """Look at resamples, a process for each core; yields in their order."""
    # Processes that begin anew: copies of one that has threads may hang.
    with ProcessPoolExecutor(os.cpu_count(), get_context("spawn"), _begin, (crowds,)) as processes:
        yield from processes.map(_heard, resamples, chunksize=10)


_crowds: dict[str, RealCrowd] = {}


def _begin(crowds: dict[str, RealCrowd]) -> None:
    """Make the crowds known to a process, and leave it one core."""
    _crowds.update(crowds)
    threadpool_limits(1)


def _heard(resample: Resample) -> Heard:
    return heard_in(_crowds[resample.crowd], resample)
