"""Build the stored summary of a comparison of methods on graded answers."""

from __future__ import annotations

import numpy as np

from annotations.exchange.graded import MarkedFile
from evaluation.core.messages.message import Message
from evaluation.evidence.graded.crowds import GradedCrowds
from evaluation.evidence.graded.trust import MethodComparison
from evaluation.runs.flow.graded.summary import VERSION, GradedSummary


def build_summary(
    graded_file: MarkedFile,
    crowds: GradedCrowds,
    comparison: MethodComparison,
    seeds: range,
    seed: int,
) -> GradedSummary:
    """Return the stored summary of a comparison of methods."""
    assignment = "best" if crowds.best else "random"
    notes = [*(Message.of(text) for text in graded_file.warnings), *crowds.notes]
    return GradedSummary(
        version=VERSION,
        file=graded_file.name,
        layout=graded_file.layout,
        dealt="" if crowds.workers is not None else assignment,
        answers=len(crowds.answers.texts),
        workers=crowds.n_workers,
        compared=comparison.compared,
        questions=len(np.unique(crowds.answers.questions)),
        held=comparison.held,
        repetitions=1 if crowds.workers is not None else len(seeds),
        seed=seed,
        verdict=comparison.verdict,
        method=comparison.method,
        best=comparison.best,
        rival=comparison.rival,
        lead=comparison.lead,
        rows=comparison.rows,
        notes=tuple(note.as_dict() for note in notes),
    )
