"""Recognise a second header row, or a missing header, from the first rows of a file."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from annotations.exchange.column_names import (
    LONGEST_LABEL,
    is_bookkeeping_heading,
    is_demographic_heading,
    is_personal_heading,
    normalise_name,
)
from annotations.exchange.markup import strip_markup
from annotations.exchange.presets.cells import classify_cell, find_common_shape
from annotations.exchange.presets.known_names import ANSWERS, KNOWN, QUESTIONS, WORKERS

Cells = tuple[str, ...]
IMPORT_ID = '{"ImportId"'
LABEL_OF_START = "Start Date"
FEWEST_TYPED = 2
"""Columns of ids, times or numbers with no such cell in a row, which therefore is a header row."""
LONG_NUMBER = 6
"""Digits of a number that is an id, and no age or grade."""
_PART = re.compile(r"(?P<base>.+) \[\d+\]$", re.DOTALL)
"""The name that a column without a heading has from the one at its left."""
_NAMES = frozenset(map(normalise_name, (*WORKERS, *QUESTIONS, *ANSWERS, *KNOWN)))


@dataclass(frozen=True, slots=True)
class SecondHeader:
    """Header rows below the first: their number, the question texts by column, the time zone."""

    n_rows: int = 0
    wordings: dict[str, str] = field(default_factory=dict)
    zone: str = ""


def find_second_header(header: Sequence[str], rows: Sequence[Cells]) -> SecondHeader:
    """Return the header rows below the first one, recognised in any language.

    Qualtrics writes one of wordings and one of ids. In any other file it is a row of labels in
    which no column of ids, times or numbers has such a cell.
    """
    for n_wordings, ids in enumerate(rows[:2]):
        if any(ids) and all(cell.startswith(IMPORT_ID) or not cell.strip() for cell in ids):
            zones = (_find_time_zone(cell) for cell in ids)
            # The row of wordings may have been deleted.
            wordings = _map_wordings(header, rows[0]) if n_wordings else {}
            return SecondHeader(1 + n_wordings, wordings, next(filter(None, zones), ""))
    if rows and "StartDate" in header and rows[0][header.index("StartDate")] == LABEL_OF_START:
        return SecondHeader(1, _map_wordings(header, rows[0]))
    if rows and is_label_row(header, rows[0], rows[1:]):
        return SecondHeader(1, _find_second_labels(header, rows[0]))
    return SecondHeader()


def is_label_row(header: Sequence[str], row: Cells, rows: Sequence[Cells]) -> bool:
    """Return whether the row below the header holds labels: no cell looks like its column."""
    others = [row for row in rows if any(map(str.strip, row))]
    # One row below is too few to know what a column usually holds.
    if len(others) < FEWEST_TYPED or not any(map(str.strip, row)):
        return False
    n_blank = n_labelled = 0
    is_strong = False
    for at in range(len(header)):
        cells = [cell for one in others if (cell := one[at].strip())]
        shape = find_common_shape(cells) if len(cells) > 1 else ""
        if not shape:
            continue
        cell = row[at].strip()
        if classify_cell(cell) == shape:
            return False
        n_blank += not cell
        n_labelled += bool(cell)
        is_strong |= shape != "number" or min(map(len, cells)) >= LONG_NUMBER
    labels = [cell.strip() for cell in row if cell.strip()]
    # A row that only lacks some numbers, or has "none" in their place, is a person's answers.
    n_known = sum(is_common_heading(label) or label.endswith(("?", "？")) for label in labels)
    if is_strong and n_labelled >= FEWEST_TYPED:
        return len(set(labels)) > 1
    if is_strong and n_blank >= FEWEST_TYPED and not n_labelled:
        # Labels of the questions alone, such as "Open-Ended Response" under each of them.
        return bool(n_known) or Counter(labels).most_common(1)[0][1] > 1
    return bool(n_labelled) and 2 * n_known >= len(labels)


def looks_like_data(header: Sequence[str], rows: Sequence[Cells]) -> bool:
    """Return whether the header row looks like a row of data, so that the header is missing.

    A row with one common heading (see `is_common_heading`) is a header.
    """
    if not rows or any(map(is_common_heading, header)):
        return False
    n_repeated = 0
    for at, name in enumerate(header):
        cells = [cell for row in rows if (cell := row[at].strip())]
        shape = classify_cell(name)
        if shape and cells and shape == find_common_shape(cells):
            return True
        n_same = cells.count(name)
        n_repeated += n_same > 0
        if n_same > 1:
            return True
    return n_repeated > 1


def are_statements(header: Sequence[str]) -> bool:
    """Return whether column names are sentences but not questions, as answers would be."""
    asked = any(name.rstrip().endswith(("?", "？", ":", "：")) for name in header)
    long = sum(len(name.split()) > LONGEST_LABEL for name in header)
    return not asked and 2 * long >= len(header) and not any(map(is_common_heading, header))


def is_common_heading(name: str) -> bool:
    """Return whether a name is a common column heading, such as "worker" or "Timestamp"."""
    return bool(
        normalise_name(name) in _NAMES
        or is_personal_heading(name)
        or is_bookkeeping_heading(name)
        or is_demographic_heading(name)
    )


def _find_second_labels(header: Sequence[str], row: Cells) -> dict[str, str]:
    """Return the labels in a second header row that add to the first one, by column."""
    # A label under several columns, such as "Open-Ended Response", names none of them.
    counts = Counter(" ".join(cell.split()) for cell in row)
    bases = {part["base"] for name in header if (part := _PART.match(name))}
    found = {}
    for name, cell in zip(header, row, strict=False):
        label = " ".join(strip_markup(cell).split())
        if not label or counts[label] > 1:
            continue
        part = _PART.match(name)
        base = part["base"] if part and part["base"] in header else name
        if base in bases:
            found[name] = f"{base} [{label}]"
            continue
        if " " in name and (name.rstrip().endswith("?") or len(name) > len(label)):
            continue
        found[name] = label
    return found


def _map_wordings(header: Sequence[str], labels: Cells) -> dict[str, str]:
    """Return the question texts in a row of labels, by column."""
    return {
        name: " ".join(strip_markup(text).split())
        for name, text in zip(header, labels, strict=False)
    }


def is_repeated_header(
    cells: Sequence[str], at: Mapping[str, int], wordings: Mapping[str, str]
) -> bool:
    """Return whether a row repeats a header row, as in a file that was put together from several.

    `at` are the positions of the columns that are read, `wordings` those of the second header row.
    """
    if any(cell.startswith(IMPORT_ID) for cell in cells):
        return True
    read = {name: cells[place].strip() for name, place in at.items()}
    if len(read) < FEWEST_TYPED:
        return False
    is_first = all(cell == name.strip() for name, cell in read.items())
    is_second = bool(wordings) and all(cell == wordings.get(name) for name, cell in read.items())
    return is_first or is_second


def _find_time_zone(cell: str) -> str:
    """Return the time zone in a cell of a Qualtrics header; "" without one."""
    try:
        zone = json.loads(cell).get("timeZone", "")
    except (ValueError, AttributeError):
        return ""
    return zone if isinstance(zone, str) else ""
