"""Read entries of a zipped Inspect log, also those that Zstandard compressed.

Python's zipfile reads them from version 3.14 on; the tool writes them by default.
"""

from __future__ import annotations

import struct
import zipfile
from dataclasses import dataclass
from typing import IO, BinaryIO, cast

from annotations.exchange.problems import InputError

ZSTANDARD = 93
MOST_SAMPLE = 1 << 28
"""Bytes that a sample may have."""
_LOCAL_HEADER = struct.Struct("<4s5H3L2H")


@dataclass(frozen=True)
class Entry:
    """An entry of a ZIP file; `n_earlier` entries of the same name come before it."""

    info: zipfile.ZipInfo
    n_earlier: int = 0

    @property
    def filename(self) -> str:
        """Name of the entry."""
        return self.info.filename


def read_zip_entries(file: BinaryIO, name: str) -> dict[str, Entry]:
    """Return the entries by name, of several with one name the last; `InputError` if damaged."""
    entries: dict[str, Entry] = {}
    try:
        with zipfile.ZipFile(file) as archive:
            for info in archive.infolist():
                earlier = entries.get(info.filename)
                entries[info.filename] = Entry(info, earlier.n_earlier + 1 if earlier else 0)
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise InputError.from_code(name, "log_damaged", error=str(error)) from error
    return entries


def read_entry(file: BinaryIO, name: str, entry: Entry) -> bytes:
    """Return the content of an entry; `InputError` if it is damaged or too large."""
    info = entry.info
    try:
        if info.compress_type == ZSTANDARD:
            content = _read_zstandard(file, info)
        else:
            with zipfile.ZipFile(file) as archive, archive.open(info) as handle:
                content = handle.read(MOST_SAMPLE + 1)
    except (zipfile.BadZipFile, OSError, ValueError, EOFError, NotImplementedError) as error:
        raise InputError.from_code(name, "log_damaged", error=str(error)) from error
    if len(content) > MOST_SAMPLE:
        raise InputError.from_code(name, "log_sample_large", sample=info.filename)
    return content


def _read_zstandard(file: BinaryIO, info: zipfile.ZipInfo) -> bytes:
    """Return the content of an entry that Zstandard compressed, perhaps in several frames."""
    import zstandard

    file.seek(info.header_offset)
    header = _LOCAL_HEADER.unpack(file.read(_LOCAL_HEADER.size))
    if header[0] != b"PK\x03\x04":
        raise ValueError("an entry does not begin where the archive says")
    file.seek(header[-2] + header[-1], 1)
    part = cast(IO[bytes], _Part(file, info.compress_size))
    try:
        with zstandard.ZstdDecompressor().stream_reader(part, read_across_frames=True) as reader:
            content: bytes = reader.read(MOST_SAMPLE + 1)
    except zstandard.ZstdError as error:
        raise ValueError(str(error)) from error
    return content


class _Part:
    """The next `size` bytes of a file, as a file."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        self._file, self._left = file, size

    def read(self, size: int = -1) -> bytes:
        """Return at most `size` bytes, all by default."""
        wanted = self._left if size < 0 else min(size, self._left)
        data = self._file.read(wanted)
        self._left -= len(data)
        return data
