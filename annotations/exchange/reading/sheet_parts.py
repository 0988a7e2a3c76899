"""Read the XML parts of a workbook as bytes, block by block, before they are parsed."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator

BLOCK = 1 << 20
# Formulas and strings in UTF-16 would not be counted. No known program writes such parts.
_OTHER_ENCODING = re.compile(
    rb"""<\?xml[^>]*encoding\s*=\s*["'](?!utf-?8["']|us-ascii["'])""", re.IGNORECASE
)


class TooMuchError(Exception):
    """Error: reading the file exceeds a limit, which the message names."""


def read_part_blocks(archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> Iterator[bytes]:
    """Yield the uncompressed bytes of a workbook part in blocks of at most 1 MiB."""
    with archive.open(part) as unpacked:
        while block := unpacked.read(BLOCK):
            yield block


def count_matches(
    archive: zipfile.ZipFile, part: zipfile.ZipInfo, pattern: re.Pattern[bytes], most: int
) -> int:
    """Return the number of matches of a pattern in a workbook part; stop counting at `most`."""
    n_matches, tail, first = 0, b"", True
    for block in read_part_blocks(archive, part):
        if first and (block[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\0" in block[:4]):
            raise TooMuchError("its parts are not written in UTF-8")
        if first and _OTHER_ENCODING.match(block.removeprefix(b"\xef\xbb\xbf")):
            raise TooMuchError("its parts are not written in UTF-8")
        first = False
        # What is found must end in this block, so that nothing is counted twice.
        joined = tail + block
        n_matches += sum(1 for found in pattern.finditer(joined) if found.end() > len(tail))
        if n_matches >= most:
            return n_matches
        tail = joined[-64:]
    return n_matches
