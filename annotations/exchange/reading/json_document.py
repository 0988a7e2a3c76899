"""A file that is one JSON value, read strictly: every mistake has its line and column.

The standard library's reader neither says where in the file an object stands, which messages
about its content need, nor goes on after a missing comma, which is the mistake of people who write
JSON by hand.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from dataclasses import dataclass
from typing import Any

from annotations.exchange.problems import InputError, Problem
from annotations.exchange.reading.decoding import open_text
from annotations.exchange.reading.source import Readable

DEEPEST = 100
_BLANK = re.compile(r"[ \t\n]*")
_TOKEN = re.compile(
    r'(?P<string>"(?:[^"\\\x00-\x1f]|\\.)*")'
    r"|(?P<number>-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?(?![\w.]))"
    r"|(?P<word>(?:true|false|null)(?!\w))"
    r"|(?P<mark>[\[\]{}:,])"
)
_HALF = re.compile("[\0\ud800-\udfff]")
_OPENINGS = "{["
_WORDS = {"true": True, "false": False, "null": None}


class Located(dict[str, Any]):
    """An object of the document; `line` is where it begins, from 1."""

    line: int = 0


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


def read_json(given: Readable, *, repair: bool = False, has_repair: bool = False) -> JsonDocument:
    """Read a file that is one JSON value.

    Parameters
    ----------
    repair : add missing commas, and tell each in `JsonDocument.repairs`.
    has_repair : whether the command line has an option for `repair`, which a message then names.

    Raises
    ------
    InputError
        It is no JSON: the first mistake with its line and column, or every missing comma; a key
        stands twice in one object, values are nested more than 100 deep, and whatever `open_text`
        refuses.
    """
    source = open_text(given)
    text = "".join(source.lines("")).replace("\r\n", "\n").replace("\r", "\n")
    reading = _Reading(source.name, text)
    value = reading.document()
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


class _Reading:
    """The way through one text."""

    def __init__(self, name: str, text: str) -> None:
        self.name, self.text = name, text
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
            return float(token) if re.search("[.eE]", token) else int(token)
        if kind == "word":
            return _WORDS[token]
        if token in _OPENINGS:
            return self._object(depth) if token == _OPENINGS[0] else self._list(depth)
        self._at = self._end_of_last - 1
        raise self._error("json_expected", wanted="a value", found=token)

    def _object(self, depth: int) -> Located:
        found = Located()
        found.line = self._place(self._end_of_last - 1)[0]
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
