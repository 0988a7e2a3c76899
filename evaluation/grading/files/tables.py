"""Write the result tables of a graded file of answers."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, BinaryIO

import numpy as np

from annotations.exchange import OutputFolder
from evaluation.consensus.parameters import AqerParameters
from evaluation.core.stats.grams import Vectors, convert_to_dense
from evaluation.grading.alarms.run.detection import COLUMNS, Alarm, join_ids
from evaluation.grading.crowd import Undefined
from evaluation.grading.facts.files import (
    AGREEMENT,
    ANSWER_FACTS,
    FACTS,
    add_agreement,
    write_facts,
)
from evaluation.grading.facts.run.records import MODEL, WORKER
from evaluation.grading.files.graded import FileGrading
from evaluation.grading.files.summary import build_alarm_cells, build_summary
from evaluation.grading.run.grade_changes import GradeChange, GradeChanges
from evaluation.grading.run.grading import Grading
from evaluation.grading.run.results import (
    NO_ANSWERS,
    AnswerRow,
    ContrastCells,
    ModelAnswerRow,
    ModelRow,
    Results,
    WorkerRow,
    compute_left_out_means,
)

# Numbers written at once.
PART = 4_000_000


def write_exemplars(
    file: BinaryIO, questions: Sequence[str], vectors: Vectors, dtype: np.dtype[Any]
) -> None:
    """Write exemplars.npz: the exemplary answers' vectors, and the questions in the same order.

    Arrays `questions` (Q,) of text and `vectors` (Q, d); `numpy.load` needs no pickle.
    """
    shape = (int(vectors.shape[0]), int(vectors.shape[1]))
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, allowZip64=True) as archive:
        with archive.open("questions.npy", "w") as entry:
            np.lib.format.write_array(entry, np.array(questions, dtype=np.str_), allow_pickle=False)
        with archive.open("vectors.npy", "w", force_zip64=True) as entry:
            header = {
                "descr": np.lib.format.dtype_to_descr(dtype),
                "fortran_order": False,
                "shape": shape,
            }
            np.lib.format.write_array_header_1_0(entry, header)
            step = max(1, PART // max(shape[1], 1))
            for first in range(0, shape[0], step):
                part = np.ascontiguousarray(
                    convert_to_dense(vectors[first : first + step]), dtype=dtype
                )
                entry.write(part.tobytes())


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

RAW_LEAVE_ONE_OUT = "raw_leave_one_out"
"""Column of workers.csv: the raw score, by which people are paid and invited."""
REMEDIES = "remedies.csv"
ANCHORS = "anchors.csv"


def list_files(parameters: AqerParameters) -> tuple[str, ...]:
    """Return the names of all files that a grading with these parameters writes."""
    is_written = {
        FACTS: parameters.facts,
        ANSWER_FACTS: parameters.facts,
        REMEDIES: parameters.remedies,
        ANCHORS: parameters.suggest_anchors,
    }
    return (*FILES, *(name for name, wanted in is_written.items() if wanted))


def _add_group(
    rows: Iterable[tuple[Any, ...]], groups: Mapping[Any, int], undefined: Undefined
) -> Iterator[tuple[Any, ...]]:
    """Add to each worker's row the number of its group of workers who share questions."""
    for row in rows:
        if row[0] not in groups:
            undefined.note("workers.csv", "group", row[0], "no_shared_question")
        yield (*row, groups.get(row[0]))


def _with_raw_score(
    rows: Iterable[tuple[Any, ...]], means: Mapping[Any, float], undefined: Undefined
) -> Iterator[tuple[Any, ...]]:
    """Add to each worker's row the leave-one-out raw score; None with the reason noted."""
    n_answers = WorkerRow._fields.index("n_answers")
    for row in rows:
        if row[0] not in means:
            reason = "no_shared_question" if row[n_answers] else NO_ANSWERS
            undefined.note("workers.csv", RAW_LEAVE_ONE_OUT, row[0], reason)
        yield (*row, means.get(row[0]))


def _with_contrast(
    rows: Iterable[tuple[Any, ...]], contrasts: Mapping[Any, ContrastCells]
) -> Iterator[tuple[Any, ...]]:
    """Add to each row of a worker or model its question contrast, with its interval."""
    for row in rows:
        yield (*row, *contrasts[row[0]])


def write_tables(folder: OutputFolder, graded: FileGrading) -> None:
    """Write all result tables of a graded file; without models, their tables have no rows."""
    grading = graded.grading
    results = grading.results()
    facts, undefined = grading.facts, results.undefined
    workers = add_agreement(WORKER, results.workers(), facts, undefined)
    header: tuple[str, ...] = (*WorkerRow._fields, *AGREEMENT)
    if groups := results.groups():
        header = (*header, "group")
        workers = _add_group(workers, groups, undefined)
    means = compute_left_out_means(grading.graded.aqer, grading.given.answered.workers)
    workers = _with_raw_score(workers, means, undefined)
    workers = _with_contrast(workers, results.worker_contrasts())
    header = (*header, RAW_LEAVE_ONE_OUT, *ContrastCells._fields)
    folder.write_csv("workers.csv", header, workers)
    folder.write_csv("answers.csv", AnswerRow._fields, results.answers())
    folder.write_csv("exemplars.csv", EXEMPLARS, _iterate_exemplar_rows(grading, results))
    with folder.open("exemplars.npz") as file:
        aqer = grading.graded.aqer
        answered = np.flatnonzero(aqer.n_workers_of_question_)
        names, vectors = aqer.questions_[answered].tolist(), aqer.exemplars()[answered]
        write_exemplars(file, names, vectors, _choose_float_type(grading))
    models = add_agreement(MODEL, results.model_scores(), facts, undefined)
    models = _with_contrast(models, results.model_contrasts())
    of_models = (*ModelRow._fields, *AGREEMENT, *ContrastCells._fields)
    folder.write_csv("models.csv", of_models, models)
    folder.write_csv("model_answers.csv", ModelAnswerRow._fields, results.model_answers())
    folder.write_csv("alarms.csv", COLUMNS, map(build_alarm_row, grading.alarms.found))
    if facts is not None:
        write_facts(folder, facts)
    changes, remedies = grading.changes(), grading.graded.remedies
    if changes is not None:
        _note_empty_cells(changes, results)
        folder.write_csv(REMEDIES, GradeChange._fields, changes.rows)
    if remedies is not None and remedies.suggested is not None:
        folder.write_csv(
            ANCHORS, ANCHOR, _iterate_anchor_rows(grading, remedies.suggested.tolist())
        )
    folder.write_json("summary.json", build_summary(graded, results.undefined))


def _choose_float_type(grading: Grading) -> np.dtype[Any]:
    """Return the number type for stored vectors: that of the embedding, at least float32."""
    return np.result_type(grading.embedded.answers.dtype, np.float32)


def _note_empty_cells(changes: GradeChanges, results: Results) -> None:
    """Record why cells of remedies.csv are empty, in the results' list of reasons."""
    for row in changes.rows:
        for column in GradeChange._fields[1:]:
            if getattr(row, column) is None:
                reason = "no_rank" if column in ("plain_rank", "rank", "change") else "no_grade"
                results.undefined.note(REMEDIES, column, row.worker, reason)


def _iterate_anchor_rows(grading: Grading, rows: Sequence[int]) -> Iterator[tuple[Any, ...]]:
    """Yield a row of anchors.csv for each answer an expert should grade, its grade empty."""
    answers = grading.given.answered
    for row in rows:
        yield (answers.workers[row], answers.questions[row], answers.texts[row], None)


def _iterate_exemplar_rows(grading: Grading, results: Results) -> Iterator[tuple[Any, ...]]:
    """Yield a row of exemplars.csv for each question: nearest answer and dispersion."""
    answers = grading.given.answered
    for row in results.exemplars():
        at = row.nearest
        nearest = (None, None) if at is None else (answers.workers[at], answers.texts[at])
        yield (row.question, row.n_answers, *nearest, row.dispersion)


def build_alarm_row(alarm: Alarm) -> tuple[Any, ...]:
    """Return an alarm as a row of alarms.csv."""
    lists = {"workers": join_ids(alarm.workers), "questions": join_ids(alarm.questions)}
    return tuple({**build_alarm_cells(alarm), **lists}.values())
