"""All that a run found as one download: tables, summary, signature, and what columns hold."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

from annotations.exchange import InputError
from annotations.exchange.writing.archive import Files, zip_chunks
from annotations.exchange.writing.folder import OutputFolder
from annotations.exchange.writing.formats import csv_chunks, sheet_rows
from annotations.exchange.writing.sheet import workbook_chunks
from evaluation.kinds.kind import Kind
from evaluation.models import Run
from evaluation.options import SITE
from evaluation.reports.called import called
from evaluation.words.columns import column_words

SUMMARY, SIGNATURE, README = "summary.json", "signature.txt", "README.md"
FORMS = ("zip", "xlsx")

ABOUT = """\
# {title}

{words}

Question set: {name}, version {version}. Run {called} ({run}), {ended}. Settings: {settings}.
{notes}{notice}
`{summary}` holds what the run says of itself: settings, counts, warnings, why numbers are missing.
`{signature}` is one line that says how it was made: runs of one signature can be compared.

A CSV file has commas and UTF-8 with a byte order mark. A cell that a spreadsheet could take for a
formula has an apostrophe before it; the last column, `crowdgrade:defused`, says so to programs
that read the file. An empty cell is a number that is missing; the column `reason` says why.
"""


def data_files(kind: Kind, run: Run) -> Files:
    """Return the files of a run that is done, by name, each written when it is its turn."""

    def table(name: str) -> Iterable[bytes]:
        made = kind.tables[name](run)
        return csv_chunks(made.header, made.rows)

    files: dict[str, Callable[[], Iterable[bytes]]] = {
        README: lambda: [readme(kind, run).encode()],
        SUMMARY: lambda: [_as_json(summary(kind, run))],
        SIGNATURE: lambda: [f"{run.signature}\n".encode()],
    }
    files |= {f"{name}.csv": partial(table, name) for name in kind.tables}
    more = kind.files(run) if kind.files else {}
    return files | {name: partial(_whole, data) for name, data in more.items()}


def data_zip(kind: Kind, run: Run) -> Iterator[bytes]:
    """Return all of it as a ZIP."""
    return zip_chunks(data_files(kind, run))


def data_workbook(kind: Kind, run: Run) -> Iterator[bytes]:
    """Return all of it as a workbook: what columns hold, then a sheet for each table.

    Raises `InputError`, while it is written, for a text that no cell of a workbook holds.
    """

    def table(name: str) -> Iterable[Sequence[object]]:
        made = kind.tables[name](run)
        return sheet_rows(made.header, made.rows)

    return workbook_chunks(
        {
            "README": lambda: _readme_rows(kind, run),
            **{name: partial(table, name) for name in kind.tables},
        }
    )


def write_data(kind: Kind, run: Run, output: Path) -> list[str]:
    """Write all of it into a folder, or into one file that ends in .zip or .xlsx.

    Returns the names. All of them appear, or none. Raises `InputError` if the place cannot be
    written to.
    """
    form = output.suffix.lower().lstrip(".")
    if form in FORMS:
        made = data_zip if form == "zip" else data_workbook
        try:
            with OutputFolder(output.parent) as folder:
                folder.open(output.name).writelines(made(kind, run))
        except ValueError as error:
            raise InputError.single(str(output), str(error), "Choose another name.") from error
        return [output.name]
    files = data_files(kind, run)
    with OutputFolder(output) as folder:
        for name, chunks in files.items():
            folder.open(name).writelines(chunks())
    return list(files)


def summary(kind: Kind, run: Run) -> dict[str, object]:
    """Return what summary.json holds."""
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
        "warnings": [SITE.said(warning) for warning in run.warnings],
        "reasons": run.reasons,
    }


def readme(kind: Kind, run: Run) -> str:
    """Return what README.md says: what it is, and of each table its columns."""
    parts = [_about(kind, run)]
    for name, columns in _columns(kind, run):
        lines = [f"- `{column}`{': ' if words else ''}{words}" for column, words in columns]
        parts.append("\n".join([f"## {name}.csv", "", *lines, ""]))
    return "\n".join(parts)


def _about(kind: Kind, run: Run) -> str:
    question_set = run.version.question_set
    name = called(run, kind.options)
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


def _columns(kind: Kind, run: Run) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    for name, table_of in kind.tables.items():
        header = table_of(run).header
        yield name, [(one, column_words(name, one, kind.columns)) for one in header]


def _readme_rows(kind: Kind, run: Run) -> Iterator[Sequence[object]]:
    def rows() -> Iterator[Sequence[object]]:
        question_set = run.version.question_set
        yield "", "what", kind.title
        yield "", "question set", f"{question_set.name}, version {run.version.number}"
        yield "", "run", f"{called(run, kind.options).title} ({run.public_id})"
        if run.notes:
            yield "", "notes", run.notes
        yield "", "signature", run.signature
        if question_set.notice:
            yield "", "notice", question_set.notice
        for name, columns in _columns(kind, run):
            for column, words in columns:
                yield name, column, words

    return sheet_rows(("sheet", "column", "what it holds"), rows())


def _whole(data: bytes) -> Iterable[bytes]:
    return [data]


def _as_json(value: object) -> bytes:
    return (json.dumps(value, ensure_ascii=False, allow_nan=False, indent=2) + "\n").encode()
