"""Program that converts a large JSON file to table rows, run in a process with limits.

``python -m annotations.exchange.presets.laying_flat SECONDS BYTES ARGUMENTS`` reads the file that
is its standard input; see `bounded_process`. It prints its header and rows, or with the form
"lines" the objects of a list, each on its line of a file of JSON Lines.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import asdict, replace

from annotations.exchange.presets.table import MOST_VALUES_LAID_FLAT, open_table_here
from annotations.exchange.presets.tools import flatten_document
from annotations.exchange.problems import InputError, Problems
from annotations.exchange.reading.bounded_process import Bounds, print_within_limits
from annotations.exchange.reading.json_document import read_json_here
from annotations.exchange.reading.source import Source, make_bytes_source


def convert_to_flat_lines(
    form: str, name: str, sheet: str, header_row: int, names_corner: bool
) -> Iterator[str]:
    """Yield the JSON lines to print for the file on standard input: table rows or objects."""
    source = replace(
        make_bytes_source(name, sys.stdin.buffer.read()),
        sheet=sheet,
        header_row=header_row,
        names_corner=names_corner,
    )
    return iterate_json_lines(source) if form == "lines" else _iterate_table_lines(source)


def iterate_json_lines(source: Source) -> Iterator[str]:
    """Yield the objects of a JSON list as JSON Lines, each on its original line if possible."""
    document = read_json_here(source, MOST_VALUES_LAID_FLAT)
    before = 0
    for line, row in flatten_document(document.value, source.name).rows:
        number = max(line, before + 1)
        yield from [""] * (number - before - 1)
        yield json.dumps(row)
        before = number


def _iterate_table_lines(source: Source) -> Iterator[str]:
    """Yield the table's header, and then each row, as a line of JSON."""
    problems = Problems(source.name)
    table = open_table_here(source, problems, is_alone=True)
    assert table is not None
    try:
        problems.raise_if_any()
    except InputError as error:
        noted = [asdict(problem) for problem in error.problems]
    else:
        noted = []
    yield json.dumps(
        {
            "header": table.header,
            "fields": table.fields,
            "task": table.task,
            "sha256": table.sha256,
            "warnings": table.warnings,
            "problems": noted,
            "total": problems.total,
        },
        default=str,
    )
    for row in table.rows:
        yield json.dumps(row)


if __name__ == "__main__":
    print_within_limits(
        Bounds(int(sys.argv[1]), int(sys.argv[2])), convert_to_flat_lines(*json.loads(sys.argv[3]))
    )
