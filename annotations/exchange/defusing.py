"""Escape ("defuse") texts that a spreadsheet would run as formulas, and restore them exactly.

An apostrophe before a text *defuses* it: before a text that a spreadsheet could take for a formula,
and before one that begins with an apostrophe, so that removing one apostrophe restores every text
exactly. A spreadsheet with another delimiter than the file's (Excel uses `;` in half of Europe)
sees cells that begin inside of our texts; there an apostrophe goes before the sign that begins a
formula, one more than may be there already, so it can be removed as exactly. Only a file with a
column named `MARK` is restored: in any other file an apostrophe is part of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

MARK = "crowdgrade:defused"
"""Name of the (empty) column of a file whose texts are defused."""

# One spreadsheet or another runs a cell that begins so, some of them also after spaces or a byte
# order mark (the last four are the full-width forms). A tab or a line break at the start may end
# the cell before it.
_RISKY = re.compile("[\\s\ufeff]*[=+\\-@＝＋－＠]| *[\t\r\n\v\f]|'")
# What may separate cells, with what may precede the sign that begins a formula. (Quotes do not
# protect: they are part of the text for a spreadsheet that parts elsewhere.)
_INSIDE = re.compile("([,;|\\t\\r\\n\\v\\f][\\s\ufeff\"']*)(?=[=+\\-@＝＋－＠])")
_DEFUSED_INSIDE = re.compile("([,;|\\t\\r\\n\\v\\f][\\s\ufeff\"']*)'(?=[=+\\-@＝＋－＠])")
# The first characters of risky texts: the first character alone decides for most texts.
_FIRST = frozenset("=+-@＝＋－＠'\ufeff")


def defuse_text(text: str) -> str:
    """Return a text with apostrophes added so that no spreadsheet runs it as a formula."""
    if not text:
        return text
    first = text[0]
    safe = _INSIDE.sub(r"\1'", text)
    if (first in _FIRST or first.isspace()) and _RISKY.match(text):
        return f"'{safe}"
    return safe


def defuse_cell(cell: object) -> object:
    """Return a cell for a spreadsheet: texts pass `defuse_text`, None becomes "", others stay."""
    if cell is None:
        return ""
    return defuse_text(cell) if isinstance(cell, str) else cell


def restore_text(text: str) -> str:
    """Return a text without the apostrophes that `defuse_text` added."""
    return _DEFUSED_INSIDE.sub(r"\1", text.removeprefix("'"))


def restore_cells(cells: Iterable[str]) -> tuple[str, ...]:
    """Return the cells of a row without the apostrophes that `defuse_text` added."""
    return tuple([restore_text(cell) for cell in cells])
