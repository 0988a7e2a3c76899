"""Which questions have two right answers, as far as the answers tell: their camps, as labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from evaluation.consensus.methods.mean_vote import MeanVote
from evaluation.consensus.methods.votes import unit_rows
from evaluation.grading.alarms.methods.questions import question_camps
from evaluation.methods.cells import Integers
from evaluation.methods.grams import Vectors, dense


@dataclass(frozen=True)
class CampedQuestion:
    """A question whose answers fall in two camps.

    Attributes
    ----------
    question : its code. separation : .4 to 1, see `alarms.questions`. sizes : answers in each camp,
        the larger first.
    """

    question: Any
    separation: float
    sizes: tuple[int, ...]


def camps_of_answers(
    vote: MeanVote, vectors: Vectors, seed: int
) -> tuple[Integers, list[CampedQuestion]]:
    """Return (N,) the camp of each input row, 0 but for the smaller camp of a listed question.

    Of a question with so many answers that its camps were found on a sample, the others join the
    camp whose mean direction they are nearest to. `vectors` (N, d) are those of the vote.
    """
    cells = vote.cells
    found = question_camps(vote, seed)
    camp = np.zeros(len(cells), dtype=np.int64)
    listed = []
    starts = cells.to_questions(cells.starts)
    sizes = cells.to_questions(cells.sizes)
    for question, (larger, smaller) in zip(found.listed.tolist(), found.camps, strict=True):
        here = slice(int(starts[question]), int(starts[question] + sizes[question]))
        worker = cells.worker[here]
        second = np.isin(worker, smaller)
        unknown = ~second & ~np.isin(worker, larger)
        if unknown.any():
            x = dense(unit_rows(vectors[cells.row[here]]))
            first = x[~second & ~unknown].mean(axis=0)
            other = x[second].mean(axis=0)
            nearer = x @ (other / np.linalg.norm(other)) > x @ (first / np.linalg.norm(first))
            second = np.where(unknown, nearer, second)
        camp[here] = second
        count = int(second.sum())
        listed.append(
            CampedQuestion(
                question,
                float(found.separation[question]),
                (len(worker) - count, count),
            )
        )
    return cells.to_rows(camp), listed
