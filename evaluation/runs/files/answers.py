"""Convert files of workers' and models' answers into columns to grade."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from annotations.exchange import AnswerFile, ColumnNames, InputError, ModelAnswerFile, read_answers
from annotations.exchange.presets.advice import advised
from annotations.exchange.reading.duplicates import Duplicates
from evaluation.consensus.inputs import Answers, GradingInput, ModelAnswers
from evaluation.consensus.signatures import hash_file
from evaluation.consensus.vectors import Embedded, EmbedTexts
from evaluation.core.backends import parse_spec
from evaluation.runs.files.vectors import read_vectors

CONVERT = "manage.py convert_answers {file} --preset {preset} --output answers.csv"


def read_worker_answers(path: Path, columns: ColumnNames, duplicates: Duplicates) -> AnswerFile:
    """Return a file's worker answers; for another tool's export, the error names the import."""
    try:
        return read_answers(path, columns, duplicates)
    except InputError as error:
        raise advised(error, path, CONVERT) from error


def load_precomputed(
    given: GradingInput, answers: AnswerFile, models: ModelAnswerFile | None
) -> tuple[EmbedTexts | None, dict[str, str]]:
    """Return a function that yields the file's vectors, and its hash; None for other embedders.

    Raises `EmbedderError` where the file does not fit the answers.
    """
    target = parse_spec(given.parameters.embedder)
    if target.kind != "precomputed":
        return None, {}
    path = Path(target.target)
    vectors = read_vectors(path, given, answers, models)
    return partial(_return_vectors, vectors), {"vectors": hash_file(path)}


def convert_answers(file: AnswerFile) -> Answers:
    """Return a file's worker answers as columns to grade; each key is the row number."""
    return Answers.of(
        (
            *(record.row, record.worker, record.question, record.text, record.is_rejected),
            record.facts and record.facts.submitted_at,
        )
        for record in file.records
    )


def convert_model_answers(file: ModelAnswerFile) -> ModelAnswers:
    """Return a file's model answers as columns to grade; a missing sample number is 0."""
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


def check_not_empty(answers: AnswerFile, given: GradingInput) -> None:
    """Raise `InputError` if a file of workers' answers has no answer to grade."""
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


def _return_vectors(
    made: Embedded, answers: Sequence[str], models: Sequence[str] | None
) -> Embedded:
    """Return the precomputed vectors unchanged; the texts are not used."""
    return made
