"""Read entries of a zipped Inspect log, also those that Zstandard compressed.

Python's zipfile reads them from version 3.14 on; the tool writes them by default.
"""

from __future__ import annotations

import struct
import zipfile
import zlib
from dataclasses import dataclass
from typing import IO, BinaryIO, cast

from annotations.exchange.problems import InputError

ZSTANDARD = 93
MOST_SAMPLE = 1 << 28
"""Bytes that a sample may have."""
_LOCAL_HEADER = struct.Struct("<4s5H3L2H")


@dataclass(frozen=True)
class ZipEntry:
    """An entry of a ZIP file; `n_earlier` entries of the same name come before it."""

    info: zipfile.ZipInfo
    n_earlier: int = 0

    @property
    def filename(self) -> str:
        """Name of the entry."""
        return self.info.filename


def read_zip_entries(file: BinaryIO, name: str) -> dict[str, ZipEntry]:
    """Return a ZIP file's entries by name, the last of several; `InputError` if damaged."""
    entries: dict[str, ZipEntry] = {}
    try:
        with zipfile.ZipFile(file) as archive:
            for info in archive.infolist():
                earlier = entries.get(info.filename)
                entries[info.filename] = ZipEntry(info, earlier.n_earlier + 1 if earlier else 0)
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise InputError.from_code(name, "log_damaged", error=str(error)) from error
    return entries


def read_entry(file: BinaryIO, name: str, entry: ZipEntry) -> bytes:
    """Return the content of an entry; `InputError` if it is damaged or too large.

    The entry is found by its place: opening the archive anew for each of thousands of samples
    would read the list of all of them each time.
    """
    info = entry.info
    try:
        content = _unpack_entry(_open_part(file, info), info)
        if len(content) <= MOST_SAMPLE and zlib.crc32(content) != info.CRC:
            raise ValueError(f"the checksum of {info.filename} differs")
    except (OSError, ValueError, struct.error, zlib.error) as error:
        raise InputError.from_code(name, "log_damaged", error=str(error)) from error
    if len(content) > MOST_SAMPLE:
        raise InputError.from_code(name, "log_sample_large", sample=info.filename)
    return content


def _open_part(file: BinaryIO, info: zipfile.ZipInfo) -> _CompressedPart:
    """Return a file object of the compressed bytes of an entry; ValueError if misplaced."""
    file.seek(info.header_offset)
    header = _LOCAL_HEADER.unpack(file.read(_LOCAL_HEADER.size))
    if header[0] != b"PK\x03\x04":
        raise ValueError("an entry does not begin where the archive says")
    file.seek(header[-2] + header[-1], 1)
    return _CompressedPart(file, info.compress_size)


def _unpack_entry(part: _CompressedPart, info: zipfile.ZipInfo) -> bytes:
    """Return an entry's content, at most a byte more than it may have; ValueError if damaged."""
    if info.compress_type == zipfile.ZIP_STORED:
        return part.read(MOST_SAMPLE + 1)
    if info.compress_type == zipfile.ZIP_DEFLATED:
        return zlib.decompressobj(-zlib.MAX_WBITS).decompress(part.read(), MOST_SAMPLE + 1)
    if info.compress_type != ZSTANDARD:
        raise ValueError(f"compression {info.compress_type} is unknown")
    import zstandard

    try:
        # In several frames, where a sample is large.
        with zstandard.ZstdDecompressor().stream_reader(
            cast(IO[bytes], part), read_across_frames=True
        ) as reader:
            content: bytes = reader.read(MOST_SAMPLE + 1)
    except zstandard.ZstdError as error:
        raise ValueError(str(error)) from error
    return content


class _CompressedPart:
    """Read-only file object of the next `size` bytes of a file."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        self._file, self._left = file, size

    def read(self, size: int = -1) -> bytes:
        """Return at most `size` of the remaining bytes, all of them by default."""
        wanted = self._left if size < 0 else min(size, self._left)
        data = self._file.read(wanted)
        self._left -= len(data)
        return data
