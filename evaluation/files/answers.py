"""Answers of people and of models out of files, as columns to grade."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from annotations.exchange import AnswerFile, ColumnNames, InputError, ModelAnswerFile, read_answers
from annotations.exchange.presets.advice import advised
from annotations.exchange.reading.duplicates import Duplicates
from evaluation.backends import parse_spec
from evaluation.consensus.inputs import Answers, GradingInput, ModelAnswers
from evaluation.consensus.signatures import file_hash
from evaluation.consensus.vectors import Embedded, EmbedTexts
from evaluation.files.vectors import read_vectors

CONVERT = "manage.py convert_answers {file} --preset {preset} --output answers.csv"


def read_people(path: Path, columns: ColumnNames, duplicates: Duplicates) -> AnswerFile:
    """Return the workers' answers; the `InputError` of an export of others says how to take it."""
    try:
        return read_answers(path, columns, duplicates)
    except InputError as error:
        raise advised(error, path, CONVERT) from error


def vectors_from(
    given: GradingInput, answers: AnswerFile, models: ModelAnswerFile | None
) -> tuple[EmbedTexts | None, dict[str, str]]:
    """Return what gives the vectors of a file, and its hash; None where they are made anew.

    Raises `EmbedderError` where the file does not fit the answers.
    """
    target = parse_spec(given.parameters.embedder)
    if target.kind != "precomputed":
        return None, {}
    path = Path(target.target)
    made = read_vectors(path, given, answers, models)
    return partial(_as_made, made), {"vectors": file_hash(path)}


def answers_of(file: AnswerFile) -> Answers:
    """Return the workers' answers; a key is the number of the row in its file."""
    return Answers.of(
        (
            *(record.row, record.worker, record.question, record.text, record.is_rejected),
            record.facts and record.facts.submitted_at,
        )
        for record in file.records
    )


def model_answers_of(file: ModelAnswerFile) -> ModelAnswers:
    """Return the models' answers; one of an ordinary file is the first sample of its asking."""
    return ModelAnswers.of(
        (
            record.row,
            record.model,
            record.question,
            record.text,
            record.status,
            record.asking.sample if record.asking else 0,
        )
        for record in file.records
    )


def refuse_nothing(answers: AnswerFile, given: GradingInput) -> None:
    """Raise `InputError` where there is no answer to grade."""
    if not len(given.given):
        raise InputError.single(
            answers.name,
            f"all {given.n_rejected} answers were rejected where they were collected",
            "Add --include-rejected to grade them all the same.",
        )
    if not len(given.answered):
        raise InputError.single(
            answers.name, "every answer is empty", "Check that --columns names the right column."
        )


def _as_made(made: Embedded, answers: Sequence[str], models: Sequence[str] | None) -> Embedded:
    return made
