"""Decode the bytes of a file to lines of text; detect its encoding and refuse other files.

The file is read twice, a block at a time: once to find the encoding, once to yield the lines.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass
from io import TextIOWrapper
from typing import BinaryIO

from annotations.exchange.problems import InputError
from annotations.exchange.reading.source import Readable, Source, Stamp, make_source

BLOCK = 1 << 20
UNDECODABLE = {"utf-8": "two_encodings", "cp1252": "neither_encoding"}
"""The codes of a byte that the encoding does not have."""

# The longer mark first: UTF-32's begins with that of UTF-16.
BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)

ZIP = b"PK\x03\x04"
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
FOREIGN = (
    (
        ZIP,
        "a zip archive or an XLSX workbook",
        "If it is a workbook, rename it to end in .xlsx; otherwise unpack it first.",
    ),
    (b"%PDF-", "a PDF document", "Export the answers as CSV."),
    (b"\x1f\x8b", "compressed with gzip", "Unpack it first."),
    (b"\xfd7zXZ\x00", "compressed with xz", "Unpack it first."),
    (
        OLE,
        "an old Office document (.xls) or a workbook with a password",
        "Save it as .xlsx without a password, or as CSV.",
    ),
)

WEB_PAGE = re.compile(rb"(?:\xef\xbb\xbf)?\s*<(?:!doctype html|html)\b", re.IGNORECASE)

_LINE_END = re.compile("(\r\n|\r|\n)")
_BAD = re.compile("[\0\udc00-\udcff]")
_ESCAPED_BYTE = re.compile("[\udc80-\udcff]")


def _mark_undecodable(error: UnicodeError) -> tuple[str, int]:
    """Return lone surrogates for undecodable bytes, and their end (codec error handler)."""
    # Undecodable bytes become lone surrogates, which no decoder yields by itself: so the line and
    # the column of the first one are found in any encoding ("surrogateescape" knows no UTF-16).
    assert isinstance(error, UnicodeDecodeError)
    bad = error.object[error.start : error.end]
    return "".join(chr(0xDC00 + byte) for byte in bad), error.end


codecs.register_error("crowdgrade.mark", _mark_undecodable)


@dataclass(frozen=True, slots=True)
class TextFile:
    """A text file with its detected encoding, in which every byte can be decoded.

    `sha256` is that of the bytes, in hexadecimal; `warnings` are sentences for people.
    """

    source: Source
    encoding: str
    sha256: str
    warnings: tuple[str, ...]
    stamp: Stamp

    @property
    def name(self) -> str:
        """Name of the file without its folder."""
        return self.source.name

    def iterate_lines(self, newline: str) -> Iterator[str]:
        r"""Yield the lines of the file, decoded, with their line ends unchanged.

        `newline` is "" to split at \n, \r and \r\n, or "\n" to split at that only. Raises
        `InputError` if the file has changed since it was opened.
        """
        changed = InputError.from_code(self.name, "file_changed")
        try:
            with TextIOWrapper(self.source.open(), encoding=self.encoding, newline=newline) as text:
                yield from text
        except UnicodeDecodeError as error:
            raise changed from error
        except OSError as error:
            raise self.source.build_unreadable_error(error) from error
        if self.source.read_stamp() != self.stamp:
            raise changed


def open_text(file: Readable) -> TextFile:
    """Return a file as a `TextFile` with its detected encoding; `InputError` if it is no text.

    UTF-8 with and without byte order mark, UTF-16 and UTF-32 with one, UTF-16 without one where
    the first characters are ASCII, else Windows-1252 with a warning. Raises `InputError` for a
    file that is missing, empty, a folder, unreadable, of another kind by its first bytes, not
    text in any of these encodings, or that holds a NUL character.
    """
    source = make_source(file)
    stamp = source.read_stamp()
    if stamp[0] == 0:
        raise build_empty_file_error(source.name)
    digest = source.compute_digest()
    try:
        with source.open() as handle:
            encoding, warnings = _find_encoding(handle, source.name)
    except OSError as error:
        raise source.build_unreadable_error(error) from error
    return TextFile(source, encoding, digest, warnings, stamp)


def build_empty_file_error(name: str) -> InputError:
    """Return the error for an empty file with this name."""
    return InputError.from_code(name, "file_empty")


def _find_encoding(handle: BinaryIO, name: str) -> tuple[str, tuple[str, ...]]:
    """Return a text file's encoding and warnings; raise `InputError` if it is no text."""
    head = handle.read(64)
    for magic, kind, remedy in FOREIGN:
        if head.startswith(magic):
            raise InputError.from_code(name, "not_text", kind=kind, remedy=remedy)

    if WEB_PAGE.match(head):
        raise InputError.from_code(name, "web_page")

    declared = next((e for mark, e in BYTE_ORDER_MARKS if head.startswith(mark)), None)
    # UTF-8 is tried before Windows-1252, which decodes nearly any bytes.
    encoding = declared or _guess_utf16(head) or "utf-8"
    fits, has_nul = _test_decoding(handle, encoding)
    warnings: tuple[str, ...] = ()
    if not fits:
        if encoding != "utf-8":
            raise _build_undecodable_error(handle, name, encoding)
        if _is_mostly_utf8(handle):
            raise _build_undecodable_error(handle, name, encoding)
        encoding = "cp1252"
        fits, has_nul = _test_decoding(handle, encoding)
        if not fits:
            raise _build_undecodable_error(handle, name, encoding)
        warnings = (
            f"{name} is not UTF-8 and was read as Windows-1252 (cp1252): "
            "if letters with accents look wrong, save it as UTF-8.",
        )
    if has_nul:
        line, column, _ = _find_bad_character(handle, encoding)
        raise InputError.from_code(name, "nul_in_text", line=line, column=column)
    return encoding, warnings


def _guess_utf16(head: bytes) -> str | None:
    """Return the UTF-16 encoding if every other byte is mostly NUL, as for ASCII; else None."""
    # In UTF-16 every other byte of ASCII, hence of a header line, is NUL.
    head = head[: len(head) // 2 * 2]
    even, odd = head[0::2].count(0), head[1::2].count(0)
    if not head:
        return None
    enough = 0.7 * len(head) / 2
    if odd >= enough and not even:
        return "utf-16-le"
    if even >= enough and not odd:
        return "utf-16-be"
    return None


def _test_decoding(handle: BinaryIO, encoding: str) -> tuple[bool, bool]:
    """Return (whether the whole file can be decoded, whether it contains NUL characters)."""
    decoder = codecs.getincrementaldecoder(encoding)()
    has_nul = False
    handle.seek(0)
    try:
        while block := handle.read(BLOCK):
            has_nul |= "\0" in decoder.decode(block)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False, has_nul
    return True, has_nul


def _is_mostly_utf8(handle: BinaryIO) -> bool:
    """Return whether a file has more valid non-ASCII UTF-8 characters than invalid bytes."""
    # Read as Windows-1252, every good character of a damaged UTF-8 file would turn into two or
    # three wrong ones. Text that really is Windows-1252 hardly ever forms a good sequence.
    decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
    n_good = n_bad = 0
    handle.seek(0)
    while block := handle.read(BLOCK):
        text = decoder.decode(block)
        if not text.isascii():
            stray = len(_ESCAPED_BYTE.findall(text))
            n_bad += stray
            n_good += len(text) - len(text.encode("ascii", "ignore")) - stray
    return n_good > n_bad


def _find_bad_character(handle: BinaryIO, encoding: str) -> tuple[int, int, str]:
    """Return line, column and character of the first NUL or undecodable byte."""
    decoder = codecs.getincrementaldecoder(encoding)(errors="crowdgrade.mark")
    line, column, after_return = 1, 1, False
    handle.seek(0)
    more = True
    while more:
        block = handle.read(BLOCK)
        more = bool(block)
        text = decoder.decode(block, final=not more)
        match = _BAD.search(text)
        for part in _LINE_END.split(text[: match.start()] if match else text):
            if part in ("\r\n", "\r", "\n"):
                if part != "\n" or not after_return:  # a pair may be cut in two by the block's end
                    line += 1
                column = 1
            else:
                column += len(part)
            if part:
                after_return = part == "\r"
        if match:
            return line, column, match.group()
    raise AssertionError("called for a file without a bad character")


def _build_undecodable_error(handle: BinaryIO, name: str, encoding: str) -> InputError:
    """Return the error for the first undecodable byte, with its line and column."""
    line, column, bad = _find_bad_character(handle, encoding)
    code = UNDECODABLE.get(encoding, "undecodable")
    byte, encoding = f"0x{ord(bad) - 0xDC00:02X}", encoding.upper().removesuffix("-SIG")
    return InputError.from_code(name, code, line=line, column=column, byte=byte, encoding=encoding)
