"""Workers dealt from graded answers, where nobody knows who wrote which (section 6.1, Table 2)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation.evidence.data_sets import GradedAnswers

CROWD = 20


@dataclass(frozen=True)
class Dealt:
    """A simulated crowd: which answers (rows of the corpus) were dealt to which worker."""

    rows: NDArray[np.int64]
    workers: NDArray[np.int64]

    def truth(self, grades: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return (M,) the mean expert grade of what each worker was dealt."""
        return np.bincount(self.workers, weights=grades[self.rows]) / np.bincount(self.workers)


def deal(
    corpus: GradedAnswers,
    tier: int,
    seed: int,
    noise: float = 0.0,
    crowd: int = CROWD,
    *,
    best: bool = True,
) -> Dealt:
    """Deal every question's best answers to a crowd of workers, in tiers of `tier`.

    Each gets one; questions with fewer answers than workers are left out.

    `noise` is the standard deviation of what is added to the grades for the dealing. Unless the
    `best` ones are dealt, the answers are drawn at random before they are ranked.
    """
    rng = np.random.default_rng(seed)
    grades = corpus.grades
    if noise:
        grades = grades + rng.normal(0.0, noise, len(grades))
    rows, workers = [], []
    for question in dict.fromkeys(corpus.questions.tolist()):
        answers = np.flatnonzero(corpus.questions == question)
        if not best:
            answers = rng.permutation(answers)[:crowd]
        ties = rng.random(len(answers))
        ranked = answers[np.lexsort((ties, -grades[answers]))][:crowd]
        if len(ranked) < crowd:
            continue
        for first in range(0, crowd, tier):
            rows.append(rng.permutation(ranked[first : first + tier]))
            workers.append(np.arange(first, first + tier))
    return Dealt(np.concatenate(rows), np.concatenate(workers))
