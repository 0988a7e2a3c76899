"""The tables of a graded file: see platform/docs/data-formats.md, "Written"."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from annotations.exchange import AnswerStatus, OutputFolder
from evaluation.methods import AQER, ModelScores
from evaluation.studies.grading_summary import summary
from evaluation.studies.npz import write_exemplars
from evaluation.studies.undefined import Undefined

if TYPE_CHECKING:
    from evaluation.studies.grading import FileGrading

WORKERS = (
    "worker",
    "grade",
    "raw",
    "raw_low",
    "raw_high",
    "grade_low",
    "grade_high",
    "weight",
    "n_answers",
    "support",
    "rank",
)
ANSWERS = ("worker", "question", "score", "score_leave_one_out")
EXEMPLARS = ("question", "n_answers", "nearest_worker", "nearest_answer", "dispersion")
MODELS = (
    "model",
    "score",
    "score_answered",
    "score_low",
    "score_high",
    "n",
    "n_answered",
    "percentile",
    "rank",
)
MODEL_ANSWERS = ("model", "question", "score", "reason")

FILES = (
    "workers.csv",
    "answers.csv",
    "exemplars.csv",
    "exemplars.npz",
    "models.csv",
    "model_answers.csv",
    "summary.json",
)

NO_ANSWERS = "no_answers"
TOO_FEW = "too_few"

Row = tuple[Any, ...]


def write_tables(folder: OutputFolder, grading: FileGrading) -> None:
    """Write every file of a graded file of answers; without models their tables have no rows."""
    undefined = Undefined()
    folder.write_csv("workers.csv", WORKERS, worker_rows(grading, undefined))
    folder.write_csv("answers.csv", ANSWERS, answer_rows(grading, undefined))
    folder.write_csv("exemplars.csv", EXEMPLARS, exemplar_rows(grading, undefined))
    with folder.open("exemplars.npz") as file:
        aqer = grading.graded.aqer
        write_exemplars(file, aqer.questions_.tolist(), aqer.exemplars(), precision_of(grading))
    folder.write_csv("models.csv", MODELS, model_rows(grading, undefined))
    folder.write_csv("model_answers.csv", MODEL_ANSWERS, model_answer_rows(grading, undefined))
    folder.write_json("summary.json", summary(grading, undefined))


def precision_of(grading: FileGrading) -> np.dtype[Any]:
    """Return the float type of the vectors, at least float32."""
    return np.result_type(grading.embedded.answers.dtype, np.float32)


def worker_rows(grading: FileGrading, undefined: Undefined) -> Iterator[Row]:
    """Yield a row for every worker of the file, in its order."""
    aqer = grading.graded.aqer
    code_of = {worker: code for code, worker in enumerate(aqer.workers_.tolist())}
    for worker in dict.fromkeys(record.worker for record in grading.answers.records):
        if worker in code_of:
            yield _worker_row(aqer, code_of[worker], worker, undefined)
            continue
        for column in (*WORKERS[1:8], "rank"):
            undefined.note("workers.csv", column, worker, NO_ANSWERS)
        yield (worker, *[None] * 7, 0, TOO_FEW, None)


def _worker_row(aqer: AQER, code: int, worker: str, undefined: Undefined) -> Row:
    no_raw = "no_discriminating_question" if aqer.discrimination else "no_shared_question"
    reasons = {"raw": no_raw, "grade": aqer.reason_ or no_raw, "weight": aqer.reason_ or no_raw}
    for column in ("raw_low", "raw_high", "grade_low", "grade_high"):
        reasons[column] = aqer.interval_reasons_[code] or "no_spread"
    numbers = {
        "grade": aqer.grades_[code],
        "raw": aqer.raw_[code],
        "raw_low": aqer.raw_low_[code],
        "raw_high": aqer.raw_high_[code],
        "grade_low": aqer.grade_low_[code],
        "grade_high": aqer.grade_high_[code],
        "weight": aqer.weights_[code],
    }
    cells = [
        undefined.value(number, "workers.csv", column, worker, reasons[column])
        for column, number in numbers.items()
    ]
    rank = int(aqer.ranks_[code]) or None
    supported = bool(aqer.supported_[code])
    if rank is None:
        reason = aqer.reason_ or (TOO_FEW if not supported else no_raw)
        undefined.note("workers.csv", "rank", worker, reason)
    return (worker, *cells, int(aqer.n_answers_[code]), "ok" if supported else TOO_FEW, rank)


def answer_rows(grading: FileGrading, undefined: Undefined) -> Iterator[Row]:
    """Yield a row for every answer of the file, empty ones too, in its order."""
    aqer = grading.graded.aqer
    at = 0
    for record in grading.answers.records:
        key = [record.worker, record.question]
        if not record.text:
            for column in ANSWERS[2:]:
                undefined.note("answers.csv", column, key, "empty")
            yield (*key, None, None)
            continue
        left_out = undefined.value(
            aqer.leave_one_out_scores_[at],
            "answers.csv",
            "score_leave_one_out",
            key,
            "only_answer_to_its_question",
        )
        yield (*key, float(aqer.scores_[at]), left_out)
        at += 1


def exemplar_rows(grading: FileGrading, undefined: Undefined) -> Iterator[Row]:
    """Yield a row for every question of the file, in its order."""
    aqer = grading.graded.aqer
    code_of = {question: code for code, question in enumerate(aqer.questions_.tolist())}
    for question in dict.fromkeys(record.question for record in grading.answers.records):
        code = code_of.get(question)
        if code is None:
            for column in EXEMPLARS[2:]:
                undefined.note("exemplars.csv", column, question, NO_ANSWERS)
            yield (question, 0, None, None, None)
            continue
        nearest = grading.answered[int(aqer.nearest_[code])]
        count = int(aqer.n_workers_of_question_[code])
        yield (question, count, nearest.worker, nearest.text, float(aqer.dispersion_[code]))


def model_rows(grading: FileGrading, undefined: Undefined) -> Iterator[Row]:
    """Yield a row for every model, in the order of the file."""
    scores = grading.graded.models
    if scores is None:
        return
    for code, model in enumerate(scores.models.tolist()):
        yield _model_row(scores, code, model, grading, undefined)


def _model_row(
    scores: ModelScores, code: int, model: str, grading: FileGrading, undefined: Undefined
) -> Row:
    why = scores.reasons[code]
    run_reason = grading.graded.aqer.reason_
    answered = int(scores.n_answered[code])
    no_interval = scores.interval_reasons[code] or "no_interval"
    if no_interval == "no_draws" and run_reason:
        no_interval = run_reason  # draws were asked for, but nobody was ranked
    numbers = {
        "score": (scores.scores[code], why or "no_exemplar"),
        "score_answered": (scores.scores_answered[code], "no_text_answers"),
        "score_low": (scores.low[code], no_interval),
        "score_high": (scores.high[code], no_interval),
        "percentile": (
            scores.percentiles[code],
            why or run_reason or ("no_supported_worker" if answered else "no_text_answers"),
        ),
    }
    cell = {
        column: undefined.value(number, "models.csv", column, model, reason)
        for column, (number, reason) in numbers.items()
    }
    rank = int(scores.ranks[code]) or None
    if rank is None:
        undefined.note("models.csv", "rank", model, why or "no_comparison")
    return (
        model,
        cell["score"],
        cell["score_answered"],
        cell["score_low"],
        cell["score_high"],
        int(scores.n[code]),
        answered,
        cell["percentile"],
        rank,
    )


def model_answer_rows(grading: FileGrading, undefined: Undefined) -> Iterator[Row]:
    """Yield a row for every answer of a model, in the order of the file."""
    scores = grading.graded.models
    if scores is None or grading.models is None:
        return
    for at, record in enumerate(grading.models.records):
        score = float(scores.answer_scores[at])
        reason = scores.answer_reasons[at]
        if reason == "no_text" or record.status is AnswerStatus.ERROR:
            reason = str(record.status)
        if np.isnan(score):
            key = [record.model, record.question]
            undefined.note("model_answers.csv", "score", key, reason or "no_exemplar")
        yield (record.model, record.question, None if np.isnan(score) else score, reason)
