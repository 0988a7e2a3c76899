"""Count the values of a JSON text, their nesting depth and object lines, without parsing it.

Regular expressions alone find this, without a step of Python for each value, so that a text with
too many small values is refused before any of them is built.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

# An open string extends to the end of the text: otherwise each quote in it would be tried as a
# beginning, in quadratic time.
_STRING = re.compile(r'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)
_MARK = re.compile(r"[\[\]{}\n]")
# Escaped backslashes and whole surrogate pairs are removed first; an escape that remains is bad.
_WHOLE = re.compile(r"\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}")
_UNWRITABLE = re.compile(r"\\u(?:0000|[dD][89a-fA-F])")


@dataclass(frozen=True, slots=True)
class Outline:
    """Number of values, object lines and first too deep line of a text, which may be no JSON.

    Attributes
    ----------
    n_values : an upper limit of the number of values; keys of objects are not counted.
    lines : the lines where objects begin, from 1, in the order in which the objects end.
    deep : the line where brackets are nested more than `deepest` deep, 0 if nowhere.
    """

    n_values: int
    lines: list[int]
    deep: int


def build_outline(text: str, most: int, deepest: int) -> Outline:
    """Return the outline of a text; without object lines if it has more than `most` values."""
    bare = _STRING.sub('""', text)
    # Each value but the first of a list or object follows a comma.
    n_values = 1 + bare.count(",") + bare.count("[") + bare.count("{")
    if n_values > most:
        return Outline(n_values, [], 0)
    lines: list[int] = []
    open_lines: list[int] = []
    line, depth, too_deep_line = 1, 0, 0
    for match in _MARK.finditer(bare):
        mark = match[0]
        if mark == "\n":
            line += 1
        elif mark in "[{":
            depth += 1
            if depth > deepest and not too_deep_line:
                too_deep_line = line
            if mark == "{":
                open_lines.append(line)
        else:
            depth -= 1
            if mark == "}" and open_lines:
                lines.append(open_lines.pop())
    return Outline(n_values, lines, too_deep_line)


def find_unwritable_line(text: str) -> int:
    """Return the line of the first escape of NUL or half a surrogate pair; 0 if none."""
    if "\\u" not in text:
        return 0
    left = _WHOLE.sub("", text)
    found = _UNWRITABLE.search(left)
    return 0 if found is None else left.count("\n", 0, found.start()) + 1
