"""Assign graded answers to simulated workers: the data set names no authors (6.1, Table 2)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation.evidence.data_sets import GradedAnswers

CROWD = 20


@dataclass(frozen=True)
class AnswerAssignment:
    """Row numbers of the corpus answers that each simulated worker gives."""

    rows: NDArray[np.int64]
    workers: NDArray[np.int64]

    def compute_true_grades(self, grades: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return each simulated worker's mean expert grade over its answers."""
        return np.bincount(self.workers, weights=grades[self.rows]) / np.bincount(self.workers)


def assign_answers(
    corpus: GradedAnswers,
    tier: int,
    seed: int,
    noise: float = 0.0,
    crowd: int = CROWD,
    *,
    best: bool = True,
) -> AnswerAssignment:
    """Assign each question's best answers to `crowd` simulated workers, in tiers of `tier`.

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
        # Ties at random, as in the paper's Table 2.
        ties = rng.random(len(answers))
        ranked = answers[np.lexsort((ties, -grades[answers]))][:crowd]
        if len(ranked) < crowd:
            continue
        for first in range(0, crowd, tier):
            rows.append(rng.permutation(ranked[first : first + tier]))
            workers.append(np.arange(first, first + tier))
    return AnswerAssignment(np.concatenate(rows), np.concatenate(workers))
