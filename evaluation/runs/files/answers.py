"""Files of answers and of precomputed vectors as columns to grade.

Read precomputed vectors and match them with the rows of the files of answers. Convert files of
workers' and models' answers into columns to grade.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annotations.exchange import AnswerFile, ColumnNames, InputError, ModelAnswerFile, read_answers
from annotations.exchange.markup import FormattingReader
from annotations.exchange.presets.advice import add_export_hint
from annotations.exchange.reading.duplicates import Duplicates
from annotations.exchange.whole_ids import KnownIdReader
from evaluation.consensus.inputs import (
    Answers,
    EmbeddedAnswers,
    EmbedTexts,
    GradingInput,
    ModelAnswers,
)
from evaluation.consensus.parameters import AqerParameters
from evaluation.consensus.signatures import SHORT, hash_file
from evaluation.core.backends import (
    EmbedderError,
    EmbedderInfo,
    PrecomputedVectors,
    parse_embedder_spec,
)
from evaluation.runs.files.problem_messages import build_error

Values = NDArray[np.floating[Any]]

# The square of a larger number leaves float64 when many are added up.
LARGEST = 1e150
# Rows checked at once: a check makes a copy of them.
AT_ONCE = 65_536


def read_vectors(
    path: Path, grading_input: GradingInput, answers: AnswerFile, models: ModelAnswerFile | None
) -> EmbeddedAnswers:
    """Return the file's vectors of all answers that have a text. Raises `EmbedderError`.

    Rows without a text (empty, refused, error) may hold any values. The message of the error names
    the array, the row and the line of the answer.
    """
    vectors = PrecomputedVectors.load(path)
    rows = grading_input.answered.keys
    _check_array(path, "answers", vectors.answers, grading_input.parameters, answers, rows)
    model_vectors = None
    if models is not None:
        if vectors.models is None:
            raise EmbedderError(
                f"{path}: there is no array 'models', and --models {models.name} needs one: write "
                "it with numpy.savez(FILE, answers=..., models=...), a row of numbers for each "
                "data row"
            )
        model_rows = (
            [] if grading_input.models is None else grading_input.models.select_with_text().keys
        )
        _check_array(path, "models", vectors.models, grading_input.parameters, models, model_rows)
        model_vectors = vectors.models[list(model_rows)]
    info = EmbedderInfo(
        spec=f"precomputed:{path.name}",
        model="precomputed",
        revision=hash_file(path)[:SHORT],
        precision=str(vectors.answers.dtype),
        dimension=vectors.answers.shape[1],
    )
    # Only the rows with a text: what a file holds for the others is ignored.
    return EmbeddedAnswers(vectors.answers[list(rows)], model_vectors, info)


def _check_array(
    path: Path,
    array: str,
    values: Values,
    parameters: AqerParameters,
    file: AnswerFile | ModelAnswerFile,
    used: Sequence[int],
) -> None:
    """Raise `EmbedderError` for a wrong number of rows or an invalid value in a used row."""
    if len(values) != file.n_rows:
        raise EmbedderError(
            f"{path}: array {array!r} has {len(values):,} rows, {file.name} has {file.n_rows:,} "
            "data rows: give one row for each, also for empty and repeated answers"
        )
    for first in range(0, len(used), AT_ONCE):
        rows = used[first : first + AT_ONCE]
        part = values[list(rows)]
        for bad, reason, remedy in _find_value_faults(part, parameters):
            if bad.any():
                row = rows[int(np.argmax(bad))]
                line = next(record.line for record in file.records if record.row == row)
                raise EmbedderError(
                    f"{path}: array {array!r}, row {row} (the first is 0), which belongs to "
                    f"{file.name}, line {line}: {reason}: {remedy}"
                )


def _find_value_faults(part: Values, parameters: AqerParameters) -> list[tuple[Any, str, str]]:
    """Return a (mask of bad rows, reason, remedy) for each check of the vectors' values."""
    finite = np.isfinite(part)
    faults = [
        (
            ~finite.all(axis=1),
            "a value is not finite",
            "embed this answer again, or leave it empty",
        )
    ]
    if parameters.similarity == "euclidean":
        faults.append(
            (
                # Only finite values: the others have a fault of their own, which is listed first.
                (finite & (np.abs(part) > LARGEST)).any(axis=1),
                f"a value is beyond {LARGEST:g}, where distances cannot be computed",
                "divide all vectors by one number, or use --similarity cosine",
            )
        )
    if parameters.aggregation == "majority":
        faults.append(
            (
                ~np.isin(part, (0, 1)).all(axis=1),
                "--aggregation majority needs zeros and ones",
                "use --embedder bow, or --aggregation mean",
            )
        )
    return faults


CONVERT = "manage.py convert_answers {file} --preset {preset} --output answers.csv"

AS_TYPED = {"keep_html": True, "keep_ids": True}
"""Options of `read_worker_answers` with which no cell of a file is changed."""


def read_worker_answers(
    path: Path,
    columns: ColumnNames,
    duplicates: Duplicates | None,
    *,
    keep_html: bool,
    keep_ids: bool,
) -> AnswerFile:
    """Return a file's worker answers; if another tool wrote it, the error names the command.

    The command is `convert_answers`. As there, answers lose the HTML of rich-text fields unless
    `keep_html`, and ids such as 101.0 are read as 101 unless `keep_ids`. `duplicates` is None for a
    command that has no such option.
    """
    try:
        return read_answers(path, columns, duplicates, FormattingReader(keep_html), keep_ids)
    except InputError as error:
        raise add_export_hint(error, path, CONVERT) from error


def read_answers_to_items(
    path: Path, columns: ColumnNames, items: Iterable[str], *, keep_html: bool, keep_ids: bool
) -> AnswerFile:
    """Return a file's worker answers to items of another file, in which `items` are the ids.

    As `read_worker_answers`; a question 101 is read as 101.0, or the reverse, where the items have
    this id only in the other form, unless `keep_ids`.
    """
    file = read_worker_answers(path, columns, None, keep_html=keep_html, keep_ids=keep_ids)
    known = KnownIdReader((("", item) for item in items), keeps=keep_ids)
    return replace(file, records=known.match_record_ids(file.records))


def load_precomputed_vectors(
    grading_input: GradingInput, answers: AnswerFile, models: ModelAnswerFile | None
) -> tuple[EmbedTexts | None, dict[str, str]]:
    """Return a function that returns the file's vectors, and {"vectors": its hash}.

    Without a file (None, {}).

    The parameters name the file, if their embedder is "precomputed". Raises `EmbedderError` if it
    does not fit the answers.
    """
    target = parse_embedder_spec(grading_input.parameters.embedder)
    if target.kind != "precomputed":
        return None, {}
    path = Path(target.target)
    vectors = read_vectors(path, grading_input, answers, models)
    return partial(_return_vectors, vectors), {"vectors": hash_file(path)}


def convert_answers(file: AnswerFile) -> Answers:
    """Return a file's worker answers as columns to grade; each key is the row number."""
    return Answers.from_rows(
        (
            *(record.row, record.worker, record.question, record.text, record.is_rejected),
            record.facts and record.facts.submitted_at,
        )
        for record in file.records
    )


def convert_model_answers(file: ModelAnswerFile) -> ModelAnswers:
    """Return a file's model answers as columns to grade; a missing sample number is 0."""
    return ModelAnswers.from_rows(
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


def check_has_answers(answers: AnswerFile, grading_input: GradingInput) -> None:
    """Raise `InputError` if a file of workers' answers has no answer to grade."""
    if not len(grading_input.all_answers):
        raise build_error(answers.name, "answers_all_rejected", n=grading_input.n_rejected)
    if not len(grading_input.answered):
        raise build_error(answers.name, "answers_all_empty")


def _return_vectors(
    made: EmbeddedAnswers, answers: Sequence[str], models: Sequence[str] | None
) -> EmbeddedAnswers:
    """Return the precomputed vectors unchanged; the texts are not used."""
    return made
