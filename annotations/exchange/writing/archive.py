"""Several files as one ZIP, in pieces: nothing holds a whole file."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping

from annotations.exchange.writing.pipe import Pipe

Files = Mapping[str, Callable[[], Iterable[bytes]]]
"""Files by their names, each written piece by piece when it is its turn."""


def zip_chunks(files: Files) -> Iterator[bytes]:
    """The files as one ZIP; equal files make an equal ZIP, whenever it is made."""
    pipe = Pipe()
    with zipfile.ZipFile(pipe, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, chunks in files.items():
            with archive.open(dated(name), "w", force_zip64=True) as file:
                for chunk in chunks():
                    file.write(chunk)
                    if data := pipe.taken():
                        yield data
    yield pipe.taken()


def dated(name: str) -> zipfile.ZipInfo:
    """Return a part of a ZIP that always has the same date."""
    part = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    part.compress_type = zipfile.ZIP_DEFLATED
    return part
