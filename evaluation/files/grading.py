"""Grade a file of answers: the flow behind ``manage.py evaluate aqer``, told once.

Read the answers (and the models'), embed them, grade, and write all tables together. Nothing is
written if anything fails.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from annotations.exchange import (
    AnswerFile,
    AnswerStatus,
    ColumnNames,
    InputError,
    ModelAnswerFile,
    ModelAnswerRecord,
    OutputFolder,
    read_answers,
    read_model_answers,
)
from evaluation.backends import parse_spec
from evaluation.files.graded import FileGrading
from evaluation.files.remedies import (
    excluded_workers,
    graded_answers,
    outside_information,
    refuse_to_replace_grades,
)
from evaluation.files.tables import ANCHORS, files_of, write_tables
from evaluation.files.vectors import read_vectors
from evaluation.flow.alarm_crowd import crowd_for_alarms
from evaluation.flow.alarms import GradedAnswers, alarms_of
from evaluation.flow.embed import Embedded, Progress, embed, entailment_scores
from evaluation.flow.grade import ModelColumns, grade
from evaluation.flow.parameters import AqerParameters
from evaluation.flow.signatures import file_hash
from evaluation.methods.aqer.electorate import RemedyError
from evaluation.methods.grams import Vectors
from evaluation.texts.spelling import corrected


@dataclass(frozen=True)
class GradingRequest:
    """What to grade, how, and where the tables go."""

    answers: Path
    models: Path | None
    columns: ColumnNames
    parameters: AqerParameters
    output: Path
    exclude_workers: Path | None = None
    anchors: Path | None = None


def grade_file(request: GradingRequest, progress: Progress | None = None) -> FileGrading:
    """Grade and write; returns what was written.

    Raises
    ------
    InputError
        A file, or what it holds, cannot be used; nothing was written.
    BackendError
        The answers cannot be embedded; nothing was written.
    """
    _refuse_to_replace_inputs(request)
    if request.parameters.suggest_anchors:
        refuse_to_replace_grades(request.output / ANCHORS)
    with OutputFolder(request.output) as folder:
        grading = _grading(request, progress)
        write_tables(folder, grading)
    return grading


def _refuse_to_replace_inputs(request: GradingRequest) -> None:
    target = parse_spec(request.parameters.embedder)
    vectors = Path(target.target) if target.kind == "precomputed" else None
    written = [request.output / name for name in files_of(request.parameters)]
    inputs = (request.answers, request.models, vectors, request.exclude_workers, request.anchors)
    for path in inputs:
        if path is not None and any(_are_one_file(path, table) for table in written):
            raise InputError.single(
                str(path),
                f"a table of this name is written into {request.output} and would replace the file",
                "Choose another folder with --output.",
            )


def _are_one_file(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except (OSError, ValueError):  # one of them is not there
        return False


def _grading(request: GradingRequest, progress: Progress | None) -> FileGrading:
    parameters = request.parameters
    answers, n_rejected = _without_rejected(
        read_answers(request.answers, request.columns), parameters
    )
    models = None
    if request.models is not None:
        models = _asked_once(read_model_answers(request.models, request.columns))
    answered = [record for record in answers.records if record.text]
    if not answered:
        raise InputError.single(
            answers.name, "every answer is empty", "Check that --columns names the right column."
        )
    hashes = {"answers": answers.sha256}
    if models is not None:
        hashes["models"] = models.sha256
    if request.exclude_workers is not None:
        listed = excluded_workers(request.exclude_workers, request.columns, answers)
        parameters = replace(parameters, exclude_workers=tuple(listed.lines))
        hashes["exclude_workers"] = listed.sha256
    anchors = graded_answers(request.anchors, request.columns)
    if anchors is not None:
        hashes["anchors"] = anchors.sha256
    outside = outside_information(parameters, answers, answered, anchors)
    target = parse_spec(parameters.embedder)
    if target.kind == "precomputed":
        path = Path(target.target)
        embedded = read_vectors(path, parameters, answers, answered, models)
        hashes["vectors"] = file_hash(path)
    else:
        texts = outside.texts
        spoken = None if models is None else [record.text for record in _with_text(models)]
        if parameters.spelling is not None:
            both, done = corrected([*texts, *(spoken or ())], parameters.spelling)
            plain = embed(parameters, texts, None, progress).answers
            outside = replace(outside, plain_vectors=plain, spelling=done)
            texts = both[: len(texts)]
            spoken = None if models is None else both[len(texts) :]
        embedded = _embedded(parameters, texts, models, spoken, progress)
    workers = [record.worker for record in answered]
    questions = [record.question for record in answered]
    initial = None
    if parameters.init == "entailment":
        initial = entailment_scores(parameters.nli or "", outside.texts, questions, progress)
    of_models = None if models is None else _columns(models, embedded)
    try:
        graded = grade(
            parameters,
            embedded.answers,
            workers,
            questions,
            initial,
            of_models,
            progress,
            outside=outside,
        )
    except RemedyError as error:
        raise InputError.single(answers.name, str(error)) from error
    columns = GradedAnswers(outside.texts, workers, questions, embedded.answers, of_models)
    crowd, columns = crowd_for_alarms(parameters, graded, columns, outside)
    return FileGrading(
        parameters,
        answers,
        models,
        answered,
        embedded,
        graded,
        alarms_of(parameters, crowd, columns, progress),
        hashes,
        n_rejected,
    )


def _without_rejected(answers: AnswerFile, parameters: AqerParameters) -> tuple[AnswerFile, int]:
    """Leave out what our own export calls rejected, as a run over the database does."""
    if parameters.include_rejected:
        return answers, 0
    kept = [record for record in answers.records if not record.is_rejected]
    n_rejected = len(answers.records) - len(kept)
    if not kept:
        raise InputError.single(
            answers.name,
            f"all {n_rejected} answers were rejected where they were collected",
            "Add --include-rejected to grade them all the same.",
        )
    n_empty = sum(not record.text for record in kept)
    return replace(answers, records=kept, n_empty=n_empty), n_rejected


def _asked_once(models: ModelAnswerFile) -> ModelAnswerFile:
    """Keep one answer for each model and question: the first sample of its latest asking."""
    latest = {
        (record.model, record.question): record
        for record in models.records
        if record.asking is None or not record.asking.sample
    }
    kept = sorted(latest.values(), key=lambda record: record.row)
    n_empty = sum(record.status is AnswerStatus.EMPTY for record in kept)
    return replace(models, records=kept, n_empty=n_empty)


def _embedded(
    parameters: AqerParameters,
    texts: Sequence[str],
    models: ModelAnswerFile | None,
    spoken: Sequence[str] | None,
    progress: Progress | None,
) -> Embedded:
    embedded = embed(parameters, texts, spoken, progress)
    if models is None or embedded.models is None:
        return embedded
    # One row a record: those without a text get that of another, which is never read.
    of_text = np.array([record.status is AnswerStatus.TEXT for record in models.records])
    place = np.maximum(np.cumsum(of_text) - 1, 0)
    rows = embedded.models[place] if len(spoken or ()) else _zeros(embedded.answers, len(place))
    return Embedded(embedded.answers, rows, embedded.info, embedded.warnings)


def _zeros(like: Vectors, rows: int) -> Vectors:
    return np.zeros((rows, like.shape[1]))


def _with_text(models: ModelAnswerFile) -> list[ModelAnswerRecord]:
    return [record for record in models.records if record.status is AnswerStatus.TEXT]


def _columns(models: ModelAnswerFile, embedded: Embedded) -> ModelColumns:
    assert embedded.models is not None
    return ModelColumns(
        models=[record.model for record in models.records],
        questions=[record.question for record in models.records],
        statuses=[record.status for record in models.records],
        vectors=embedded.models,
    )
