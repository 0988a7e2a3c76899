"""Write several files as one ZIP archive, in pieces, without holding a whole file in memory."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping

Files = Mapping[str, Callable[[], Iterable[bytes]]]
"""Files by their names; each function yields the bytes of one file."""


class ByteCollector:
    """Write-only file object from which the written bytes are taken; it cannot seek."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._at = 0

    def write(self, data: bytes) -> int:
        """Append bytes and return their number."""
        self._pieces.append(bytes(data))
        self._at += len(data)
        return len(data)

    def flush(self) -> None:
        """Do nothing, because no bytes are buffered elsewhere."""

    def close(self) -> None:
        """Do nothing, because there is no open resource."""

    def take_bytes(self) -> bytes:
        """Return the bytes written since the last call, and forget them."""
        data = b"".join(self._pieces)
        self._pieces.clear()
        return data


def write_zip(files: Files) -> Iterator[bytes]:
    """Yield the bytes of a ZIP archive of these files; equal files give equal bytes."""
    pipe = ByteCollector()
    with zipfile.ZipFile(pipe, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, chunks in files.items():
            with archive.open(make_zip_part(name), "w", force_zip64=True) as file:
                for chunk in chunks():
                    file.write(chunk)
                    if data := pipe.take_bytes():
                        yield data
    yield pipe.take_bytes()


def make_zip_part(name: str) -> zipfile.ZipInfo:
    """Return a ZIP entry with the fixed date 1980-01-01, so that archives are reproducible."""
    part = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    part.compress_type = zipfile.ZIP_DEFLATED
    return part
