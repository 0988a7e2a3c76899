"""Read a file that is one JSON value, strictly, reporting errors with line and column.

The standard library's parser does not report the line of an object, which messages about its
content need, and stops at a missing comma, the usual mistake in JSON written by hand. So it parses
sound files, with the lines of the objects found beforehand; the parser of this module, which takes
twenty times as long, parses the others, up to a number of tokens.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from annotations.exchange.problems import InputError, Problem
from annotations.exchange.reading.bounded_process import Bounds, run_and_read_lines
from annotations.exchange.reading.decoding import TextFile, open_text
from annotations.exchange.reading.json_outline import Outline, build_outline, find_unwritable_line
from annotations.exchange.reading.sheet_parts import TooMuchError
from annotations.exchange.reading.source import Readable, Source, make_source

DEEPEST = 100
MOST_VALUES = 1_000_000
"""Values of a file: a table of 100,000 rows and nine columns. A second of processor time."""
READ_HERE = 1 << 19
"""Bytes that are read in this process; what is longer is read or checked in one of its own."""
MOST_TOKENS = 500_000
"""Tokens in which every mistake is found; beyond them only the first one is, and its line."""
_BLANK = re.compile(r"[ \t\n]*")
_TOKEN = re.compile(
    r'(?P<string>"(?:[^"\\\x00-\x1f]++|\\.)*+")'
    r"|(?P<number>-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?(?![\w.]))"
    r"|(?P<word>(?:true|false|null)(?!\w))"
    r"|(?P<mark>[\[\]{}:,])"
)
_HALF = re.compile("[\0\ud800-\udfff]")
_OPENINGS = "{["
_WORDS = {"true": True, "false": False, "null": None}


class JsonObject(dict[str, Any]):
    """A JSON object as a dict; `line` is the line of the file where it begins, from 1."""

    __slots__ = ("line",)

    def __init__(self, *args: Any, line: int = 0) -> None:
        super().__init__(*args)
        self.line = line


@dataclass(frozen=True, slots=True)
class MissingComma:
    """Position of a missing comma between two JSON values.

    `line` and `column`, from 1, are where the second one begins; the comma belongs behind the
    first, at `after_line` and `after_column`.
    """

    line: int
    column: int
    after_line: int
    after_column: int


@dataclass(frozen=True, slots=True)
class JsonDocument:
    """The value of a JSON file, and the missing commas that were added to read it.

    Attributes
    ----------
    value : objects as dicts with a line, lists, texts, numbers, true, false and None.
    repairs : the commas that were added.
    text : the file with these commas.
    warnings : sentences, such as on its encoding.
    """

    name: str
    sha256: str
    value: Any
    repairs: tuple[MissingComma, ...]
    text: str
    warnings: tuple[str, ...] = ()


def read_json(
    file: Readable, *, repair: bool = False, has_repair: bool = False, most: int | None = None
) -> JsonDocument:
    """Read a file that is one JSON value; a large one is first checked in a separate process.

    Parameters
    ----------
    repair : add missing commas, and list them in `JsonDocument.repairs`.
    has_repair : whether the caller has an option for `repair`, which a message then names.
    most : values that it may hold, `MOST_VALUES` if it is None.

    Raises
    ------
    InputError
        It is no JSON: the first mistake with its line and column, or every missing comma; a key
        occurs twice in one object, values are nested more than 100 deep, there are more than
        `most` of them, and what `open_text` refuses.
    """
    origin, most = make_source(file), MOST_VALUES if most is None else most
    if repair or origin.read_stamp()[0] <= READ_HERE:
        return read_json_here(origin, most, repair=repair, has_repair=has_repair)
    module = f"{__package__}.json_check"
    arguments = [origin.name, has_repair, most]
    # The process has refused too many or too deep values, so the text can be parsed here now.
    (lines,) = read_values_in_process(origin, module, arguments)
    source, text = _open_and_read_text(origin)
    value = _parse_with_library(source.name, text, lines)
    return JsonDocument(source.name, source.sha256, value, (), text, source.warnings)


def read_values_in_process(source: Source, module: str, arguments: Sequence[Any]) -> Iterator[Any]:
    """Run a module on a file in a limited process and yield the JSON values it prints."""
    return map(json.loads, read_lines_in_process(source, module, arguments))


def read_lines_in_process(source: Source, module: str, arguments: Sequence[Any]) -> Iterator[bytes]:
    """Run a module on a file in a limited process and yield the lines it prints.

    Raises `InputError` for a file that takes more than the bounds.
    """
    with source.open() as handle:
        size = handle.seek(0, 2)
        # Seconds and bytes grow with the file, so that a large sound file is read to its end.
        bounds = Bounds(20 + size // 50_000, (2 << 30) + 20 * size)
        try:
            yield from run_and_read_lines(handle, source.name, module, arguments, bounds)
        except (TooMuchError, ValueError) as error:
            raise InputError.from_code(source.name, "json_too_large", error=str(error)) from error


def list_object_lines(file: Readable, most: int, *, has_repair: bool) -> list[int]:
    """Return the line numbers of a JSON file's objects, in the order in which they end.

    Raises `InputError` as `read_json` does.
    """
    text = read_json_here(file, most, has_repair=has_repair).text
    return build_outline(text, most, DEEPEST).lines


def _open_and_read_text(file: Readable) -> tuple[TextFile, str]:
    """Return (file opened as text, its whole text with line feeds as line ends)."""
    source = open_text(file)
    return source, "".join(source.iterate_lines("")).replace("\r\n", "\n").replace("\r", "\n")


def read_json_here(
    file: Readable, most: int, *, repair: bool = False, has_repair: bool = False
) -> JsonDocument:
    """Read a file that is one JSON value in this process, whatever its size; see `read_json`."""
    source, text = _open_and_read_text(file)
    outline = build_outline(text, most, DEEPEST)
    if outline.n_values > most:
        raise InputError.from_code(
            source.name, "json_too_many_values", n=outline.n_values, most=most
        )
    try:
        _refuse_deep_or_unwritable(source.name, text, outline)
        value = _parse_with_library(source.name, text, outline.lines)
    except InputError as error:
        first_error = error
    else:
        return JsonDocument(source.name, source.sha256, value, (), text, source.warnings)
    parser = _JsonParser(source.name, text, None if repair else MOST_TOKENS)
    try:
        value = parser.parse_document()
    except _TooManyTokensError:
        # The slow parser gave up, so the first mistake, which the fast one found, is reported.
        raise first_error from None
    if parser.missing and not repair:
        problems = [
            Problem.from_code(
                source.name,
                comma.line,
                comma.column,
                "json_comma_missing",
                after_line=comma.after_line,
                after_column=comma.after_column,
                has_repair=has_repair,
            )
            for comma in parser.missing
        ]
        raise InputError(problems)
    return JsonDocument(
        source.name,
        source.sha256,
        value,
        tuple(parser.missing),
        parser.add_commas(),
        source.warnings,
    )


def _refuse_deep_or_unwritable(name: str, text: str, outline: Outline) -> None:
    """Raise `InputError` if JSON text is nested too deeply or has an unwritable escape."""
    if outline.deep:
        raise InputError.from_code(name, "json_too_deep", line=outline.deep)
    if line := find_unwritable_line(text):
        raise InputError.from_code(name, "json_text_unwritable", line=line)


def _parse_with_library(name: str, text: str, object_lines: Sequence[int]) -> Any:
    """Parse JSON text with the standard library; raise `InputError` for the first error.

    Lines are exact; the column is left out where the standard library does not report it.
    """
    lines = iter(object_lines)

    def build_object(pairs: list[tuple[str, Any]]) -> JsonObject:
        """Return a JSON object with its line; `InputError` for a key that occurs twice."""
        # The hook is called when an object ends, so the lines are in the order of the ends.
        value = JsonObject(pairs, line=next(lines))
        if len(value) < len(pairs):
            key = next(key for key, n in Counter(key for key, _ in pairs).items() if n > 1)
            raise InputError.from_code(name, "json_key_twice", line=value.line, key=key)
        return value

    def refuse_constant(word: str) -> Any:
        """Raise ValueError for NaN, Infinity and -Infinity, which JSON does not allow."""
        raise ValueError(f"{word} is no JSON value")

    try:
        return json.loads(text, object_pairs_hook=build_object, parse_constant=refuse_constant)
    except json.JSONDecodeError as error:
        position = {"line": error.lineno, "column": error.colno}
        raise InputError.from_code(
            name, "object_line_invalid", error=error.msg, **position
        ) from error
    except (ValueError, StopIteration, RecursionError) as error:
        raise InputError.from_code(name, "object_line_invalid", error=str(error)) from error


class _TooManyTokensError(Exception):
    """Internal error: the text has more tokens than the slow parser may parse."""


class _JsonParser:
    """JSON parser that continues after missing commas, for at most `most` tokens."""

    def __init__(self, name: str, text: str, most: int | None = None) -> None:
        self.name, self.text = name, text
        self._left = most
        self.missing: list[MissingComma] = []
        self._commas: list[int] = []
        self._at = 0
        self._end_of_last = 0
        self._starts = [0, *(match.end() for match in re.finditer("\n", text))]

    def parse_document(self) -> Any:
        """Parse the whole text; raise `InputError` for errors other than missing commas."""
        value = self._parse_value(0)
        self._skip_blanks()
        if self._at < len(self.text):
            raise self._build_error("json_goes_on")
        return value

    def add_commas(self) -> str:
        """Return the text with the missing commas inserted."""
        parts, before = [], 0
        for comma in self._commas:
            parts += [self.text[before:comma], ","]
            before = comma
        return "".join([*parts, self.text[before:]])

    def _parse_value(self, depth: int) -> Any:
        """Parse the value at the current position, nested `depth` deep."""
        if depth > DEEPEST:
            raise self._build_error("json_too_deep")
        kind, token = self._take_token("a value")
        if kind == "string":
            return self._parse_string(token)
        if kind == "number":
            return self._parse_number(token)
        if kind == "word":
            return _WORDS[token]
        if token in _OPENINGS:
            return self._parse_object(depth) if token == _OPENINGS[0] else self._parse_list(depth)
        # Back to the mark, so that the message has its column.
        self._at = self._end_of_last - 1
        raise self._build_error("json_expected", wanted="a value", found=token)

    def _parse_object(self, depth: int) -> JsonObject:
        """Parse an object whose opening brace has just been read."""
        members = JsonObject(line=self._compute_line_and_column(self._end_of_last - 1)[0])
        while self._take_comma_or_end("}", first=not members):
            start = self._skip_to_next_token()
            kind, token = self._take_token("a key in quotes")
            if kind != "string":
                self._at = start
                raise self._build_error("json_key_expected", found=token[:20])
            key = self._parse_string(token)
            if key in members:
                self._at = start
                raise self._build_error("json_key_twice", key=key)
            colon = self._skip_to_next_token()
            if self._take_token("a colon")[1] != ":":
                self._at = colon
                raise self._build_error("json_colon_missing", key=key)
            members[key] = self._parse_value(depth + 1)
        return members

    def _parse_list(self, depth: int) -> list[Any]:
        """Parse a list whose opening bracket has just been read."""
        values: list[Any] = []
        while self._take_comma_or_end("]", first=not values):
            values.append(self._parse_value(depth + 1))
        return values

    def _take_comma_or_end(self, end: str, first: bool) -> bool:
        """Read the comma before the next member, or the end; return whether a member follows.

        The next token is then that member; at the end, the closing bracket has been taken.
        """
        start = self._skip_to_next_token()
        mark = self.text[start : start + 1]
        if mark == end:
            self._take_token("the end")
            return False
        if first:
            return True
        if mark == ",":
            self._take_token("a comma")
            # JSON allows no comma before the end.
            if self.text[self._skip_to_next_token() : self._at + 1] == end:
                raise self._build_error("json_value_missing", end=end)
            return True
        if mark and mark in "]}:":
            raise self._build_error("json_expected", wanted=f"a comma or {end}", found=mark)
        after, here = (
            self._compute_line_and_column(self._end_of_last - 1),
            self._compute_line_and_column(start),
        )
        # A comma is missing only before a value; any other fault is reported with the next token.
        if _TOKEN.match(self.text, start):
            self.missing.append(MissingComma(*here, *after))
            self._commas.append(self._end_of_last)
        return True

    def _skip_to_next_token(self) -> int:
        """Advance past blanks to the next token, and return its position."""
        self._skip_blanks()
        return self._at

    def _skip_blanks(self) -> None:
        """Advance the current position past blanks and line ends."""
        blank = _BLANK.match(self.text, self._at)
        assert blank is not None
        self._at = blank.end()

    def _take_token(self, wanted: str) -> tuple[str, str]:
        """Return (kind, text) of the next token and advance past it; `wanted` is for messages."""
        if self._left is not None:
            self._left -= 1
            if self._left < 0:
                raise _TooManyTokensError
        start = self._skip_to_next_token()
        match = _TOKEN.match(self.text, start)
        if match is None:
            if start == len(self.text):
                raise self._build_error("json_ends", wanted=wanted)
            if self.text[start] == '"':
                raise self._build_error("json_text_open")
            raise self._build_error("json_expected", wanted=wanted, found=self.text[start])
        self._at = self._end_of_last = match.end()
        assert match.lastgroup is not None
        return match.lastgroup, match[0]

    def _parse_number(self, token: str) -> int | float:
        """Return the value of a number token; `InputError` if it has too many digits."""
        try:
            return float(token) if re.search("[.eE]", token) else int(token)
        except ValueError as error:  # Python refuses whole numbers of more than 4,300 digits
            self._at = self._end_of_last - len(token)
            raise self._build_error("object_too_deep") from error

    def _parse_string(self, token: str) -> str:
        """Return the text of a string token; `InputError` for an invalid escape."""
        try:
            text: str = json.loads(token)
        except json.JSONDecodeError as error:
            self._at = self._end_of_last - len(token) + error.pos
            raise self._build_error("json_escape", error=error.msg) from error
        if _HALF.search(text):
            self._at = self._end_of_last - len(token)
            raise self._build_error("json_text_unwritable")
        return text

    def _compute_line_and_column(self, at: int) -> tuple[int, int]:
        """Return (line, column) of the character at a position, both from 1."""
        line = bisect_right(self._starts, at)
        return line, at - self._starts[line - 1] + 1

    def _build_error(self, code: str, **values: Any) -> InputError:
        """Return the error with this code at the current line and column."""
        line, column = self._compute_line_and_column(self._at)
        return InputError.from_code(self.name, code, line=line, column=column, **values)
