"""Recognise what the cells of a column hold: ids, times, numbers, JSON or sentences.

A column is of a kind if nine of ten of its cells are.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from annotations.exchange.presets.literals import parse_literal

MOST = 0.9
WORDS = 2.5
"""A column whose cells have so many words on average is taken for free text."""
SENTENCE_WORDS = 3.5
SENTENCE_LENGTH = 60
LONGEST_TIME = 45

_DAY = (
    r"(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}"
    r"|\d{1,2}(\. ?| |-)[^\W\d]{3,9}[., -]+\d{2,4}|[^\W\d]{3,9}\.? \d{1,2},? \d{4}"
    r"|[A-Z][a-z]{2},? [A-Z][a-z]{2} +\d{1,2}( \d{4})?|[A-Z][a-z]{2}, \d{1,2} [A-Z][a-z]{2} \d{4})"
)
_CLOCK = r"(\d{1,2}[:.h]\d{2}([:.]\d{2}([.,]\d+)?)?( ?[AaPp]\.?[Mm]\.?)?)"
_ZONE = r"( ?(Z|UTC|GMT|[A-Z]{3,4}|EE[SZ]T)?([+-]\d{1,2}(:?\d{2})?)?( \d{4})?)"
_TIME = re.compile(rf"({_DAY}([T ,]+{_CLOCK})?|{_CLOCK}){_ZONE}")
_EPOCH = re.compile(r"1[4-9]\d{8}(\d{3})?(\.\d+)?")
_NUMBER = re.compile(r"[+-]?\d[\d ,.']*%?([eE][+-]?\d+)?")
_SHAPES = {
    "hex": re.compile(r"[0-9a-f]{24}|[0-9a-f]{32}|[0-9a-f]{40}"),
    "uuid": re.compile(r"\{?[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\}?"),
    "e-mail": re.compile(r"[^@\s,;<>]+@[^@\s,;<>]+\.[^@\s,;<>]+"),
    "ip": re.compile(r"\d{1,3}(\.\d{1,3}){3}|[0-9a-fA-F]{1,4}(:[0-9a-fA-F]{0,4}){4,7}"),
    "survey response": re.compile(r"R_[0-9A-Za-z]{8,}"),
    "crowd worker": re.compile(r"A[0-9A-Z]{9,}(:[0-9A-Z]+)?"),
}
_CODE = re.compile(r"(?=.*\d)[^\s]{8,}")


def is_time(cell: str) -> bool:
    """Return whether a cell is a date, a time of day, or both."""
    return len(cell) <= LONGEST_TIME and bool(_TIME.fullmatch(cell))


def is_epoch(cell: str) -> bool:
    """Return whether a cell may be a Unix time in seconds or milliseconds."""
    return bool(_EPOCH.fullmatch(cell))


_PANEL_ID = re.compile(r"[0-9a-f]{24}", re.IGNORECASE)


def is_panel_id(text: str) -> bool:
    """Return whether a cell has the form of a participant's id on Prolific."""
    return _PANEL_ID.fullmatch(text.strip()) is not None


def is_number(cell: str) -> bool:
    """Return whether a cell is a number or a percentage."""
    return bool(_NUMBER.fullmatch(cell))


def is_json(cell: str) -> bool:
    """Return whether a cell is an object or a list, in JSON or as printed by Python."""
    return parse_literal(cell) is not None


def classify_cell(cell: str) -> str:
    """Return what a cell looks like, such as "uuid", "time" or "number"; "" for words and texts.

    A code such as "p12" has the shape of its letters, so that all of "p1", "p2" are alike.
    """
    if not cell:
        return ""
    for name, pattern in _SHAPES.items():
        if pattern.fullmatch(cell):
            return name
    if is_time(cell):
        return "time"
    if is_number(cell):
        return "number"
    if is_json(cell):
        return "json"
    if not any(c.isspace() for c in cell) and any(c.isdigit() for c in cell):
        if _CODE.fullmatch(cell):
            return f"code of {len(cell)}"
        return re.sub(r"\d+", "9", cell)
    return ""


def find_common_shape(cells: Sequence[str]) -> str:
    """Return the shape (see `classify_cell`) that at least 90% of the cells have; "" if none."""
    if not cells:
        return ""
    shapes = [classify_cell(cell) for cell in cells]
    # The shape decides a tie: the order of a set of texts differs from process to process.
    found = max(set(shapes), key=lambda shape: (shapes.count(shape), shape))
    return found if shapes.count(found) >= MOST * len(shapes) else ""


def holds_for_most(kind: object, cells: Sequence[str]) -> bool:
    """Return whether the predicate `kind` holds for at least 90% of the cells; False for none."""
    assert callable(kind)
    return bool(cells) and sum(map(bool, map(kind, cells))) >= MOST * len(cells)


def compute_mean_words(cells: Sequence[str]) -> float:
    """Return the mean number of words per cell, estimated for scripts without spaces."""
    if not cells:
        return 0.0
    return sum(max(len(cell.split()), _estimate_unspaced_words(cell)) for cell in cells) / len(
        cells
    )


def _estimate_unspaced_words(cell: str) -> int:
    """Return the estimated words of a text in a script without spaces: two characters are one."""
    wide = sum("\u3040" <= c <= "\u9fff" or "\u0e00" <= c <= "\u0eff" for c in cell)
    return wide // 2


def are_sentences(cells: Sequence[str]) -> bool:
    """Return whether the cells read like sentences, not like ids or names."""
    if not cells:
        return False
    asked = sum(cell.rstrip().endswith(("?", "？")) for cell in cells)
    long = sum(len(cell) > SENTENCE_LENGTH for cell in cells)
    return (
        compute_mean_words(cells) >= SENTENCE_WORDS
        or asked * 2 >= len(cells)
        or long * 2 >= len(cells)
    )
