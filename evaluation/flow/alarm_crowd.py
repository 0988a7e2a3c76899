"""Which crowd the alarms look at where a grading has remedies."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from evaluation.flow.alarms import GradedAnswers
from evaluation.flow.grade import Graded, labels_of
from evaluation.flow.parameters import AqerParameters
from evaluation.flow.remedies import OutsideInformation
from evaluation.methods import AQER


def crowd_for_alarms(
    parameters: AqerParameters,
    graded: Graded,
    answers: GradedAnswers,
    outside: OutsideInformation | None = None,
) -> tuple[AQER, GradedAnswers]:
    """Return the grading and the answers that alarms are to be looked for in.

    Without remedies those of the run. With remedies the plain run: what is wrong with a crowd stays
    wrong where a remedy makes the best of it. Excluded workers are no part of the crowd any more,
    so without them it is graded once again, plainly.
    """
    if graded.plain is None:
        return graded.aqer, answers
    plain_vectors = outside and outside.plain_vectors
    if plain_vectors is not None:
        answers = replace(answers, vectors=plain_vectors, models=None)
    out = set(outside.excluded) if outside else set()
    if not out:
        return graded.plain, answers
    rows = np.flatnonzero([worker not in out for worker in answers.workers])
    kept = rows.tolist()
    answers = replace(
        answers,
        texts=[answers.texts[row] for row in kept],
        workers=[answers.workers[row] for row in kept],
        questions=[answers.questions[row] for row in kept],
        vectors=answers.vectors[rows],
        rows=kept,
    )
    plain = replace(parameters.without_remedies(), bootstrap=0, init="equal", nli=None)
    aqer = plain.estimator().fit(
        answers.vectors, labels_of(answers.workers), labels_of(answers.questions)
    )
    return aqer, answers
