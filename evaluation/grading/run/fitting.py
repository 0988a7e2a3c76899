"""Fit AQER to the answers of a crowd, then score models against its exemplary answers."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from annotations.exchange import AnswerStatus
from evaluation.consensus.inputs import (
    EmbeddedAnswers,
    EmbedTexts,
    GradingInput,
    Progress,
    embed,
    embed_graded_answers,
)
from evaluation.consensus.methods.resampling import DrawStore
from evaluation.consensus.parameters import AqerParameters
from evaluation.core.stats.cells import Floats
from evaluation.core.stats.grams import Vectors
from evaluation.grading.crowd import GradedCrowd, ModelColumns, RemedyInputs, build_labels
from evaluation.grading.remedies.run import RemedyReport, grade_with_remedies


@dataclass(frozen=True)
class GradedWithRemedies(GradedCrowd):
    """A graded crowd with the effects of its remedies (None without remedies)."""

    remedies: RemedyReport | None = None


def classify_reply_status(status: AnswerStatus) -> str:
    """Return how a reply counts in a model's score: "text", "no_text" or "error"."""
    if status is AnswerStatus.TEXT:
        return "text"
    return "error" if status.is_missing else "no_text"


def grade_vectors(
    parameters: AqerParameters,
    vectors: Vectors,
    workers: Sequence[Hashable],
    questions: Sequence[Hashable],
    initial_scores: NDArray[np.float64] | None = None,
    models: ModelColumns | None = None,
    progress: Progress | None = None,
    draw_store: DrawStore | None = None,
    outside: RemedyInputs | None = None,
    question_groups: Sequence[str] | None = None,
) -> GradedWithRemedies:
    """Return the workers' grades and the models' scores, computed from vectors of answers.

    `question_groups` are the passages or categories of the answers' questions, "" for none.

    `outside` is what remedies need, if any are requested; they may raise `RemedyError`.
    """
    report_draws: Callable[[int, int], None] | None = None
    if progress is not None:
        # Not None in the closure either: a type checker would not know it of `progress`.
        report_progress = progress

        def report_draws(done: int, total: int) -> None:
            """Report how many bootstrap draws are finished."""
            report_progress("intervals", done, total)

    columns = (vectors, build_labels(workers), build_labels(questions))
    plain = report = None
    if parameters.remedies:
        remedied_grading = grade_with_remedies(
            parameters,
            *columns,
            outside or RemedyInputs(),
            initial_scores,
            report_draws,
            draw_store,
            question_groups,
        )
        aqer, plain, report = remedied_grading.aqer, remedied_grading.plain, remedied_grading.report
    else:
        aqer = parameters.build_estimator().fit(
            *columns, initial_scores, report_draws, draw_store, question_groups=question_groups
        )
    if models is None:
        return GradedWithRemedies(aqer, None, plain, report)
    kinds = [classify_reply_status(status) for status in models.statuses]
    scores = aqer.score_models(
        models.vectors, build_labels(models.models), build_labels(models.questions), kinds
    )
    return GradedWithRemedies(aqer, scores, plain, report)


def compute_aqer_scores(
    grading_input: GradingInput,
    embed_texts: EmbedTexts | None = None,
    progress: Progress | None = None,
) -> tuple[Floats, Floats, EmbeddedAnswers]:
    """Return workers' leave-one-out scores, models' scores, and the answers' vectors.

    The scores are (N,) over the answers with a text, NaN for the only answer to a question, and
    (R,) over the models' answers, empty without models, NaN for an answer without a text and for a
    question without workers' answers. Raises `BackendError`.
    """
    embedded = embed_graded_answers(
        grading_input, embed_texts or partial(embed, grading_input.parameters, progress=progress)
    )
    answers, models = grading_input.answered, grading_input.models
    model_columns = None
    if models is not None:
        assert embedded.models is not None
        model_columns = ModelColumns(
            models.models, models.questions, models.statuses, embedded.models
        )
    graded = grade_vectors(
        grading_input.parameters,
        embedded.answers,
        answers.workers,
        answers.questions,
        models=model_columns,
    )
    model_scores = np.zeros(0) if graded.models is None else graded.models.answer_scores
    return graded.aqer.leave_one_out_scores_, model_scores, embedded
