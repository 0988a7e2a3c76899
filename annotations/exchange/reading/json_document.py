"""A file that is one JSON value, read strictly: every mistake has its line and column.

The standard library's reader neither says where in the file an object stands, which messages
about its content need, nor goes on after a missing comma, which is the mistake of people who write
JSON by hand. So it reads what is sound, with the lines of the objects found beforehand; our own
reader, which takes twenty times as long, looks at the rest, up to a number of tokens.
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
from annotations.exchange.reading.bounded_process import Bounds, lines_of
from annotations.exchange.reading.decoding import TextFile, open_text
from annotations.exchange.reading.json_outline import Outline, outline_of, unwritable_line
from annotations.exchange.reading.sheet_parts import TooMuchError
from annotations.exchange.reading.source import Readable, Source, source_of

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


class Located(dict[str, Any]):
    """An object of the document; `line` is where it begins, from 1."""

    __slots__ = ("line",)

    def __init__(self, *args: Any, line: int = 0) -> None:
        super().__init__(*args)
        self.line = line


@dataclass(frozen=True, slots=True)
class MissingComma:
    """A place where two values stand beside each other.

    `line` and `column`, from 1, are where the second one begins; the comma belongs behind the
    first, at `after_line` and `after_column`.
    """

    line: int
    column: int
    after_line: int
    after_column: int


@dataclass(frozen=True, slots=True)
class JsonDocument:
    """What a file says.

    Attributes
    ----------
    value : objects as `Located`, lists, texts, numbers, true, false and None.
    repairs : the commas that were added.
    text : the file with these commas, for whoever wants it mended.
    warnings : sentences, such as on its encoding.
    """

    name: str
    sha256: str
    value: Any
    repairs: tuple[MissingComma, ...]
    text: str
    warnings: tuple[str, ...] = ()


def read_json(
    given: Readable, *, repair: bool = False, has_repair: bool = False, most: int | None = None
) -> JsonDocument:
    """Read a file that is one JSON value; a large one is checked in a process of its own first.

    Parameters
    ----------
    repair : add missing commas, and tell each in `JsonDocument.repairs`.
    has_repair : whether the command line has an option for `repair`, which a message then names.
    most : values that it may hold, `MOST_VALUES` if it is None.

    Raises
    ------
    InputError
        It is no JSON: the first mistake with its line and column, or every missing comma; a key
        stands twice in one object, values are nested more than 100 deep, there are more than
        `most` of them, and whatever `open_text` refuses.
    """
    origin, most = source_of(given), MOST_VALUES if most is None else most
    if repair or origin.stamp()[0] <= READ_HERE:
        return read_json_here(origin, most, repair=repair, has_repair=has_repair)
    module = f"{__package__}.json_check"
    arguments = [origin.name, has_repair, most]
    (lines,) = values_elsewhere(origin, module, arguments)
    source, text = _text_of(origin)
    value = _decoded(source.name, text, lines)
    return JsonDocument(source.name, source.sha256, value, (), text, source.warnings)


def values_elsewhere(source: Source, module: str, arguments: Sequence[Any]) -> Iterator[Any]:
    """Yield the values of JSON that a module prints, as `lines_elsewhere` does its lines."""
    return map(json.loads, lines_elsewhere(source, module, arguments))


def lines_elsewhere(source: Source, module: str, arguments: Sequence[Any]) -> Iterator[bytes]:
    """Yield the lines that a module prints of a file in a process with bounds.

    Raises `InputError` for a file that takes more than the bounds.
    """
    with source.open() as handle:
        size = handle.seek(0, 2)
        bounds = Bounds(20 + size // 50_000, (2 << 30) + 20 * size)
        try:
            yield from lines_of(handle, source.name, module, arguments, bounds)
        except (TooMuchError, ValueError) as error:
            raise InputError.from_code(source.name, "json_too_large", error=str(error)) from error


def json_outline(given: Readable, most: int, *, has_repair: bool) -> list[int]:
    """Return the lines of the objects of a file, in the order in which they end.

    Raises `InputError` as `read_json` does.
    """
    text = read_json_here(given, most, has_repair=has_repair).text
    return outline_of(text, most, DEEPEST).lines


def _text_of(given: Readable) -> tuple[TextFile, str]:
    source = open_text(given)
    return source, "".join(source.lines("")).replace("\r\n", "\n").replace("\r", "\n")


def read_json_here(
    given: Readable, most: int, *, repair: bool = False, has_repair: bool = False
) -> JsonDocument:
    """Read a file in this process, as `read_json` does."""
    source, text = _text_of(given)
    outline = outline_of(text, most, DEEPEST)
    if outline.n_values > most:
        raise InputError.from_code(
            source.name, "json_too_many_values", n=outline.n_values, most=most
        )
    try:
        _refuse_unreadable(source.name, text, outline)
        value = _decoded(source.name, text, outline.lines)
    except InputError as error:
        first = error
    else:
        return JsonDocument(source.name, source.sha256, value, (), text, source.warnings)
    reading = _Reading(source.name, text, None if repair else MOST_TOKENS)
    try:
        value = reading.document()
    except _TooManyTokensError:
        raise first from None
    if reading.missing and not repair:
        problems = [
            Problem.from_code(
                source.name,
                one.line,
                one.column,
                "json_comma_missing",
                after_line=one.after_line,
                after_column=one.after_column,
                has_repair=has_repair,
            )
            for one in reading.missing
        ]
        raise InputError(problems)
    return JsonDocument(
        source.name,
        source.sha256,
        value,
        tuple(reading.missing),
        reading.mended(),
        source.warnings,
    )


def _refuse_unreadable(name: str, text: str, outline: Outline) -> None:
    if outline.deep:
        raise InputError.from_code(name, "json_too_deep", line=outline.deep)
    if line := unwritable_line(text):
        raise InputError.from_code(name, "json_text_unwritable", line=line)


def _decoded(name: str, text: str, object_lines: Sequence[int]) -> Any:
    """Return the value of a sound text; raises `InputError` with what is found first of any other.

    The lines are exact, the columns left out where the standard library does not say them.
    """
    lines = iter(object_lines)

    def located(pairs: list[tuple[str, Any]]) -> Located:
        found = Located(pairs, line=next(lines))
        if len(found) < len(pairs):
            key = next(key for key, n in Counter(key for key, _ in pairs).items() if n > 1)
            raise InputError.from_code(name, "json_key_twice", line=found.line, key=key)
        return found

    def constant(word: str) -> Any:
        raise ValueError(f"{word} is no JSON value")

    try:
        return json.loads(text, object_pairs_hook=located, parse_constant=constant)
    except json.JSONDecodeError as error:
        place = {"line": error.lineno, "column": error.colno}
        raise InputError.from_code(name, "object_line_invalid", error=error.msg, **place) from error
    except (ValueError, StopIteration, RecursionError) as error:
        raise InputError.from_code(name, "object_line_invalid", error=str(error)) from error


class _TooManyTokensError(Exception):
    """The mistakes of the text are beyond what is looked at one by one."""


class _Reading:
    """The way through one text, of at most so many tokens."""

    def __init__(self, name: str, text: str, most: int | None = None) -> None:
        self.name, self.text = name, text
        self._left = most
        self.missing: list[MissingComma] = []
        self._commas: list[int] = []
        self._at = 0
        self._end_of_last = 0
        self._starts = [0, *(found.end() for found in re.finditer("\n", text))]

    def document(self) -> Any:
        value = self._value(0)
        self._skip()
        if self._at < len(self.text):
            raise self._error("json_goes_on")
        return value

    def mended(self) -> str:
        """Return the text with the missing commas."""
        parts, before = [], 0
        for comma in self._commas:
            parts += [self.text[before:comma], ","]
            before = comma
        return "".join([*parts, self.text[before:]])

    def _value(self, depth: int) -> Any:
        if depth > DEEPEST:
            raise self._error("json_too_deep")
        kind, token = self._token("a value")
        if kind == "string":
            return self._string(token)
        if kind == "number":
            return self._number(token)
        if kind == "word":
            return _WORDS[token]
        if token in _OPENINGS:
            return self._object(depth) if token == _OPENINGS[0] else self._list(depth)
        self._at = self._end_of_last - 1
        raise self._error("json_expected", wanted="a value", found=token)

    def _object(self, depth: int) -> Located:
        found = Located(line=self._place(self._end_of_last - 1)[0])
        while self._goes_on("}", first=not found):
            start = self._next()
            kind, token = self._token("a key in quotes")
            if kind != "string":
                self._at = start
                raise self._error("json_key_expected", found=token[:20])
            key = self._string(token)
            if key in found:
                self._at = start
                raise self._error("json_key_twice", key=key)
            colon = self._next()
            if self._token("a colon")[1] != ":":
                self._at = colon
                raise self._error("json_colon_missing", key=key)
            found[key] = self._value(depth + 1)
        return found

    def _list(self, depth: int) -> list[Any]:
        found: list[Any] = []
        while self._goes_on("]", first=not found):
            found.append(self._value(depth + 1))
        return found

    def _goes_on(self, end: str, first: bool) -> bool:
        """Whether another member follows; takes the comma before it, or notes that it is missing.

        After it the next token is that member, or the closing mark is behind us.
        """
        start = self._next()
        mark = self.text[start : start + 1]
        if mark == end:
            self._token("the end")
            return False
        if first:
            return True
        if mark == ",":
            self._token("a comma")
            if self.text[self._next() : self._at + 1] == end:
                raise self._error("json_value_missing", end=end)
            return True
        if mark and mark in "]}:":
            raise self._error("json_expected", wanted=f"a comma or {end}", found=mark)
        after, here = self._place(self._end_of_last - 1), self._place(start)
        if _TOKEN.match(self.text, start):
            self.missing.append(MissingComma(*here, *after))
            self._commas.append(self._end_of_last)
        return True

    def _next(self) -> int:
        """Return where the next token begins."""
        self._skip()
        return self._at

    def _skip(self) -> None:
        blank = _BLANK.match(self.text, self._at)
        assert blank is not None
        self._at = blank.end()

    def _token(self, wanted: str) -> tuple[str, str]:
        if self._left is not None:
            self._left -= 1
            if self._left < 0:
                raise _TooManyTokensError
        start = self._next()
        found = _TOKEN.match(self.text, start)
        if found is None:
            if start == len(self.text):
                raise self._error("json_ends", wanted=wanted)
            if self.text[start] == '"':
                raise self._error("json_text_open")
            raise self._error("json_expected", wanted=wanted, found=self.text[start])
        self._at = self._end_of_last = found.end()
        assert found.lastgroup is not None
        return found.lastgroup, found[0]

    def _number(self, token: str) -> int | float:
        try:
            return float(token) if re.search("[.eE]", token) else int(token)
        except ValueError as error:  # Python refuses whole numbers of more than 4,300 digits
            self._at = self._end_of_last - len(token)
            raise self._error("object_too_deep") from error

    def _string(self, token: str) -> str:
        try:
            text: str = json.loads(token)
        except json.JSONDecodeError as error:
            self._at = self._end_of_last - len(token) + error.pos
            raise self._error("json_escape", error=error.msg) from error
        if _HALF.search(text):
            self._at = self._end_of_last - len(token)
            raise self._error("json_text_unwritable")
        return text

    def _place(self, at: int) -> tuple[int, int]:
        """Return the line and column of a character, from 1."""
        line = bisect_right(self._starts, at)
        return line, at - self._starts[line - 1] + 1

    def _error(self, code: str, **values: Any) -> InputError:
        line, column = self._place(self._at)
        return InputError.from_code(self.name, code, line=line, column=column, **values)
