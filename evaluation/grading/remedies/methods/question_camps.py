"""Label each answer with its camp, on questions whose answers fall into two camps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from evaluation.consensus.methods.mean_vote import MeanVote
from evaluation.consensus.methods.votes import scale_to_unit_length
from evaluation.core.stats.cells import Integers
from evaluation.core.stats.grams import Vectors, convert_to_dense
from evaluation.grading.alarms.methods.questions import find_question_camps


@dataclass(frozen=True)
class CampedQuestion:
    """A question whose answers fall into two camps of similar answers, with their sizes.

    Attributes
    ----------
    question : its code. separation : .4 to 1, see `alarms.questions`. sizes : answers in each camp,
        the larger first.
    """

    question: Any
    separation: float
    sizes: tuple[int, ...]


def label_camps(
    vote: MeanVote, vectors: Vectors, seed: int
) -> tuple[Integers, list[CampedQuestion]]:
    """Label each answer with its camp on the question: 1 in the smaller camp, else 0.

    The labels are (N,), in the order of the input rows. Also return the questions with two camps.
    Where a question's camps were found on a sample of its answers, the other answers join the camp
    with the nearer mean direction. `vectors` (N, d) are those of the vote.
    """
    cells = vote.cells
    question_camps = find_question_camps(vote, seed)
    camp = np.zeros(len(cells), dtype=np.int64)
    listed = []
    starts = cells.to_questions(cells.starts)
    sizes = cells.to_questions(cells.sizes)
    for question, (larger, smaller) in zip(
        question_camps.listed.tolist(), question_camps.camps, strict=True
    ):
        question_cells = slice(int(starts[question]), int(starts[question] + sizes[question]))
        worker = cells.worker[question_cells]
        in_second = np.isin(worker, smaller)
        not_sampled = ~in_second & ~np.isin(worker, larger)
        if not_sampled.any():
            x = convert_to_dense(scale_to_unit_length(vectors[cells.row[question_cells]]))
            mean_of_first = x[~in_second & ~not_sampled].mean(axis=0)
            mean_of_second = x[in_second].mean(axis=0)
            nearer = x @ (mean_of_second / np.linalg.norm(mean_of_second)) > x @ (
                mean_of_first / np.linalg.norm(mean_of_first)
            )
            in_second = np.where(not_sampled, nearer, in_second)
        camp[question_cells] = in_second
        count = int(in_second.sum())
        listed.append(
            CampedQuestion(
                question,
                float(question_camps.separation[question]),
                (len(worker) - count, count),
            )
        )
    return cells.to_rows(camp), listed
