"""Texts that a spreadsheet would run as formulas: defused on the way out, restored on the way in.

A text is *defused* by an apostrophe before it if a spreadsheet could take it for a formula, and
also if it begins with an apostrophe, so that taking one apostrophe away restores every text
exactly. A spreadsheet that parts cells by another character than the file does (Excel by `;` in
half of Europe) sees cells that begin inside of our texts; there an apostrophe goes before the
sign that begins a formula, one more than may stand there already, which takes back as exactly.
Only a file that says so is restored, by a column named `MARK`: in anybody else's file
an apostrophe is part of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

MARK = "crowdgrade:defused"
"""Name of the (empty) column by which a file says that its texts are defused."""

# One spreadsheet or another runs a cell that begins so, some of them also after spaces or a byte
# order mark (the last four are the full-width forms). A tab or a line break at the start may end
# the cell before it.
_RISKY = re.compile("[\\s\ufeff]*[=+\\-@＝＋－＠]| *[\t\r\n\v\f]|'")
# What may part cells, with what may stand before the sign that begins a formula. (Quotes are no
# shelter: they are part of the text for a spreadsheet that parts elsewhere.)
_INSIDE = re.compile("([,;|\\t\\r\\n\\v\\f][\\s\ufeff\"']*)(?=[=+\\-@＝＋－＠])")
_DEFUSED_INSIDE = re.compile("([,;|\\t\\r\\n\\v\\f][\\s\ufeff\"']*)'(?=[=+\\-@＝＋－＠])")
# All that a risky text can begin with: most texts are told by their first character.
_FIRST = frozenset("=+-@＝＋－＠'\ufeff")


def defused(text: str) -> str:
    """The text as it is safe in a spreadsheet; `restored` gives it back exactly."""
    if not text:
        return text
    first = text[0]
    safe = _INSIDE.sub(r"\1'", text)
    if (first in _FIRST or first.isspace()) and _RISKY.match(text):
        return f"'{safe}"
    return safe


def defused_cell(cell: object) -> object:
    """The cell, defused if it is a text: numbers stay numbers, and None is an empty cell."""
    if cell is None:
        return ""
    return defused(cell) if isinstance(cell, str) else cell


def restored(text: str) -> str:
    """The text before it was defused; one that was not (or was typed anew) stays as it is."""
    return _DEFUSED_INSIDE.sub(r"\1", text.removeprefix("'"))


def restored_all(cells: Iterable[str]) -> tuple[str, ...]:
    """All cells of a row as they were before."""
    return tuple([restored(cell) for cell in cells])
