"""Download of a run: tables, summary, and a README that describes the columns."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

from annotations.exchange import InputError
from annotations.exchange.writing.archive import Files, write_zip
from annotations.exchange.writing.folder import OutputFolder
from annotations.exchange.writing.formats import build_sheet_rows, write_csv
from annotations.exchange.writing.sheet import write_workbook
from evaluation.core.options import SITE
from evaluation.models import Run
from evaluation.runs.reports.about import build_title
from evaluation.runs.run_types.columns import find_column_description
from evaluation.runs.run_types.kind import Kind

SUMMARY, SIGNATURE, README = "summary.json", "signature.txt", "README.md"
FORMS = ("zip", "xlsx")

ABOUT = """\
# {title}

{words}

Question set: {name}, version {version}. Run {called} ({run}), {ended}. Settings: {settings}.
{notes}{notice}
`{summary}` holds the run's settings, counts, warnings, why numbers are missing.
`{signature}` is one line that describes how it was made: runs of one signature can be compared.

A CSV file has commas and UTF-8 with a byte order mark. A cell that a spreadsheet could take for a
formula has an apostrophe before it; the last column, `crowdgrade:defused`, says so to programs
that read the file. An empty cell is a number that is missing; the column `reason` says why.
"""


def build_files(kind: Kind, run: Run) -> Files:
    """Return the files of a finished run by name; each is computed when it is read."""

    def table(name: str) -> Iterable[bytes]:
        made = kind.tables[name](run)
        return write_csv(made.header, made.rows)

    files: dict[str, Callable[[], Iterable[bytes]]] = {
        README: lambda: [build_readme(kind, run).encode()],
        SUMMARY: lambda: [_encode_json(build_summary(kind, run))],
        SIGNATURE: lambda: [f"{run.signature}\n".encode()],
    }
    files |= {f"{name}.csv": partial(table, name) for name in kind.tables}
    more = kind.files(run) if kind.files else {}
    return files | {name: partial(_split_whole, data) for name, data in more.items()}


def build_zip(kind: Kind, run: Run) -> Iterator[bytes]:
    """Yield a ZIP archive of all files of a finished run, in chunks."""
    return write_zip(build_files(kind, run))


def build_workbook(kind: Kind, run: Run) -> Iterator[bytes]:
    """Yield an Excel workbook in chunks: a sheet on the columns, then one sheet per table.

    Raises `InputError`, while it is written, for a text that no cell of a workbook holds.
    """

    def table(name: str) -> Iterable[Sequence[object]]:
        made = kind.tables[name](run)
        return build_sheet_rows(made.header, made.rows)

    return write_workbook(
        {
            "README": lambda: _build_readme_sheet(kind, run),
            **{name: partial(table, name) for name in kind.tables},
        }
    )


def write_data(kind: Kind, run: Run, output: Path) -> list[str]:
    """Write a run's files into a folder, or one .zip or .xlsx file; return the file names.

    All files are written, or none. Raises `InputError` if the place cannot be written to.
    """
    form = output.suffix.lower().lstrip(".")
    if form in FORMS:
        made = build_zip if form == "zip" else build_workbook
        try:
            with OutputFolder(output.parent) as folder:
                folder.open(output.name).writelines(made(kind, run))
        except ValueError as error:
            raise InputError.single(str(output), str(error), "Choose another name.") from error
        return [output.name]
    files = build_files(kind, run)
    with OutputFolder(output) as folder:
        for name, chunks in files.items():
            folder.open(name).writelines(chunks())
    return list(files)


def build_summary(kind: Kind, run: Run) -> dict[str, object]:
    """Return the content of a run's summary.json."""
    question_set = run.version.question_set
    return {
        "kind": kind.name,
        "title": kind.title,
        "run": str(run.public_id),
        "name": run.name,
        "notes": run.notes,
        "question_set": {"name": question_set.name, "version": run.version.number},
        "signature": run.signature,
        "input_hash": run.input_hash,
        "started_at": run.started_at and run.started_at.isoformat(),
        "finished_at": run.finished_at and run.finished_at.isoformat(),
        "parameters": run.parameters,
        "summary": run.summary,
        "warnings": [SITE.format(warning) for warning in run.warnings],
        "reasons": run.reasons,
    }


def build_readme(kind: Kind, run: Run) -> str:
    """Return a run's README.md: what the run is, and what each table's columns hold."""
    parts = [_describe_run(kind, run)]
    for name, columns in _list_columns(kind, run):
        lines = [f"- `{column}`{': ' if words else ''}{words}" for column, words in columns]
        parts.append("\n".join([f"## {name}.csv", "", *lines, ""]))
    return "\n".join(parts)


def _describe_run(kind: Kind, run: Run) -> str:
    """Return the first part of README.md: the run, its settings and its files."""
    question_set = run.version.question_set
    name = build_title(run, kind.options)
    ended = f"done on {run.finished_at:%Y-%m-%d %H:%M} UTC" if run.finished_at else "done"
    return ABOUT.format(
        title=kind.title,
        words=kind.words,
        name=question_set.name,
        version=run.version.number,
        run=run.public_id,
        called=name.title,
        settings=name.settings,
        notes=f"Notes: {run.notes}\n" if run.notes else "",
        ended=ended,
        notice=f"{question_set.notice}\n" if question_set.notice else "",
        summary=SUMMARY,
        signature=SIGNATURE,
    )


def _list_columns(kind: Kind, run: Run) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Yield each table's name with its (column, description) pairs."""
    for name, table_of in kind.tables.items():
        header = table_of(run).header
        yield name, [(one, find_column_description(name, one, kind.columns)) for one in header]


def _build_readme_sheet(kind: Kind, run: Run) -> Iterator[Sequence[object]]:
    """Yield the rows of the workbook's first sheet, which describes the columns."""

    def rows() -> Iterator[Sequence[object]]:
        question_set = run.version.question_set
        yield "", "what", kind.title
        yield "", "question set", f"{question_set.name}, version {run.version.number}"
        yield "", "run", f"{build_title(run, kind.options).title} ({run.public_id})"
        if run.notes:
            yield "", "notes", run.notes
        yield "", "signature", run.signature
        if question_set.notice:
            yield "", "notice", question_set.notice
        for name, columns in _list_columns(kind, run):
            for column, words in columns:
                yield name, column, words

    return build_sheet_rows(("sheet", "column", "what it holds"), rows())


def _split_whole(data: bytes) -> Iterable[bytes]:
    """Return the data of a file as one chunk."""
    return [data]


def _encode_json(value: object) -> bytes:
    """Return the value as indented UTF-8 JSON; raises ValueError for NaN."""
    return (json.dumps(value, ensure_ascii=False, allow_nan=False, indent=2) + "\n").encode()
