"""Write several files to a folder so that all of them appear together, or none."""

from __future__ import annotations

import json
import math
import os
import secrets
import shutil
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self, TextIO

from annotations.exchange.problems import InputError, Problem


class OutputFolder:
    """Context manager that moves the files written in it to `path`, all of them or none.

    If the folder did not exist it appears by one rename, parents included; if it did, files of the
    same name are replaced, others are unchanged. After any exception, Ctrl-C too, or if replacing
    fails midway, the folder is as before. Raises `InputError` on entry, before any work, if the
    path is a file or cannot be written to, and later if a file cannot be stored.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._made: list[Path] = []
        self._stage: Path | None = None
        self._files: dict[str, BinaryIO | TextIO] = {}

    def __enter__(self) -> Self:
        try:
            self._create_temporary_folder()
        except (OSError, ValueError) as error:
            self._delete_temporary_folder()
            raise self._wrap_error(error, "folder_unwritable") from error
        except BaseException:
            self._delete_temporary_folder()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        done = False
        try:
            failures = [f for f in map(_close_file, self._files.values()) if f is not None]
            if kind is None:
                try:
                    if failures:
                        raise failures[0]
                    self._move_files_to_path()
                    done = True
                except OSError as failure:
                    raise self._wrap_error(failure, "folder_not_written") from failure
        finally:
            self._delete_temporary_folder(keep_parents=done)

    def open(self, name: str) -> BinaryIO:
        """Return a new binary file in the folder; it is closed at the end of the `with` block.

        Raises ValueError for a name with a folder or one used already, `InputError` if the file
        cannot be created.
        """
        path = self._build_path(name)
        try:
            file = self._files[name] = path.open("xb")
        except OSError as error:
            raise self._wrap_error(error, "folder_file_refused", name=name) from error
        return file

    def write_csv(self, name: str, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
        r"""Write rows as a CSV file in UTF-8, lines ending in \n; None is an empty cell.

        Raises ValueError for NaN, infinity, and a row that is not as long as the header.
        """
        self._write_text_file(name, lambda file: _write_csv_rows(file, name, header, rows))

    def write_lines(self, name: str, pieces: Iterable[str]) -> None:
        """Write text pieces one after another to a UTF-8 file, adding no line ends."""
        self._write_text_file(name, lambda file: file.writelines(pieces))

    def write_json(self, name: str, value: object) -> None:
        """Write a value to a file as JSON, indented by 2; ValueError for NaN and infinity."""

        def write_value(file: TextIO) -> None:
            """Write the value as JSON to the file."""
            options = {"indent": 2, "ensure_ascii": False, "allow_nan": False}
            json.dump(value, file, default=_convert_numpy_scalar, **options)  # type: ignore[arg-type]
            file.write("\n")

        self._write_text_file(name, write_value)

    def _write_text_file(self, name: str, write: Callable[[TextIO], None]) -> None:
        """Create a text file by the function `write`; delete it if the function raises."""
        path = self._build_path(name)
        try:
            with path.open("x", encoding="utf-8", newline="") as file:
                self._files[name] = file
                write(file)
        except BaseException as error:
            # Half a file must not be published, should the caller carry on.
            self._files.pop(name, None)
            path.unlink(missing_ok=True)
            if isinstance(error, OSError):
                raise self._wrap_error(error, "folder_file_refused", name=name) from error
            raise

    def _build_path(self, name: str) -> Path:
        """Return the temporary path of a new file; raise an error for an unusable name."""
        if self._stage is None:
            raise ValueError("files are written inside the with block")
        if not name or Path(name).name != name or name.startswith("."):
            raise ValueError(f"{name!r} is no plain file name")
        if name in self._files:
            raise ValueError(f"{name} was written already")
        target = self.path / name
        if target.is_dir():
            raise InputError.from_code(str(self.path), "folder_in_place", name=name)
        if target.exists() and not target.is_file():
            # A device or a pipe: replacing it by a file would destroy it for all programs.
            raise InputError.from_code(str(self.path), "output_not_ordinary", name=name)
        return self._stage / "new" / name

    def _create_temporary_folder(self) -> None:
        """Create the temporary folder, and the missing parents of the output folder."""
        path = self.path
        if "\0" in str(path):
            raise ValueError("a path holds no NUL character")
        if path.is_dir():
            # Inside it and not beside it: it may be a volume of its own, where a rename from
            # outside fails, in a parent that is not ours to write to.
            parent = path
        elif path.is_symlink() or path.exists():
            raise InputError.from_code(str(path), "output_no_folder")
        else:
            parent = path.absolute().parent
            self._create_missing_parents(parent)
        stage = parent / f".crowdgrade-{secrets.token_hex(6)}"
        self._stage = stage
        stage.mkdir()
        (stage / "new").mkdir()
        (stage / "old").mkdir()

    def _create_missing_parents(self, folder: Path) -> None:
        """Create a folder with its missing parents, recorded for removal after a failure."""
        missing = []
        while not folder.is_dir():
            if folder.exists():
                raise InputError.from_code(str(self.path), "output_parent_file", folder=str(folder))
            missing.append(folder)
            folder = folder.parent
        for folder in reversed(missing):
            folder.mkdir()
            self._made.append(folder)

    def _move_files_to_path(self) -> None:
        """Move all files to the output folder; if one move fails, undo all of them."""
        assert self._stage is not None
        new = self._stage / "new"
        if not self.path.is_dir():
            try:
                new.rename(self.path)
            except BaseException:
                if not new.is_dir():  # interrupted just after the rename
                    self.path.rename(new)
                raise
            return
        old = self._stage / "old"
        try:
            for name in self._files:
                _back_up_file(self.path / name, old / name)
            for name in self._files:
                (new / name).replace(self.path / name)
        except BaseException:
            # What to undo is read off the disk and not off a list: an interrupt may come between
            # a rename and the note that it was done.
            for name in self._files:
                if os.path.lexists(old / name):
                    if not os.path.lexists(new / name):
                        (old / name).replace(self.path / name)
                elif not os.path.lexists(new / name):
                    (self.path / name).unlink(missing_ok=True)
            raise

    def _delete_temporary_folder(self, *, keep_parents: bool = False) -> None:
        """Delete the temporary folder and, after a failure, the created empty parents."""
        if self._stage is not None:
            shutil.rmtree(self._stage, ignore_errors=True)
            self._stage = None
        if not keep_parents:
            for folder in reversed(self._made):
                with suppress(OSError):  # not empty any more: another program has written to it
                    folder.rmdir()
        self._made = []

    def _wrap_error(self, error: Exception, code: str, **values: str) -> InputError:
        """Return an `InputError` for an error of the operating system."""
        cause = getattr(error, "strerror", None) or str(error)
        problem = Problem.from_code(str(self.path), None, None, code, cause=cause, **values)
        return InputError([problem])


def _close_file(file: BinaryIO | TextIO) -> OSError | None:
    """Close a file; return the error if its last bytes could not be written, else None."""
    try:
        file.close()
    except OSError as error:
        return error
    return None


def _back_up_file(target: Path, backup: Path) -> None:
    """Link or copy an existing file to `backup`, so that it is never absent from the folder."""
    if not os.path.lexists(target):
        return
    try:
        os.link(target, backup, follow_symlinks=False)
    except (OSError, NotImplementedError):
        shutil.copy2(target, backup, follow_symlinks=False)  # a file system without hard links


def _write_csv_rows(
    file: TextIO, name: str, header: Sequence[str], rows: Iterable[Sequence[object]]
) -> None:
    """Write a header and rows as CSV; ValueError for a row that is not as long as the header."""
    width = len(header)
    file.write(format_csv_line(header) + "\n")
    for number, row in enumerate(rows):
        if len(row) != width:
            raise ValueError(f"{name}, row {number}: {len(row)} cells, the header has {width}")
        # A row of one empty cell would be an empty line, which readers of CSV skip.
        file.write((format_csv_line(row) or '""') + "\n")


def format_csv_line(cells: Sequence[object]) -> str:
    """Return cells as one line of CSV, quoted where necessary; None is an empty cell.

    Raises ValueError for NaN and infinity.
    """
    return ",".join(_format_csv_cell(cell) for cell in cells)


def _format_csv_cell(value: object) -> str:
    """Return a value as a CSV cell, quoted where necessary; None as ""."""
    if value is None:
        return ""
    if not isinstance(value, str):
        return _format_number(value)
    # csv.writer of Python 3.11 leaves a lone \r unquoted where lines end in \n.
    if any(c in value for c in ',"\r\n'):
        return '"' + value.replace('"', '""') + '"'
    return str(value)


def _format_number(value: object) -> str:
    """Return a number or a bool as a CSV cell; ValueError for NaN and infinity."""
    plain = _convert_numpy_scalar(value) if hasattr(value, "item") else value
    if isinstance(plain, bool):
        return "true" if plain else "false"
    if isinstance(plain, float):
        if not math.isfinite(plain):
            raise ValueError(
                f"{plain} must not be written: use None, and give the reason elsewhere"
            )
        return repr(plain)
    if isinstance(plain, int):
        return str(plain)
    return _format_csv_cell(str(plain))


def _convert_numpy_scalar(value: object) -> object:
    """Return a numpy scalar as a Python value; TypeError for anything else."""
    item = getattr(value, "item", None)
    if item is None or getattr(value, "ndim", None):
        raise TypeError(f"{type(value).__name__} cannot be written")
    return item()
