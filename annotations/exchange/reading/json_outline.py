"""The outline of a JSON text: how many values it holds, how deep, where its objects begin.

Found by regular expressions alone, without a step of Python for each value, so that a text of very
many small values is refused by their number before anything is made of them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

# One that is not closed goes to the end: else each quote in it would be tried as a beginning.
_STRING = re.compile(r'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)
_MARK = re.compile(r"[\[\]{}\n]")
# An escaped backslash, and a whole pair of surrogates: what is left of such escapes is no text.
_WHOLE = re.compile(r"\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}")
_UNWRITABLE = re.compile(r"\\u(?:0000|[dD][89a-fA-F])")


@dataclass(frozen=True, slots=True)
class Outline:
    """What a JSON text holds, of a text that may be no JSON.

    Attributes
    ----------
    n_values : at most so many values; keys of objects are not counted.
    lines : the lines where objects begin, from 1, in the order in which the objects end.
    deep : the line where brackets are nested more than `deepest` deep, 0 if nowhere.
    """

    n_values: int
    lines: list[int]
    deep: int


def outline_of(text: str, most: int, deepest: int) -> Outline:
    """Return the outline of a text; without lines where it holds more than `most` values."""
    bare = _STRING.sub('""', text)
    # Each value but the first of a list or object follows a comma.
    n_values = 1 + bare.count(",") + bare.count("[") + bare.count("{")
    if n_values > most:
        return Outline(n_values, [], 0)
    lines: list[int] = []
    begun: list[int] = []
    line, depth, deep = 1, 0, 0
    for found in _MARK.finditer(bare):
        mark = found[0]
        if mark == "\n":
            line += 1
        elif mark in "[{":
            depth += 1
            if depth > deepest and not deep:
                deep = line
            if mark == "{":
                begun.append(line)
        else:
            depth -= 1
            if mark == "}" and begun:
                lines.append(begun.pop())
    return Outline(n_values, lines, deep)


def unwritable_line(text: str) -> int:
    r"""Return the line of the first escape of NUL or of half a surrogate pair, 0 without one."""
    if "\\u" not in text:
        return 0
    left = _WHOLE.sub("", text)
    found = _UNWRITABLE.search(left)
    return 0 if found is None else left.count("\n", 0, found.start()) + 1
