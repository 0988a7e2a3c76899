"""Read the rows of CSV and TSV files, in any common delimiter."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import chain, islice
from operator import itemgetter

from annotations.exchange.defusing import restore_cells
from annotations.exchange.header import (
    Column,
    ColumnLayout,
    Row,
    clean_column_name,
    fill_empty_headings,
    locate_columns,
    refuse_too_many_columns,
)
from annotations.exchange.problems import Problems, RowNumbers
from annotations.exchange.reading.decoding import TextFile, build_empty_file_error

LONGEST_HEADER = 100_000
COMPARED = 10
"""Lines under the header that tell which sign parts the cells."""
LONGEST_COMPARED = 20_000
DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "vertical bar"}
_BLANK = re.compile("[\\s,;|]*")
_DECLARED = re.compile(
    r"""\s*["'\ufeff]*\s*sep\s*=\s*["']?([,;|\t]|\\t)["']?\s*["']?[\s,;|]*""", re.IGNORECASE
)


def read_delimited(
    source: TextFile,
    columns: Sequence[Column],
    problems: Problems,
    kept_aside: list[str],
    marks: set[str],
    delimiter: str | None = None,
    may_lack: Collection[str] = (),
    *,
    bare_quotes: bool = False,
    header_row: int = 0,
    names_corner: bool = False,
) -> Iterator[Row]:
    """Yield (line, wanted cells, further cells) of each data row of a CSV or TSV file.

    Without `delimiter` the header line decides: comma, semicolon, tab or vertical bar. Blank lines
    are skipped, and rows of blank cells, as in a workbook. A row may end before the header's last
    columns if `may_lack` names them all, in any case. Ragged rows and quotes that do not close are
    noted in `problems` and left out; after a quote that never closes, reading ends. Raises
    `InputError` for an empty file and an invalid header. With `bare_quotes` a quote is an ordinary
    character. The header is the first line from `header_row` on that is not blank; with
    `names_corner` its first cell gets a name where it is blank.
    """
    lines = source.iterate_lines("")
    number, header_line = 0, ""
    # Counted later: a spreadsheet numbers the rows above the header, too.
    above: list[str] = []
    for line in lines:
        number += 1
        if declared := _DECLARED.fullmatch(line):
            # Spreadsheets in some countries put this line before the header.
            delimiter = delimiter or declared.group(1).replace("\\t", "\t")
        elif number >= header_row and not _BLANK.fullmatch(line):
            header_line = line
            break
        else:
            above.append(line)
    if not header_line:
        raise build_empty_file_error(source.name)

    next_lines: list[str] = []
    if not delimiter:
        next_lines = list(islice(lines, COMPARED))
        delimiter = _guess_delimiter(header_line, next_lines, columns)
    all_lines = chain([header_line], next_lines, lines)
    if bare_quotes:
        reader = csv.reader(all_lines, delimiter=delimiter, quoting=csv.QUOTE_NONE)
    else:
        reader = csv.reader(all_lines, delimiter=delimiter, strict=True)
    problems.rows = RowNumbers()
    n_above = _count_records(above, delimiter)
    records = _number_records(reader, number, n_above + 1, problems)
    header = next(records, None)
    problems.raise_if_any()  # what follows a broken header is no header
    if header is None:
        raise build_empty_file_error(source.name)
    refuse_too_many_columns(source.name, len(header[1]))
    names = fill_empty_headings(header[1]) if names_corner else header[1]
    layout = locate_columns(names, columns, source.name, number)
    kept_aside.extend(name for _, name in layout.others)
    marks.update(layout.marks)
    widths = (_count_required_cells(header[1], may_lack), len(header[1]))
    yield from _pick_cells(records, layout, widths, DELIMITERS[delimiter], problems)


def _count_records(lines: Sequence[str], delimiter: str) -> int:
    """Return the number of rows that a spreadsheet shows for the lines above the header."""
    try:
        return sum(1 for _ in csv.reader(lines, delimiter=delimiter))
    except csv.Error:
        return len(lines)


def _count_required_cells(header: Sequence[str], may_lack: Collection[str]) -> int:
    """Return the fewest cells that a row must have; the columns `may_lack` may be cut off."""
    shortest, known = len(header), {name.casefold() for name in may_lack}
    while shortest > 1 and clean_column_name(header[shortest - 1]).casefold() in known:
        shortest -= 1
    return shortest


def _guess_delimiter(line: str, next_lines: Sequence[str], columns: Sequence[Column]) -> str:
    """Return the delimiter that yields most wanted columns, then even rows, then most cells."""
    # Wanted names count most: a heading may contain commas, and more cells prove nothing.
    wanted = {name.casefold() for column in columns for name in column.names}
    line = line[:LONGEST_HEADER]  # csv would raise for a longer field

    def rate_delimiter(delimiter: str) -> tuple[int, bool, int]:
        """Return a delimiter's sort key: wanted columns, even rows, number of cells."""
        cells = next(csv.reader([line], delimiter=delimiter))
        fields = [clean_column_name(cell).casefold() for cell in cells]
        return (
            len(wanted.intersection(fields)),
            _splits_evenly(line, next_lines, delimiter),
            len(fields),
        )

    return max(DELIMITERS, key=rate_delimiter)


def _splits_evenly(line: str, next_lines: Sequence[str], delimiter: str) -> bool:
    """Return whether a delimiter splits the first lines into rows of one width, above 1."""
    sample = [line, *next_lines]
    if sum(map(len, sample)) > LONGEST_COMPARED:
        return False
    try:
        widths = [len(cells) for cells in csv.reader(sample, delimiter=delimiter) if cells]
    except csv.Error:
        return False
    if len(next_lines) == COMPARED and len(widths) > 2:
        widths.pop()  # the last row may continue in a line after the sample
    return len(widths) > 1 and widths[0] > 1 and len(set(widths)) == 1


def _number_records(
    reader: Iterator[list[str]], first_line: int, row: int, problems: Problems
) -> Iterator[tuple[int, list[str]]]:
    """Yield (first line, cells) of each CSV record; malformed ones go to `problems`.

    `row` is the number of the first record in a spreadsheet; `problems` learns those of the others.
    """
    lines_before = first_line - 1
    start = first_line
    while True:
        try:
            # csv counts physical lines: a record with line breaks in its cells counts several.
            for cells in reader:
                if problems.rows is not None:
                    problems.rows.add_record(start, row)
                row += 1
                if cells:
                    yield start, cells
                start = lines_before + reader.line_num + 1  # type: ignore[attr-defined]
            return
        except csv.Error as error:
            if not _record_csv_error(str(error), start, problems):
                return
            row += 1
            start = lines_before + reader.line_num + 1  # type: ignore[attr-defined]


def _record_csv_error(error: str, line: int, problems: Problems) -> bool:
    """Record the problem of a CSV error; return whether later lines can still be read."""
    if error.startswith("field larger"):
        # csv's own limit is above ours for an answer, and it keeps an open quote from gathering
        # the whole file in memory; the limit is left alone, as it is the whole process's.
        problems.add_code(line, None, "cell_too_long", most=csv.field_size_limit())
        return False
    if error.startswith("unexpected end"):
        problems.add_code(line, None, "quote_open")
        return False
    problems.add_code(line, None, "text_after_quote")
    return True


def _pick_cells(
    records: Iterator[tuple[int, list[str]]],
    layout: ColumnLayout,
    widths: tuple[int, int],
    delimiter: str,
    problems: Problems,
) -> Iterator[Row]:
    """Yield (line, wanted cells, further cells) of each record; uneven ones go to `problems`."""
    shortest, width = widths
    # An absent optional column reads the empty cell that is put at the end of every row.
    wanted = _build_cell_getter([width if i is None else i for i in layout.wanted])
    others = _build_cell_getter([i for i, _ in layout.others])
    defused = layout.is_defused
    for line, cells in records:
        # Spreadsheets write an empty row with all its delimiters. In a file of one
        # column, an empty cell in quotes is a row.
        if (width > 1 or len(cells) > 1) and not any(map(str.strip, cells)):
            continue
        # Only trailing columns may be cut off, so the missing cells are the last ones.
        if shortest <= len(cells) < width:
            cells.extend([""] * (width - len(cells)))
        elif len(cells) != width:
            fields = f"{len(cells)} field" + ("s" if len(cells) > 1 else "")
            code = "row_too_short" if len(cells) < width else "row_too_long"
            problems.add_code(line, None, code, fields=fields, width=width, delimiter=delimiter)
            continue
        cells.append("")
        if defused:
            yield line, restore_cells(wanted(cells)), restore_cells(others(cells))
        else:
            yield line, wanted(cells), others(cells)


def _build_cell_getter(positions: list[int]) -> Callable[[list[str]], tuple[str, ...]]:
    """Return a function that picks the cells at these positions from a row, as a tuple."""
    if not positions:
        return lambda cells: ()
    if len(positions) == 1:
        only = positions[0]
        return lambda cells: (cells[only],)
    return itemgetter(*positions)
