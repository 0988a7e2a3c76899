"""Write several files as one ZIP, in pieces, so that no file is in memory as a whole."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping

Files = Mapping[str, Callable[[], Iterable[bytes]]]
"""Files by their names; each function yields the bytes of one file."""


class Pipe:
    """A writable file without seeking, from which the written bytes are taken."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._at = 0

    def write(self, data: bytes) -> int:
        """Append the bytes and return how many there are."""
        self._pieces.append(bytes(data))
        self._at += len(data)
        return len(data)

    def flush(self) -> None:
        """Do nothing: no byte is held back."""

    def close(self) -> None:
        """Do nothing: no resource is open."""

    def take(self) -> bytes:
        """Return the bytes that were written since the last call, and remove them."""
        data = b"".join(self._pieces)
        self._pieces.clear()
        return data


def write_zip(files: Files) -> Iterator[bytes]:
    """Yield the files as one ZIP; equal files give equal bytes at any time."""
    pipe = Pipe()
    with zipfile.ZipFile(pipe, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, chunks in files.items():
            with archive.open(make_zip_part(name), "w", force_zip64=True) as file:
                for chunk in chunks():
                    file.write(chunk)
                    if data := pipe.take():
                        yield data
    yield pipe.take()


def make_zip_part(name: str) -> zipfile.ZipInfo:
    """Return a ZIP entry that always has the date 1980-01-01, so that archives are reproducible."""
    part = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    part.compress_type = zipfile.ZIP_DEFLATED
    return part
