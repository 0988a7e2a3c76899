"""Locate the table in a file: its sheet, its header row, and whether its columns are people.

A sheet or header row that the user has not chosen is detected: the sheet that has answers, and
the first row that heads a table, so that titles and notes above it are skipped.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from annotations.exchange.header import fill_empty_headings
from annotations.exchange.presets.cells import compute_mean_words, is_number, is_time
from annotations.exchange.presets.columns import is_question_text
from annotations.exchange.presets.declared import is_submission_list, recognise_preset
from annotations.exchange.presets.header_rows import find_second_header
from annotations.exchange.presets.table import COMPARED, Head
from annotations.exchange.problems import InputError
from annotations.exchange.reading.decoding import open_text
from annotations.exchange.reading.delimited import DELIMITERS
from annotations.exchange.reading.source import Readable, Source, make_source
from annotations.exchange.reading.workbook import read_first_rows

OF_TEXT = (".csv", ".tsv", ".results")
LOOKED_AT = 60
"""Rows of a sheet, or lines of a file, among which its header is looked for."""
FULL = 0.6
"""Share of the cells of the fullest row that a header has at least."""
FEWEST_TEXTS = 3
"""Filled cells of a header, where the table is as wide."""

Row = tuple[int, Sequence[str]]
"""The number of a row and its cells."""


@dataclass(frozen=True, slots=True)
class TableChoice:
    """User's choice of sheet and header row; "" and 0 mean that they are detected."""

    sheet: str = ""
    header_row: int = 0
    is_turned: bool = False


@dataclass(frozen=True, slots=True)
class LocatedTable:
    """A file with the located table (sheet and header row) and the names of its sheets.

    `sheet` is the name of the one that is read, "" where there are none, and `header_row` is 0
    where the header is the first row that is not empty.
    """

    source: Source
    sheets: tuple[str, ...] = ()
    sheet: str = ""
    header_row: int = 0

    def as_dict(self) -> dict[str, Any]:
        """Return the table's location as JSON values, which `from_dict` reads back."""
        return {
            "sheets": list(self.sheets),
            "sheet": self.sheet,
            "header_row": self.header_row,
            "is_turned": self.source.is_turned,
            "names_corner": self.source.names_corner,
        }

    @classmethod
    def from_dict(cls, source: Source, values: Mapping[str, Any]) -> LocatedTable:
        """Return the file with the table location in a dict made by `as_dict`."""
        of_source = {name: inner for name, inner in values.items() if name != "sheets"}
        placed = replace(source, **of_source)
        return cls(placed, tuple(values.get("sheets", ())), placed.sheet, placed.header_row)

    def describe_location(self) -> str:
        """Return a sentence on where the table was found; "" if it is at the file's beginning."""
        if len(self.sheets) < 2 and not self.header_row:
            return ""
        place = ", ".join(
            [f"sheet {self.sheet} (of {', '.join(self.sheets)})"] * (len(self.sheets) > 1)
            + [f"header in row {self.header_row}"] * bool(self.header_row)
        )
        return f"Read: {place}"


def locate_table(given: Readable, chosen: TableChoice | None = None) -> LocatedTable:
    """Return the table of a file, located at the chosen sheet and row or at the detected ones.

    Raises `InputError` for a choice that the file does not have, and for a workbook that cannot be
    read.
    """
    chosen, source = chosen or TableChoice(), make_source(given)
    source = replace(source, is_turned=chosen.is_turned, names_corner=chosen.is_turned)
    if source.suffix == ".xlsx":
        return _locate_workbook_table(source, chosen)
    if chosen.sheet:
        raise InputError.from_code(source.name, "sheet_of_no_workbook")
    if source.suffix not in OF_TEXT:
        if chosen.header_row or chosen.is_turned:
            raise InputError.from_code(source.name, "header_of_objects")
        return LocatedTable(source)
    rows = _read_text_rows(source)
    row = chosen.header_row or _find_header_line(rows)
    named = source.names_corner or _lacks_needed_headings(rows, row)
    return LocatedTable(replace(source, header_row=row, names_corner=named), header_row=row)


def _locate_workbook_table(source: Source, chosen: TableChoice) -> LocatedTable:
    """Return the located table of a workbook, on the chosen or the detected sheet."""
    sheets = read_first_rows(source, LOOKED_AT)
    titles = tuple(sheet.title or "" for sheet, _ in sheets)
    rows = [[(row.number, row.texts) for row in found] for _, found in sheets]
    at = _find_chosen_sheet(chosen.sheet, titles)
    if chosen.sheet and at is None:
        listed = ", ".join(titles[:20])
        raise InputError.from_code(
            source.name, "sheet_unknown", sheet=chosen.sheet[:60], sheets=listed
        )
    if at is None:
        visible = [
            [] if sheet.is_hidden else cells for (sheet, _), cells in zip(sheets, rows, strict=True)
        ]
        best = (_find_sheet_with_answers(source.name, group) for group in (visible, rows))
        at = next((place for place in best if place is not None), 0)
    # A workbook without a sheet is refused when its rows are read.
    if not titles:
        return LocatedTable(source)
    row = chosen.header_row or find_header_row(rows[at])
    named = source.names_corner or _lacks_needed_headings(rows[at], row)
    placed = replace(source, sheet=titles[at], header_row=row, names_corner=named)
    return LocatedTable(placed, titles, titles[at], row)


def _find_chosen_sheet(name: str, titles: Sequence[str]) -> int | None:
    """Return the index of the sheet with this name or number; None if there is none."""
    folded = [title.strip().casefold() for title in titles]
    if name.strip().casefold() in folded and name:
        return folded.index(name.strip().casefold())
    # A sheet may be called "2", so a name goes before a number.
    number = int(name) if name.isdecimal() else 0
    return number - 1 if 1 <= number <= len(titles) else None


def _find_sheet_with_answers(name: str, sheets: Sequence[Sequence[Row]]) -> int | None:
    """Return the index of the sheet whose answers have the most words; None if none has answers."""
    words = [_count_answer_words(name, rows) for rows in sheets]
    return words.index(max(words)) if any(words) else None


def _count_answer_words(name: str, rows: Sequence[Row]) -> float:
    """Return the number of words in the answers of a sheet's first rows; 0 without answers."""
    first = find_header_row(rows)
    table = [cells for number, cells in rows if number >= first]
    if len(table) < 2:
        return 0
    width = len(table[0])
    padded = [tuple([*cells, *[""] * width][:width]) for cells in table]
    header = [" ".join(cell.split()) for cell in padded[0]]
    labels = find_second_header(header, padded[1:COMPARED])
    head = Head(name, header, padded[1 + labels.n_rows :], labels.wordings, is_delimited=True)
    if is_submission_list(head):
        return 0
    mapping = recognise_preset(head).propose(head)
    if not mapping.worker or not mapping.answers:
        return 0
    values = [head.get_values(column) for column in mapping.answers]
    return sum(compute_mean_words(cells) * len(cells) for cells in values)


def find_header_row(rows: Sequence[Row]) -> int:
    """Return the row number of a table's header; 0 if it is the first row or none is found.

    It is the first that fills nearly as many cells as the fullest row, if most of them are texts:
    titles and notes above a table fill few.
    """
    counts = [_count_filled_cells(cells) for _, cells in rows]
    if len(rows) < 2:
        return 0
    fullest = max(counts[1:])
    least = max(FULL * fullest, min(FEWEST_TEXTS, fullest))
    for at, (number, cells) in enumerate(rows[:-1]):
        if counts[at] >= least:
            return number if at and _are_column_names(cells) else 0
    return 0


def _count_filled_cells(cells: Sequence[str]) -> int:
    """Return the number of filled cells; an empty first cell counts if all others are filled."""
    filled = [bool(cell.strip()) for cell in cells]
    return sum(filled) + (len(filled) > FEWEST_TEXTS - 1 and not filled[0] and all(filled[1:]))


def _are_column_names(cells: Sequence[str]) -> bool:
    """Return whether most filled cells are texts, as column names are."""
    filled = [cell.strip() for cell in cells if cell.strip()]
    n_texts = sum(not is_number(cell) and not is_time(cell) for cell in filled)
    return 2 * n_texts > len(filled)


def _lacks_needed_headings(rows: Sequence[Row], header_row: int) -> bool:
    """Return whether a column without a heading holds questions or has a label in the next row."""
    return _lacks_question_heading(rows, header_row) or _lacks_labelled_headings(rows, header_row)


def _lacks_labelled_headings(rows: Sequence[Row], header_row: int) -> bool:
    """Return whether a second header row labels columns that have no heading.

    Survey tools write a question with several fields this way: only the first field has a heading.
    """
    table = [cells for number, cells in rows if number >= header_row and any(cells)]
    if len(table) <= FEWEST_TEXTS or not table[0][0].strip():
        return False
    width = max(map(len, table))
    header, *others = [tuple([*cells, *[""] * width][:width]) for cells in table[:COMPARED]]
    labelled = [at for at in range(width) if not header[at].strip() and others[0][at].strip()]
    if not labelled or not any(row[at].strip() for row in others[1:] for at in labelled):
        return False
    return find_second_header(fill_empty_headings(header), others).n_rows > 0


def _lacks_question_heading(rows: Sequence[Row], header_row: int) -> bool:
    """Return whether the first column holds questions but has no heading."""
    table = [cells for number, cells in rows if number >= header_row and any(cells)]
    if len(table) <= FEWEST_TEXTS or table[0][0].strip():
        return False
    first = [cells[0].strip() for cells in table[1:]]
    return sum(map(is_question_text, first)) * 2 >= len(first)


def _read_text_rows(source: Source) -> Sequence[Row]:
    """Return the first rows of a CSV or TSV file, split at the delimiter that fits best."""
    lines = list(islice(open_text(source).iterate_lines(""), LOOKED_AT))
    signs = ["\t"] if source.suffix == ".tsv" else list(DELIMITERS)
    return max((_split_records(lines, sign) for sign in signs), key=_measure_evenness)


def _measure_evenness(records: Sequence[Row]) -> int:
    """Return the number of rows that have the most frequent number of cells (above 1)."""
    # Rows of one cell fit every delimiter that the file does not contain.
    widths = Counter(len(cells) for _, cells in records if len(cells) > 1)
    return max(widths.values(), default=0)


def _find_header_line(records: Sequence[Row]) -> int:
    """Return the line number of a CSV or TSV file's header; 0 if it is the first line."""
    widths = Counter(len(cells) for _, cells in records)
    if not widths or _measure_evenness(records) < FEWEST_TEXTS:
        return 0
    width = widths.most_common(1)[0][0]
    # Rows of another width are titles above the table, or faults that its reader reports.
    filled = [row for row in records if any(map(str.strip, row[1]))]
    even = [row for row in filled if len(row[1]) == width]
    row = find_header_row(even) or (even[0][0] if even else 0)
    above = [cells for number, cells in filled if number < row]
    # A header that is only shorter than its rows is no title; its reader reports the difference.
    if any(sum(map(bool, map(str.strip, cells))) > FULL * width for cells in above):
        return 0
    return row if above and not _is_separator_declaration(above) else 0


def _is_separator_declaration(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether the rows above the header are only a spreadsheet's line "sep=;"."""
    return all("".join(cells).replace(" ", "").casefold().startswith("sep=") for cells in rows)


def _split_records(lines: Sequence[str], sign: str) -> list[Row]:
    """Split lines at a delimiter; return each row's cells with the line where it begins."""
    reader = csv.reader(lines, delimiter=sign)
    found: list[Row] = []
    before = 0
    try:
        for cells in reader:
            found.append((before + 1, cells))
            before = reader.line_num
    except csv.Error:
        pass
    return found
