"""Read the records of any file, and find values in them by paths.

A path leads through a record by keys, "question.stem". "*" takes all entries of a list, or all
values of an object. "^" is the object that contains the record, "^^" the object around that one.
"A,B,C" takes several values in this order. Of alternative paths the first that exists counts.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Sequence
from typing import Any

from annotations.exchange.problems import InputError
from annotations.exchange.reading.decoding import open_text
from annotations.exchange.reading.source import Readable, make_source

Paths = tuple[str, ...]
Parents = tuple[Any, ...]
"""The objects around a record, nearest first."""
# None is a value that a record may hold.
MISSING = object()
ACCEPTED = (".json", ".jsonl", ".ndjson", ".csv", ".tsv")


def read_records(
    path: Readable, paths: Paths = ("*",), header: Sequence[str] = (), tsv_quote: str = '"'
) -> Iterator[tuple[int, Any, Parents]]:
    """Yield (line or record number, record, parent objects) for each record of a file.

    In a JSON document the records are at the first of the paths that leads to objects; in JSON
    Lines each line is one, in CSV and TSV each row. `header` names the columns of a table whose
    first row has none of these names. `tsv_quote` is the quote character of a TSV file, empty where
    quotation marks belong to the cells. Raises `InputError`.
    """
    origin = make_source(path)
    kind = origin.suffix
    if kind not in ACCEPTED:
        raise InputError.single(
            origin.name,
            f"the ending {kind or '(none)'} is not among {', '.join(ACCEPTED)}",
            "Records of workbooks and of tables of ours need no mapping.",
        )
    source = open_text(origin)
    if kind in (".csv", ".tsv"):
        quote = tsv_quote if kind == ".tsv" else '"'
        delimiter = "\t" if kind == ".tsv" else ","
        yield from _read_table_rows(source.iterate_lines(""), delimiter, quote, header)
        return
    if kind == ".json":
        document = _parse_json("".join(source.iterate_lines("")), origin.name, None)
        yield from _find_records(document, paths)
        return
    for number, line in enumerate(source.iterate_lines("\n"), 1):
        if line.strip():
            yield number, _parse_json(line, origin.name, number), ()


def _find_records(document: Any, paths: Paths) -> Iterator[tuple[int, Any, Parents]]:
    """Yield (number, record, parent objects) of the records at the first path with any."""
    rows = document.get("rows") if isinstance(document, dict) else None
    if isinstance(rows, list) and any(map(is_hub_row, rows)):
        document = rows
    for path in paths:
        values = list(_follow_path(document, path.split("."), ()))
        if not any(isinstance(record, dict) for record, _ in values):
            continue
        # In a list every entry counts as a record, so that an invalid one is reported. In an
        # object "*" also matches values such as a version, which are no records.
        is_list = isinstance(document, list) and path == "*"
        records = values if is_list else [each for each in values if isinstance(each[0], dict)]
        for number, (record, parents) in enumerate(records, 1):
            yield number, record, parents
        return


def is_hub_row(entry: Any) -> bool:
    """Return whether an object holds a record as the rows API of Hugging Face lists it."""
    return isinstance(entry, dict) and isinstance(entry.get("row"), dict)


def _parse_json(text: str, name: str, line: int | None) -> Any:
    """Parse JSON text; `InputError` for invalid text, at `line` or the error's own line."""
    try:
        return json.loads(text)
    except ValueError as error:
        number = getattr(error, "lineno", None) if line is None else line
        cause, column = getattr(error, "msg", error), getattr(error, "colno", None)
        raise InputError.from_code(
            name, "record_of_json", line=number, column=column, cause=cause
        ) from error
    except RecursionError as error:
        raise InputError.single(name, "the JSON is nested too deeply", line=line) from error


def _read_table_rows(
    lines: Iterator[str], delimiter: str, quote: str, header: Sequence[str]
) -> Iterator[tuple[int, Any, Parents]]:
    """Yield (line, dict by column name, no parents) of each row of a CSV or TSV file."""
    reader = csv.reader(
        lines,
        delimiter=delimiter,
        quotechar=quote or None,
        quoting=csv.QUOTE_MINIMAL if quote else csv.QUOTE_NONE,
    )
    names: Sequence[str] = ()
    for row in reader:
        if not any(cell.strip() for cell in row):
            continue
        # Files of the hub have a header, published ones of the same benchmark may have none.
        if not names:
            names = [cell.strip() for cell in row]
            if not header or set(header) <= set(names):
                continue
            names = header
        yield reader.line_num, dict(zip(names, row, strict=False)), ()


def _follow_path(
    value: Any, steps: Sequence[str], parents: Parents
) -> Iterator[tuple[Any, Parents]]:
    """Yield (value, parent objects, nearest first) of each value that a path leads to."""
    if not steps:
        yield value, parents
        return
    step, rest = steps[0], steps[1:]
    inner = (value, *parents) if isinstance(value, dict) else parents
    if step == "*":
        members = value.values() if isinstance(value, dict) else value
        if isinstance(members, list) or isinstance(value, dict):
            for member in members:
                yield from _follow_path(member, rest, inner)
    elif isinstance(value, dict) and step in value:
        yield from _follow_path(value[step], rest, inner)


def find_value_at_paths(record: Any, paths: Paths, parents: Sequence[Any] = ()) -> Any:
    """Return the value at the first of `paths` that exists in the record, or `MISSING`."""
    for path in paths:
        start, relative = record, path
        while relative.startswith("^"):
            level = len(path) - len(path.lstrip("^"))
            if level > len(parents):
                break
            start, relative = parents[level - 1], path.lstrip("^").removeprefix(".")
        if "," in relative:
            parts = [
                find_value_at_paths(start, (part.strip(),), parents) for part in relative.split(",")
            ]
            if MISSING not in parts:
                return parts
            continue
        steps = relative.split(".")
        values = [value for value, _ in _follow_path(start, steps, ())]
        if "*" in steps and values:
            return values
        if values:
            return values[0]
    return MISSING


def parse_cell(cell: str) -> Any:
    """Return the JSON list or object in a table cell, else the cell's text."""
    if cell.lstrip()[:1] in ("[", "{"):
        try:
            return json.loads(cell)
        except (ValueError, RecursionError):
            pass
    return cell
