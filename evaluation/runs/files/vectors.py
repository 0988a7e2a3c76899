"""Read precomputed vectors and match them with the rows of the files of answers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annotations.exchange import AnswerFile, ModelAnswerFile
from evaluation.consensus.inputs import GradingInput
from evaluation.consensus.parameters import AqerParameters
from evaluation.consensus.signatures import SHORT, hash_file
from evaluation.consensus.vectors import Embedded
from evaluation.core.backends import EmbedderError, EmbedderInfo, PrecomputedVectors

Values = NDArray[np.floating[Any]]

# The square of a larger number leaves float64 when many are added up.
LARGEST = 1e150
# Rows checked at once: a check makes a copy of them.
AT_ONCE = 65_536


def read_vectors(
    path: Path, given: GradingInput, answers: AnswerFile, models: ModelAnswerFile | None
) -> Embedded:
    """Return the file's vectors of all answers that have a text. Raises `EmbedderError`.

    Rows without a text (empty, refused, error) may hold anything. Raises `EmbedderError`, which
    names the array, its row and the line of the answer it belongs to.
    """
    vectors = PrecomputedVectors.load(path)
    rows = given.answered.keys
    _check_array(path, "answers", vectors.answers, given.parameters, answers, rows)
    model_vectors = None
    if models is not None:
        if vectors.models is None:
            raise EmbedderError(
                f"{path}: there is no array 'models', and --models {models.name} needs one: write "
                "it with numpy.savez(FILE, answers=..., models=...), a row of numbers for each "
                "data row"
            )
        model_rows = [] if given.models is None else given.models.with_text().keys
        _check_array(path, "models", vectors.models, given.parameters, models, model_rows)
        model_vectors = vectors.models[list(model_rows)]
    info = EmbedderInfo(
        spec=f"precomputed:{path.name}",
        model="precomputed",
        revision=hash_file(path)[:SHORT],
        precision=str(vectors.answers.dtype),
        dimension=vectors.answers.shape[1],
    )
    return Embedded(vectors.answers[list(rows)], model_vectors, info)


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
        for bad, reason, remedy in _find_faults(part, parameters):
            if bad.any():
                row = rows[int(np.argmax(bad))]
                line = next(record.line for record in file.records if record.row == row)
                raise EmbedderError(
                    f"{path}: array {array!r}, row {row} (the first is 0), which belongs to "
                    f"{file.name}, line {line}: {reason}: {remedy}"
                )


def _find_faults(part: Values, parameters: AqerParameters) -> list[tuple[Any, str, str]]:
    """Return (mask of bad rows, reason, remedy) for each check of the vectors' values."""
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
