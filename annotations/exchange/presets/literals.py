"""Parse lists and objects in table cells, as JSON or as printed by Python, numpy and pandas.

`pandas.DataFrame.to_csv` prints lists and dictionaries of Python, `datasets.Dataset.to_csv` arrays
of numpy, in which nothing but a blank parts two texts: Python itself would read them as one text.
"""

from __future__ import annotations

import ast
import json
import re
from typing import Any

DEEPEST = 50
MISSING = frozenset({"", "None", "null", "nan", "NaN", "NaT", "<NA>"})
"""Cells of a column of lists or objects that hold none."""
_TOKEN = re.compile(
    r"\s*+(?:"
    r"(?P<string>'(?:[^'\\\n]++|\\.)*+'|\"(?:[^\"\\\n]++|\\.)*+\")"
    r"|(?P<number>[-+]?(?:\d++\.?\d*+|\.\d++)(?:[eE][-+]?\d++)?(?![\w.]))"
    r"|(?P<enum><[\w.]++:)"
    r"|(?P<name>[A-Za-z_][\w.]*+)"
    r"|(?P<mark>[\[\]{}():,=>])"
    r")",
    re.DOTALL,
)
_CLOSING = {"[": "]", "{": "}", "(": ")", "<": ">"}
_WORDS = {
    "None": None,
    "null": None,
    "nan": None,
    "NaN": None,
    "NaT": None,
    "True": True,
    "true": True,
    "False": False,
    "false": False,
}


def parse_literal(cell: str) -> list[Any] | dict[str, Any] | None:
    """Parse a cell's list or object (JSON or Python's notation); None for any other cell.

    Keys are texts; an array is a list; of UUID('...') and the like the text counts, and of a member
    of an enumeration its value.
    """
    cell = cell.strip()
    if not (cell.startswith(("[", "{")) and cell.endswith(("]", "}"))):
        return None
    try:
        # First as JSON, whose parser is much faster; its escapes and words differ from Python's.
        value = json.loads(cell)
    except RecursionError:
        return None
    except ValueError:
        try:
            value = _LiteralParser(cell).parse_document()
        except _NoLiteralError:
            return None
    return value if isinstance(value, list | dict) else None


class _NoLiteralError(Exception):
    """Internal error: the text is not a list or object in Python's notation."""


class _LiteralParser:
    """Parser of one text in Python's notation."""

    def __init__(self, text: str) -> None:
        self._text, self._at = text, 0

    def parse_document(self) -> Any:
        """Return the value of the whole text; raise `_NoLiteralError` if it is none."""
        value = self._parse_value(*self._take_token(), 0)
        if self._at < len(self._text):
            raise _NoLiteralError
        return value

    def _take_token(self) -> tuple[str, str]:
        """Return (kind, text) of the next token; raise `_NoLiteralError` if there is none."""
        found = _TOKEN.match(self._text, self._at)
        if found is None or found.lastgroup is None:
            raise _NoLiteralError
        self._at = found.end()
        return found.lastgroup, found[found.lastgroup]

    def _parse_value(self, kind: str, part: str, depth: int) -> Any:
        """Return the value that begins with a token, nested `depth` deep."""
        if depth > DEEPEST:
            raise _NoLiteralError
        if kind == "string":
            return _evaluate_string(part)
        if kind == "number":
            return float(part) if re.search("[.eE]", part) else _parse_whole_number(part)
        if kind == "enum":
            (value,) = self._parse_members("<", depth)
            return value
        if kind == "name":
            return self._parse_name(part, depth)
        if part == "{":
            return self._parse_object(depth)
        if part in ("[", "("):
            return self._parse_members(part, depth)
        raise _NoLiteralError

    def _parse_members(self, opening: str, depth: int) -> list[Any]:
        """Return the values up to the closing bracket, which commas or blanks separate.

        An argument such as dtype=object is left out.
        """
        found: list[Any] = []
        after_comma = True
        while True:
            kind, part = self._take_token()
            if part == _CLOSING[opening] and kind == "mark":
                return found
            if part == "," and kind == "mark":
                # Two commas in a row, or one after the bracket. A comma before the end is Python's.
                if after_comma:
                    raise _NoLiteralError
                after_comma = True
                continue
            if kind == "name" and self._text.startswith("=", self._at):
                self._take_token()
                kind, part = self._take_token()
                if kind != "name":
                    self._parse_value(kind, part, depth + 1)
            else:
                found.append(self._parse_value(kind, part, depth + 1))
            after_comma = False

    def _parse_object(self, depth: int) -> dict[str, Any]:
        """Return the dict whose opening brace was just read."""
        found: dict[str, Any] = {}
        kind, part = self._take_token()
        while part != "}" or kind != "mark":
            key = self._parse_value(kind, part, depth + 1)
            if self._take_token() != ("mark", ":") or isinstance(key, list | dict):
                raise _NoLiteralError
            found[str(key)] = self._parse_value(*self._take_token(), depth + 1)
            kind, part = self._take_token()
            if (kind, part) == ("mark", ","):
                kind, part = self._take_token()
            elif (kind, part) != ("mark", "}"):
                raise _NoLiteralError
        return found

    def _parse_name(self, name: str, depth: int) -> Any:
        """Return the value of a word such as True, or the first argument of a call."""
        if name in _WORDS:
            return _WORDS[name]
        start = self._at - len(name)
        if self._take_token() != ("mark", "("):
            raise _NoLiteralError
        arguments = self._parse_members("(", depth)
        if arguments and isinstance(arguments[0], list | str):
            return arguments[0]
        return self._text[start : self._at]


def _evaluate_string(part: str) -> str:
    """Return the text of a quoted string; raise `_NoLiteralError` for an invalid one."""
    if "\\" not in part:
        return part[1:-1]
    try:
        # Only of one string token: of a whole cell it would join texts that only a blank parts.
        return str(ast.literal_eval(part))
    except (ValueError, SyntaxError):
        raise _NoLiteralError from None


def _parse_whole_number(part: str) -> int:
    """Return an integer; raise `_NoLiteralError` for one with too many digits."""
    try:
        return int(part)
    except ValueError:  # Python refuses whole numbers of more than 4,300 digits
        raise _NoLiteralError from None
