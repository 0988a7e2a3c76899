"""Read precomputed vectors from an .npz file, one row for each data row of the answer files."""

from __future__ import annotations

import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.core.backends.errors import EmbedderError

REMEDY = "write it with numpy.savez(FILE, answers=..., models=...), rows by vectors of numbers"
ROWS_AT_ONCE = 65_536  # the check for finite values makes a copy of bools of this many rows


@dataclass(frozen=True)
class PrecomputedVectors:
    """Vectors from a file: one row per worker answer, and one per model answer if any.

    Whole numbers and bools become float64. The rows may differ for equal texts.
    """

    path: Path
    answers: NDArray[np.floating[Any]]
    models: NDArray[np.floating[Any]] | None = None

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Return the vectors in an .npz file, read without unpickling. Raises EmbedderError."""
        path = Path(path)
        try:
            # np.load would hand a single array of an .npy file back, and try to unpickle the rest.
            if not zipfile.is_zipfile(path):
                with path.open("rb"):
                    pass
                raise EmbedderError(f"{path}: this is not an .npz file: {REMEDY}", "no_npz")
            with np.load(path, allow_pickle=False) as arrays:
                answers = _read_array(path, arrays, "answers")
                models = _read_array(path, arrays, "models") if "models" in arrays.files else None
        except OSError as error:
            raise EmbedderError(
                f"{path}: the file of vectors cannot be read ({error.strerror or error}): "
                "check its name and the right to read it"
            ) from error
        except zipfile.BadZipFile as error:
            raise EmbedderError(f"{path}: the .npz file is damaged ({error}): {REMEDY}") from error
        if models is not None and models.shape[1] != answers.shape[1]:
            raise EmbedderError(
                f"{path}: answers have {answers.shape[1]} dimensions, models {models.shape[1]}: "
                "embed both with one model"
            )
        return cls(path, answers, models)

    def check(self, array: str, n_rows: int, used_rows: ArrayLike | None = None) -> None:
        """Raise EmbedderError unless the array named `array` fits a file of `n_rows` rows.

        `used_rows`: a mask of n_rows bools or row indices; other rows (EMPTY, REFUSED, ERROR) may
        hold anything; None means all. EmbedderError: array missing, another count of rows, a value
        in a used row that is not finite (with the index of the row, the first is 0).
        """
        values = {"answers": self.answers, "models": self.models}.get(array)
        if values is None:
            raise EmbedderError(f"{self.path}: there is no array {array!r}: {REMEDY}")
        if len(values) != n_rows:
            raise EmbedderError(
                f"{self.path}: array {array!r} has {len(values)} rows, the file of texts {n_rows} "
                "data rows: give one vector for each data row, also for those without text",
                "wrong_count",
                array=array,
                rows=len(values),
                data_rows=n_rows,
            )
        rows = np.arange(n_rows) if used_rows is None else np.asarray(used_rows)
        if rows.dtype == np.bool_:
            rows = np.flatnonzero(rows)
        rows = rows.astype(np.intp)
        for start in range(0, len(rows), ROWS_AT_ONCE):
            part = rows[start : start + ROWS_AT_ONCE]
            bad = ~np.isfinite(values[part]).all(axis=1)
            if bad.any():
                raise EmbedderError(
                    f"{self.path}: array {array!r} holds a value that is not finite in the row "
                    f"with index {part[np.argmax(bad)]} (the first is 0): embed this row again, or "
                    "mark it as empty, refused or error in the file of texts"
                )


def _read_array(path: Path, arrays: Any, name: str) -> NDArray[np.floating[Any]]:
    """Return the file's two-dimensional float array of a name. Raises EmbedderError."""
    if name not in arrays.files:
        array_names = ", ".join(arrays.files) or "none"
        raise EmbedderError(f"{path}: there is no array {name!r} (found: {array_names}): {REMEDY}")
    try:
        values = arrays[name]
    except (ValueError, EOFError, MemoryError) as error:
        # numpy refuses object arrays here, since reading them means unpickling.
        raise EmbedderError(
            f"{path}: array {name!r} cannot be read ({error}); arrays of objects are never "
            f"unpickled: {REMEDY}"
        ) from error
    if not isinstance(values, np.ndarray) or values.dtype.kind not in "fiub":
        kind = getattr(values, "dtype", "no array")
        raise EmbedderError(f"{path}: array {name!r} holds {kind} instead of numbers: {REMEDY}")
    if values.ndim != 2 or values.shape[1] == 0:
        raise EmbedderError(f"{path}: array {name!r} has the shape {values.shape}: {REMEDY}")
    if values.dtype.kind != "f":
        return values.astype(np.float64)
    return values.astype(values.dtype.newbyteorder("="), copy=False)
