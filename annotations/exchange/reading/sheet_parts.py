"""The parts of a workbook as bytes, block by block, before anything is made of them."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator

BLOCK = 1 << 20
# A part in UTF-16 would hide formulas and strings from what counts them; nobody writes such.
_OTHER_ENCODING = re.compile(
    rb"""<\?xml[^>]*encoding\s*=\s*["'](?!utf-?8["']|us-ascii["'])""", re.IGNORECASE
)


class TooMuchError(Exception):
    """The workbook holds more than is read; the message says what."""


def blocks(archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> Iterator[bytes]:
    """Yield the bytes of a part."""
    with archive.open(part) as unpacked:
        while block := unpacked.read(BLOCK):
            yield block


def count(
    archive: zipfile.ZipFile, part: zipfile.ZipInfo, what: re.Pattern[bytes], most: int
) -> int:
    """How often something stands in a part; counting ends at `most`."""
    count, tail, first = 0, b"", True
    for block in blocks(archive, part):
        if first and (block[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\0" in block[:4]):
            raise TooMuchError("its parts are not written in UTF-8")
        if first and _OTHER_ENCODING.match(block.removeprefix(b"\xef\xbb\xbf")):
            raise TooMuchError("its parts are not written in UTF-8")
        first = False
        # What is found must end in this block, so that nothing is counted twice.
        joined = tail + block
        count += sum(1 for found in what.finditer(joined) if found.end() > len(tail))
        if count >= most:
            return count
        tail = joined[-64:]
    return count
