"""Write several files as one ZIP, in pieces, so that no file is in memory as a whole."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping

from annotations.exchange.writing.pipe import Pipe

Files = Mapping[str, Callable[[], Iterable[bytes]]]
"""Files by their names; each function yields the bytes of one file."""


def zip_chunks(files: Files) -> Iterator[bytes]:
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
