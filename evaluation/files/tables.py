"""The tables of a graded file: see platform/docs/data-formats.md, "Written"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from annotations.exchange import OutputFolder
from evaluation.files.graded import FileGrading, changes_of
from evaluation.files.npz import write_exemplars
from evaluation.files.summary import summary
from evaluation.flow.grade_changes import GradeChange, GradeChanges
from evaluation.flow.parameters import AqerParameters
from evaluation.flow.results import (
    AlarmRow,
    AnswerRow,
    ModelAnswerRow,
    ModelRow,
    Results,
    WorkerRow,
)

ANCHOR = ("worker", "question", "answer", "grade")
EXEMPLARS = ("question", "n_answers", "nearest_worker", "nearest_answer", "dispersion")

FILES = (
    "workers.csv",
    "answers.csv",
    "exemplars.csv",
    "exemplars.npz",
    "models.csv",
    "model_answers.csv",
    "alarms.csv",
    "summary.json",
)

REMEDIES = "remedies.csv"
ANCHORS = "anchors.csv"


def files_of(parameters: AqerParameters) -> tuple[str, ...]:
    """Return the names of all files that a grading with these parameters writes."""
    asked = {REMEDIES: parameters.remedies, ANCHORS: parameters.suggest_anchors}
    return (*FILES, *(name for name, wanted in asked.items() if wanted))


def write_tables(folder: OutputFolder, grading: FileGrading) -> None:
    """Write every file of a graded file of answers; without models their tables have no rows."""
    results = grading.results()
    aqer = grading.graded.aqer
    folder.write_csv("workers.csv", WorkerRow._fields, worker_rows(grading, results))
    folder.write_csv("answers.csv", AnswerRow._fields, _answer_rows(grading, results))
    folder.write_csv("exemplars.csv", EXEMPLARS, _exemplar_rows(grading, results))
    with folder.open("exemplars.npz") as file:
        answered = np.flatnonzero(aqer.n_workers_of_question_)
        names, vectors = aqer.questions_[answered].tolist(), aqer.exemplars()[answered]
        write_exemplars(file, names, vectors, precision_of(grading))
    folder.write_csv("models.csv", ModelRow._fields, results.model_scores())
    folder.write_csv(
        "model_answers.csv", ModelAnswerRow._fields, _model_answer_rows(grading, results)
    )
    folder.write_csv("alarms.csv", AlarmRow._fields, _alarm_rows(grading))
    if grading.graded.remedies is not None:
        changes = changes_of(grading)
        _note_gaps(changes, results)
        folder.write_csv(REMEDIES, GradeChange._fields, changes.rows)
        if grading.graded.remedies.suggested is not None:
            folder.write_csv(ANCHORS, ANCHOR, _anchor_rows(grading))
    folder.write_json("summary.json", summary(grading, results.undefined))


def precision_of(grading: FileGrading) -> np.dtype[Any]:
    """Return the float type of the vectors, at least float32."""
    return np.result_type(grading.embedded.answers.dtype, np.float32)


def worker_rows(grading: FileGrading, results: Results) -> Iterator[WorkerRow]:
    """Yield a row for every worker of the file, in its order."""
    return results.workers(dict.fromkeys(record.worker for record in grading.answers.records))


def _note_gaps(changes: GradeChanges, results: Results) -> None:
    """Say why cells of remedies.csv are empty."""
    for row in changes.rows:
        for column in GradeChange._fields[1:]:
            if getattr(row, column) is None:
                reason = "no_rank" if column in ("plain_rank", "rank", "change") else "no_grade"
                results.undefined.note(REMEDIES, column, row.worker, reason)


def _anchor_rows(grading: FileGrading) -> Iterator[tuple[Any, ...]]:
    assert grading.graded.remedies is not None
    assert grading.graded.remedies.suggested is not None
    for row in grading.graded.remedies.suggested.tolist():
        record = grading.answered[row]
        yield (record.worker, record.question, record.text, None)


def _answer_rows(grading: FileGrading, results: Results) -> Iterator[AnswerRow]:
    return results.answers(
        (record.worker, record.question, bool(record.text)) for record in grading.answers.records
    )


def _exemplar_rows(grading: FileGrading, results: Results) -> Iterator[tuple[Any, ...]]:
    questions = dict.fromkeys(record.question for record in grading.answers.records)
    for row in results.exemplars(questions):
        nearest = None if row.nearest is None else grading.answered[row.nearest]
        texts = (None, None) if nearest is None else (nearest.worker, nearest.text)
        yield (row.question, row.n_answers, *texts, row.dispersion)


def _model_answer_rows(grading: FileGrading, results: Results) -> Iterator[ModelAnswerRow]:
    records = [] if grading.models is None else grading.models.records
    return results.model_answers(
        [(record.model, record.question, record.status) for record in records]
    )


def _alarm_rows(grading: FileGrading) -> Iterator[tuple[Any, ...]]:
    for row in grading.alarms.rows:
        lists = {"workers": joined(row.workers), "questions": joined(row.questions)}
        yield tuple(row._replace(**lists))  # type: ignore[arg-type]


def joined(ids: Sequence[object]) -> str:
    """Return ids in one cell, parted by semicolons; within an id they get a backslash before."""
    return ";".join(str(one).replace("\\", "\\\\").replace(";", "\\;") for one in ids)
