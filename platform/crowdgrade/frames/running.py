"""Run a command on DataFrames: write them as files, evaluate, read the results."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from annotations.exchange.problems import InputError as FileInputError
from crowdgrade.frames.declaration import CommandArguments
from crowdgrade.frames.errors import OptionsError, WrittenFile, translate_error
from crowdgrade.frames.inputs import convert_to_frame, find_integer_columns
from crowdgrade.frames.results import Result, choose_library
from evaluation.core.backends import BackendError
from evaluation.core.backends.embedding.registry import REMEDY as VECTORS_REMEDY

Progress = Callable[[str, int, int], None]


def run_evaluation(
    function: str,
    command: str,
    values: Mapping[str, Any],
    arrays: Mapping[str, Any],
    output: str | PathLike[str] | None,
    progress: Progress | None,
) -> Result:
    """Run an ``evaluate`` command on DataFrames or files, and return its result.

    Parameters
    ----------
    function : name of the calling function, for messages. command : name after ``evaluate``.
    values : values of the arguments by name; None for a missing one.
    arrays : vectors of the answers and of the models; None without.
    output : folder for the files; None for a temporary one.

    Raises the errors of `crowdgrade.frames.grade`.
    """
    declaration = CommandArguments(function, command)
    if values.get("facts_model") is not None and output is None:
        # Its replies cost money and would be lost with the temporary folder.
        raise OptionsError("facts_model needs output, a folder for the replies of the model")
    assert declaration.kind.evaluate is not None  # or the command would not exist
    # Only the user can read the folder, and it is deleted with all texts in it.
    with TemporaryDirectory(prefix="crowdgrade-") as place:
        inputs = Path(place, "in")
        inputs.mkdir()
        target = Path(place, "out") if output is None else Path(output).absolute()
        with_vectors = {**values, **_write_vectors(inputs, values, arrays)}
        options, arguments, files = declaration.parse_values(with_vectors, inputs, target)
        before = _list_file_stamps(target)
        try:
            report = declaration.kind.evaluate.run(options, arguments, progress or _ignore_progress)
        except FileInputError as error:
            raise translate_error(error, files) from error
        except BackendError as error:
            raise _translate_backend_error(error, inputs) from error
        changed = [
            name for name, stamp in _list_file_stamps(target).items() if before.get(name) != stamp
        ]
        contents = {name: _read_result_file(target / name, inputs) for name in sorted(changed)}
    return Result(
        function,
        contents,
        # The last part names the temporary folder.
        report=report.rpartition("\n\n")[0] if output is None else report,
        library=_choose_library(values),
        whole_numbers=_find_integer_roles(declaration, values, files),
    )


def _ignore_progress(_stage: str, _done: int, _total: int) -> None:
    """Do nothing; the default progress callback."""


def _write_vectors(
    folder: Path, given: Mapping[str, Any], arrays: Mapping[str, Any]
) -> dict[str, str]:
    """Write the given embeddings to a file; return the option that reads it, {} without any."""
    there = {name: array for name, array in arrays.items() if array is not None}
    if not there:
        return {}
    if given.get("embedder") is not None:
        raise OptionsError("embedder and vectors exclude each other: pass one of them")
    import numpy as np

    path = folder / "vectors.npz"
    try:
        values: dict[str, Any] = {name: np.asarray(array) for name, array in there.items()}
    except ValueError as error:
        raise OptionsError("vectors: the rows are not equally long") from error
    np.savez(path, **values)
    return {"embedder": f"precomputed:{path}"}


def _list_file_stamps(folder: Path) -> dict[str, tuple[int, int]]:
    """Return (inode, time of change) of each file in a folder by name; {} without the folder."""
    if not folder.is_dir():
        return {}
    stats = {path.name: path.stat() for path in folder.iterdir() if path.is_file()}
    return {name: (stat.st_ino, stat.st_mtime_ns) for name, stat in stats.items()}


def _read_result_file(path: Path, folder: Path) -> bytes:
    """Return a result file's content without the path of the temporary input folder."""
    content = path.read_bytes()
    place = f"{folder}/".encode()
    if path.suffix == ".json" and place in content:
        content = content.replace(place, b"")
        path.write_bytes(content)
    return content


def _translate_backend_error(error: BackendError, folder: Path) -> BackendError:
    """Return the error in terms of the arguments, without the path of the temporary folder."""
    message = str(error).replace(f"{folder}/", "")
    # The caller passed arrays and knows no file of vectors.
    for argument, array in (("vectors", "answers"), ("model_vectors", "models")):
        message = message.replace(f"vectors.npz: array {array!r}", argument)
        message = message.replace(f" {array}.csv ", f" {array} ")
    message = re.sub(r", which belongs to \S+, line \d+", "", message)
    message = message.replace(VECTORS_REMEDY, "pass an array with a row of numbers for each row")
    return type(error)(message, error.code, **error.values)


def _choose_library(values: Mapping[str, Any]) -> Any:
    """Return the library of the first DataFrame among the inputs; else as `choose_library`."""
    for name, value in values.items():
        for one in value if isinstance(value, (list, tuple)) else [value]:
            frame = convert_to_frame(name, one)
            if frame is not None:
                return frame.implementation
    return choose_library(sys.modules)


def _find_integer_roles(
    declaration: CommandArguments, values: Mapping[str, Any], files: list[WrittenFile]
) -> set[str]:
    """Return the roles of id columns that hold integers in every DataFrame."""
    roles = {**declaration.column_names, **(values.get("columns") or {})}
    ids = {role: name for role, name in roles.items() if role in ("worker", "question", "model")}
    columns: set[str] = set()
    other: set[str] = set()
    for file in files:
        frame = convert_to_frame(file.argument, values.get(file.argument))
        if frame is not None:
            here = {role for role, name in ids.items() if name in frame.columns}
            whole = find_integer_columns(file.argument, values[file.argument], ids)
            columns |= whole
            other |= here - whole
    return columns - other
