"""Source: where the bytes of a file come from, such as a path, memory or a storage.

A file compressed with gzip (`answers.csv.gz`), and the only file of a zip archive, are read without
unpacking them first: survey tools pack their exports so.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import lzma
import os
import stat
import zipfile
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

from annotations.exchange.problems import InputError

TABLE_ENDINGS = (".csv", ".tsv", ".jsonl", ".ndjson", ".xlsx")
"""Endings of the files that are read as a table."""
ARCHIVE_ENDINGS = (".gz", ".zip")
"""Endings of the archives from which the only file is read."""
MOST_UNPACKED = 1 << 27
"""Most bytes of a file in an archive: they are held in memory."""

# Damage, and (NotImplementedError) a compression method that zipfile does not know.
UNPACKING_ERRORS = (
    EOFError,
    NotImplementedError,
    lzma.LZMAError,
    zipfile.BadZipFile,
    zlib.error,
)

Stamp = tuple[int, int]
"""Size in bytes, and a number that changes with the content (0 for what cannot change)."""


@dataclass(frozen=True, slots=True)
class Source:
    """An input file that can be read more than once, and where its table is.

    `name` is its name without folder; the ending selects the format. `place` is its location in
    messages. `opener` opens its bytes from the beginning, seekable; `stamper` raises `InputError`
    for a file that cannot be read. `sheet` is the sheet of a workbook by its name or number, "" for
    the first; `header_row` the row (in CSV the line) of the header, 0 for the first that is not
    empty. A table that `is_turned` has a column for each person, and is read as if its columns were
    rows; it `names_corner` if the first column is read although its heading may be empty.
    """

    name: str
    place: str
    opener: Callable[[], BinaryIO]
    stamper: Callable[[], Stamp]
    sheet: str = ""
    header_row: int = 0
    is_turned: bool = False
    names_corner: bool = False

    @property
    def suffix(self) -> str:
        """Ending of the file name in lower case, with its dot; "" without one."""
        return Path(self.name).suffix.lower()

    def open(self) -> BinaryIO:
        """Return the bytes of the file as an open handle; `InputError` if it cannot be opened."""
        try:
            return self.opener()
        except OSError as error:
            raise self.build_unreadable_error(error) from error

    def read_stamp(self) -> Stamp:
        """Return (size, number that changes with the content); `InputError` if there is no file."""
        return self.stamper()

    def compute_digest(self) -> str:
        """Return the SHA-256 of the bytes in hexadecimal; `InputError` if they cannot be read."""
        try:
            with self.open() as handle:
                # (Every binary file has readinto, which the type does not say.)
                return hashlib.file_digest(handle, "sha256").hexdigest()  # type: ignore[arg-type]
        except OSError as error:
            raise self.build_unreadable_error(error) from error

    def build_unreadable_error(self, error: Exception) -> InputError:
        """Return the error for a file that the operating system refuses to read."""
        cause = getattr(error, "strerror", None) or str(error)
        return InputError.from_code(self.name, "unreadable", place=self.place, cause=cause)


Readable = str | os.PathLike[str] | Source
"""What every reader takes."""


def make_source(given: Readable) -> Source:
    """Return a path as a `Source`; a `Source` is returned unchanged."""
    if isinstance(given, Source):
        return given
    path = Path(given)
    source = Source(path.name, str(path), lambda: path.open("rb"), lambda: _read_stamp(path))
    return unpack_source(source)


def make_bytes_source(name: str, content: bytes) -> Source:
    """Return bytes in memory as a `Source` with this file name."""
    return Source(name, name, lambda: BytesIO(content), lambda: (len(content), 0))


def make_stored_source(name: str, opener: Callable[[], BinaryIO], size: int) -> Source:
    """Return a file in a storage (such as Django's) as a `Source` with this file name."""
    return unpack_source(Source(name, name, opener, lambda: (size, 0)))


def make_rows_source(name: str, rows: Iterable[Any]) -> Source:
    """Return JSON values as a JSON Lines `Source`, one per line; None is an empty line."""
    lines = ("" if row is None else json.dumps(row) for row in rows)
    return make_bytes_source(
        f"{name}.jsonl", "".join(f"{line}\n" for line in lines).encode("ascii")
    )


def unpack_source(source: Source) -> Source:
    """Return the file that a .gz or .zip file holds as a `Source`; any other source unchanged.

    Unchanged is also an archive of several files, with a password, damaged, with neither a table
    nor JSON, or with a file of more than `MOST_UNPACKED` bytes. Folders and the hidden files that
    macOS adds do not count. The hash of the new source is that of the unpacked bytes.
    """
    if source.suffix not in ARCHIVE_ENDINGS:
        return source
    find = _find_zip_member if source.suffix == ".zip" else _find_gzip_member
    try:
        name, size = find(source)
    except (OSError, zipfile.BadZipFile, InputError, LookupError):
        return source
    if Path(name).suffix.lower() not in (*TABLE_ENDINGS, ".json") or size > MOST_UNPACKED:
        return source

    def open_unpacked() -> BinaryIO:
        try:
            with source.opener() as packed:
                return BytesIO(_unpack(source.suffix, packed, name))
        except UNPACKING_ERRORS as error:
            raise OSError(f"the archive cannot be unpacked: {error}") from error

    def stamp_unpacked() -> Stamp:
        packed_size, change = source.read_stamp()
        return size, change or packed_size

    place = f"{source.place} ({name})" if source.suffix == ".zip" else source.place
    return replace(
        source, name=Path(name).name, place=place, opener=open_unpacked, stamper=stamp_unpacked
    )


def _find_zip_member(source: Source) -> tuple[str, int]:
    """Return (name, unpacked size) of a zip archive's only file; `LookupError` if there is none."""
    with source.opener() as packed, zipfile.ZipFile(packed) as archive:
        files = [
            entry
            for entry in archive.infolist()
            if not entry.is_dir()
            and not entry.filename.startswith("__MACOSX/")
            and not Path(entry.filename).name.startswith(".")
        ]
    # The lowest bit is set if there is a password.
    if len(files) != 1 or files[0].flag_bits & 1:
        raise LookupError(source.name)
    return files[0].filename, files[0].file_size


def _find_gzip_member(source: Source) -> tuple[str, int]:
    """Return (name without .gz, unpacked size) by the last four bytes of a gzip file."""
    with source.opener() as packed:
        packed.seek(-4, os.SEEK_END)
        return source.name[: -len(".gz")], int.from_bytes(packed.read(4), "little")


def _unpack(suffix: str, packed: BinaryIO, name: str) -> bytes:
    """Return the unpacked bytes of a file; `OSError` if they are more than `MOST_UNPACKED`."""
    if suffix == ".zip":
        with zipfile.ZipFile(packed) as archive, archive.open(name) as member:
            content = member.read(MOST_UNPACKED + 1)
    else:
        with gzip.GzipFile(fileobj=packed) as member:
            content = member.read(MOST_UNPACKED + 1)
    if len(content) > MOST_UNPACKED:
        raise OSError(f"unpacked it has more than {MOST_UNPACKED:,} bytes: unpack it first")
    return content


def _read_stamp(path: Path) -> Stamp:
    """Return size and modification time of a path; `InputError` if it is no ordinary file."""
    try:
        status = path.stat()
    except FileNotFoundError:
        raise InputError.from_code(path.name, "file_missing", path=str(path)) from None
    except (OSError, ValueError) as error:
        raise make_source(path).build_unreadable_error(error) from error
    if stat.S_ISDIR(status.st_mode):
        raise InputError.from_code(path.name, "is_folder", path=str(path))
    # A pipe or a device cannot be read twice, as the readers do.
    if not stat.S_ISREG(status.st_mode):
        raise InputError.from_code(path.name, "not_ordinary_file", path=str(path))
    # Nanoseconds: a file that is written again within a second has to look changed.
    return status.st_size, status.st_mtime_ns
