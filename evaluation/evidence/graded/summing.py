"""What is kept of a trial of all methods."""

from __future__ import annotations

import numpy as np

from annotations.exchange.graded import MarkedFile
from evaluation.evidence.graded.crowds import GradedCrowds
from evaluation.evidence.graded.trust import Tried
from evaluation.flow.graded.summary import VERSION, GradedSummary
from evaluation.words.message import Message


def summary_of(
    marked: MarkedFile, crowds: GradedCrowds, tried: Tried, seeds: range, seed: int
) -> GradedSummary:
    """Return what is kept of a trial."""
    dealt = "best" if crowds.best else "random"
    notes = [*(Message.of(text) for text in marked.warnings), *crowds.notes]
    return GradedSummary(
        version=VERSION,
        file=marked.name,
        layout=marked.layout,
        dealt="" if crowds.workers is not None else dealt,
        answers=len(crowds.answers.texts),
        workers=crowds.n_workers,
        compared=tried.compared,
        questions=len(np.unique(crowds.answers.questions)),
        held=tried.held,
        repetitions=1 if crowds.workers is not None else len(seeds),
        seed=seed,
        verdict=tried.verdict,
        method=tried.method,
        best=tried.best,
        rival=tried.rival,
        lead=tried.lead,
        rows=tried.rows,
        notes=tuple(note.as_dict() for note in notes),
    )
