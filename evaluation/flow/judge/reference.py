"""AQER's own scores of the answers that a judge scores, to set beside the judge's."""

from __future__ import annotations

from functools import partial

import numpy as np

from evaluation.flow.fitting import ModelColumns, grade
from evaluation.flow.inputs import GradingInput
from evaluation.flow.vectors import Embedded, EmbedTexts, Progress, embed, vectors_of
from evaluation.methods.cells import Floats


def aqer_scores(
    given: GradingInput, embed_texts: EmbedTexts | None = None, progress: Progress | None = None
) -> tuple[Floats, Floats, Embedded]:
    """Return leave-one-out scores of the workers' answers, scores of the models', and the vectors.

    (N,) of `given.answered`, NaN for a question's only answer; (R,) of `given.models`, empty
    without, NaN where there is no text or nobody answered. Raises `BackendError`.
    """
    embedded = vectors_of(given, embed_texts or partial(embed, given.parameters, progress=progress))
    answers, spoken = given.answered, given.models
    columns = None
    if spoken is not None:
        assert embedded.models is not None
        columns = ModelColumns(spoken.models, spoken.questions, spoken.statuses, embedded.models)
    graded = grade(
        given.parameters,
        embedded.answers,
        answers.workers,
        answers.questions,
        models=columns,
    )
    of_models = np.zeros(0) if graded.models is None else graded.models.answer_scores
    return graded.aqer.leave_one_out_scores_, of_models, embedded
