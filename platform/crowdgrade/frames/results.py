"""Results of the Python interface: tables as DataFrames, files, pictures and signature."""

from __future__ import annotations

import csv
import html
import io
import json
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib.util import find_spec
from os import PathLike
from pathlib import Path
from typing import Any

import narwhals as nw

from annotations.exchange import OutputFolder

MAX_SHOWN = 10
"""Rows of a table in a notebook; the DataFrame has all of them."""
MAIN_TABLES = ("workers", "metrics", "panels", "plan_questions")
"""The table that a notebook shows: the first one of these."""
SUMMARY = "summary.json"
# Columns of texts and ids, which stay texts also where each cell is a number.
TEXT_COLUMNS = frozenset(
    [
        *("worker", "question", "answer", "nearest_worker", "nearest_answer", "model", "item"),
        *("workers", "questions", "model_a", "model_b", "system", "group", "kind", "name", "slot"),
        *("id", "form", "status", "reason", "message", "state", "outcome", "dataset", "metric"),
        *("original_reply", "modal_reply", "gold_answer", "system_a", "system_b", "other", "part"),
        *("source", "taken_as", "window", "template", "expression", "majority", "variation"),
        *("language", "prompt", "reply", "judge", "judge_reply", "notes", "similarity_reason"),
    ]
)
# Tables with this column state facts: their column value holds what people wrote.
FACT_COLUMN = "slot"


@dataclass(frozen=True)
class Picture:
    """A chart as SVG, which notebooks display.

    `title` and `explanation` state what the chart shows and how to read it.
    """

    svg: str = field(repr=False)
    title: str = ""
    explanation: str = ""

    def _repr_svg_(self) -> str:
        """Return the SVG text, which notebooks display."""
        return self.svg[self.svg.index("<svg") :]

    def save(self, path: str | PathLike[str]) -> None:
        """Write the picture to an SVG file."""
        Path(path).write_text(self.svg, "utf-8")


class Result:
    """Result of an evaluation; each table is an attribute, a DataFrame of the caller's library.

    Attributes
    ----------
    files : content of each file that the command writes, by name.
    report : the text that the command prints.
    summary : content of summary.json.
    """

    def __init__(
        self,
        function: str,
        files: Mapping[str, bytes],
        *,
        report: str,
        library: Any,
        whole_numbers: Collection[str] = (),
    ) -> None:
        self.function, self.files, self.report = function, dict(files), report
        self._library, self._whole_numbers = library, frozenset(whole_numbers)
        self._frames: dict[str, Any] = {}

    @cached_property
    def summary(self) -> dict[str, Any]:
        """Content of summary.json: parameters, counts, warnings, versions and hashes."""
        summary_json: dict[str, Any] = json.loads(self.files[SUMMARY])
        return summary_json

    @property
    def signature(self) -> str:
        """The signature: method, options, hash of the inputs and version."""
        return str(self.summary["signature"])

    @property
    def warnings(self) -> list[str]:
        """The warnings of the evaluation, each a sentence."""
        return list(self.summary["warnings"])

    @property
    def tables(self) -> list[str]:
        """Names of the tables, which are attributes of the result."""
        return [name.removesuffix(".csv") for name in self.files if name.endswith(".csv")]

    def rows(self, table: str) -> list[dict[str, Any]]:
        """Return a table's rows as dicts (None for an empty cell); raise `KeyError` if unknown."""
        columns = _read_columns(self.files[f"{table}.csv"])
        names = list(columns)
        return [dict(zip(names, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    def __getattr__(self, name: str) -> Any:
        """Return the table of this name as a DataFrame."""
        files = self.__dict__.get("files", {})
        if name.startswith("_") or f"{name}.csv" not in files:
            there = ", ".join(file.removesuffix(".csv") for file in files if file.endswith(".csv"))
            raise AttributeError(f"this result has no table {name!r}; it has {there}")
        if name not in self._frames:
            columns = _read_columns(files[f"{name}.csv"])
            self._frames[name] = self._build_frame(columns)
        return self._frames[name]

    def __dir__(self) -> list[str]:
        return sorted([*super().__dir__(), *self.tables])

    def _build_frame(self, columns: Mapping[str, list[Any]]) -> Any:
        """Return columns as a DataFrame of the caller's library."""
        known = {**columns}
        for name, cells in columns.items():
            if name.removeprefix("nearest_") in self._whole_numbers:
                known[name] = _convert_ids(cells)
        return _build_native_frame(known, self._library)

    @cached_property
    def _charts(self) -> dict[str, Any]:
        """The charts of this function by name; None instead of one that has no data."""
        from crowdgrade.frames.charts import CHARTS

        return {name: build(self) for name, build in CHARTS[self.function].items()}

    @property
    def pictures(self) -> list[str]:
        """The names of the pictures that `plot` returns: those with data."""
        return [
            *(name for name, chart in self._charts.items() if chart is not None),
            *(name.removesuffix(".svg") for name in self.files if name.endswith(".svg")),
        ]

    def plot(self, name: str = "") -> Picture:
        """Return the picture of this name, by default the first one of `pictures`.

        Raises ValueError for an unknown name, and for a picture without data.
        """
        pictures = self.pictures
        chosen = name or next(iter(pictures), "")
        if f"{chosen}.svg" in self.files:
            return Picture(self.files[f"{chosen}.svg"].decode())
        chart = self._charts.get(chosen)
        if chart is not None:
            return Picture(chart.build_standalone_svg(), chart.title, chart.explanation)
        known = ", ".join(pictures) or "none"
        if not chosen:
            raise ValueError(f"this result of crowdgrade.{self.function} has no picture with data")
        problem = "has no data for the picture" if chosen in self._charts else "has no picture"
        raise ValueError(
            f"this result of crowdgrade.{self.function} {problem} {chosen!r}; its pictures: {known}"
        )

    def to_csv(self, folder: str | PathLike[str], *, overwrite: bool = False) -> None:
        """Write all result files into a folder; after an error none of them.

        Raises `InputError` if the folder holds results of other inputs, unless `overwrite`.
        """
        from annotations.exchange.problems import InputError as FileInputError
        from crowdgrade.frames.errors import translate_error
        from evaluation.grading.files.tables import refuse_to_replace_results

        try:
            if self.function == "grade" and not overwrite:
                refuse_to_replace_results(Path(folder), self.summary["input_hashes"])
            with OutputFolder(folder) as target:
                for name, content in self.files.items():
                    target.open(name).write(content)
        except FileInputError as error:
            raise translate_error(error, []) from error

    def export_scorer(
        self,
        folder: str | PathLike[str],
        *,
        answers: Any = None,
        questions: Any = None,
        passages: Any = None,
        columns: Mapping[str, str] | None = None,
        formats: Sequence[str] = ("inspect", "lm-eval", "promptfoo"),
        **options: Any,
    ) -> Any:
        """Write the consensus as a scorer of models' answers; return a preview of it.

        Parameters
        ----------
        folder : to write, or a file.zip. formats : also "hf", which needs pyarrow.
        answers : the graded answers, for facts. questions, passages : with their texts.
        columns : names of the columns of `answers` by their usual names.
        options : name, title, licence, languages, fewest_answers, with_answers, consent_basis.

        Returns
        -------
        evaluation.scorer.preview.ScorerPreview
            What the export contains.

        Raises
        ------
        evaluation.scorer.run.NotExportableError
            The result cannot be exported; `code` states why.
        """
        from crowdgrade.frames.scorers import export_result_as_scorer

        given = {"answers": answers, "questions": questions, "passages": passages}
        return export_result_as_scorer(
            self, Path(folder), given, dict(columns or {}), formats, options
        )

    def __str__(self) -> str:
        return self.report

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of crowdgrade.{self.function}: {', '.join(self.tables)}>"

    def _repr_html_(self) -> str:
        """Return the first rows of the main table, alarms, warnings and signature as HTML."""
        first = next((name for name in MAIN_TABLES if name in self.tables), self.tables[0])
        rows = self.rows(first)
        parts = [_format_html_table(rows[:MAX_SHOWN])]
        if len(rows) > MAX_SHOWN:
            parts.append(_format_html_paragraph(f"{len(rows) - MAX_SHOWN:,} more rows in .{first}"))
        for alarm in self.summary.get("alarms", ()):
            text = f"{alarm['severity'].capitalize()} {alarm['kind']}: {alarm['message']}"
            parts.append(_format_html_paragraph(text))
        parts += [_format_html_paragraph(f"Warning: {warning}") for warning in self.warnings]
        parts.append(_format_html_paragraph(f"Tables: {', '.join(self.tables)}"))
        if self.pictures:
            parts.append(_format_html_paragraph(f"Pictures for plot(): {', '.join(self.pictures)}"))
        parts.append(f"<p><small>{html.escape(self.signature)}</small></p>")
        return "\n".join(parts)


def choose_library(loaded: Mapping[str, Any]) -> Any:
    """Return pandas or Polars, as narwhals names it: a loaded one, else an installed one.

    Raises ImportError without either.
    """
    for name in ("pandas", "polars"):
        if name in loaded:
            return nw.Implementation.from_string(name)
    for name in ("pandas", "polars"):
        if find_spec(name) is not None:
            return nw.Implementation.from_string(name)
    raise ImportError("DataFrames need pandas or Polars: install crowdgrade[frames]")


def build_frame(columns: Mapping[str, list[Any]], library: str = "") -> Any:
    """Return columns as a DataFrame of `library`, by default of the loaded one."""
    chosen = nw.Implementation.from_string(library) if library else choose_library(sys.modules)
    return _build_native_frame(columns, chosen)


def _build_native_frame(columns: Mapping[str, list[Any]], library: Any) -> Any:
    """Return columns as a DataFrame of a library; an empty column becomes numeric."""
    if library.is_pandas_like():
        data = {
            name: cells if name in TEXT_COLUMNS else _fill_empty_column(cells)
            for name, cells in columns.items()
        }
        return nw.from_dict(data, backend=library).to_native()
    schema = {name: _choose_column_type(name, cells) for name, cells in columns.items()}
    known = {name: kind for name, kind in schema.items() if kind is not None}
    # Lists and objects, which tables over REST may hold, have the type that the library finds.
    return nw.from_dict(columns, known if known == schema else None, backend=library).to_native()


def _read_columns(content: bytes) -> dict[str, list[Any]]:
    """Return the columns of a CSV file of results, with numbers and Booleans converted."""
    rows = csv.reader(io.StringIO(content.decode(), newline=""), strict=True)
    header = next(rows)
    cells = list(zip(*rows, strict=True)) or [()] * len(header)
    texts = TEXT_COLUMNS | {"value"} if FACT_COLUMN in header else TEXT_COLUMNS
    return {
        name: _convert_cells(column, name in texts)
        for name, column in zip(header, cells, strict=True)
    }


def _convert_cells(cells: Sequence[str], is_text: bool) -> list[Any]:
    """Return a column's cells as Booleans, integers, floats or texts; None for empty ones."""
    if not is_text:
        filled = [cell for cell in cells if cell]
        if filled and all(cell in ("true", "false") for cell in filled):
            return [None if not cell else cell == "true" for cell in cells]
        for kind in (int, float):
            try:
                return [kind(cell) if cell else None for cell in cells]
            except ValueError:
                continue
    return [cell or None for cell in cells]


def _convert_ids(cells: Sequence[Any]) -> list[Any]:
    """Return ids as integers if each is written as one; else unchanged."""
    numbers = [int(cell) if cell and cell.lstrip("-").isdecimal() else None for cell in cells]
    is_same = all(
        (cell is None and number is None) or str(number) == cell
        for cell, number in zip(cells, numbers, strict=True)
    )
    return numbers if is_same else list(cells)


def _fill_empty_column(cells: list[Any]) -> list[Any]:
    """Return an empty column as NaN, so that pandas treats it as numeric; others unchanged."""
    return cells if any(cell is not None for cell in cells) else [float("nan")] * len(cells)


def _choose_column_type(name: str, cells: Iterable[Any]) -> Any:
    """Return the narwhals type of a column; None for lists.

    A column without values is numeric.
    """
    kinds = {type(cell) for cell in cells if cell is not None}
    if kinds == {bool}:
        return nw.Boolean()
    if kinds == {int}:
        return nw.Int64()
    if str in kinds or (name in TEXT_COLUMNS and not kinds):
        return nw.String()
    return nw.Float64() if kinds <= {int, float} else None


def _format_html_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return rows as an HTML table; texts are escaped, numbers have three decimals."""
    if not rows:
        return "<p>no rows</p>"
    head = "".join(f"<th>{html.escape(name)}</th>" for name in rows[0])
    body = "".join(
        "<tr>" + "".join(f"<td>{_format_html_cell(cell)}</td>" for cell in row.values()) + "</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _format_html_cell(cell: Any) -> str:
    """Return a cell as escaped text: "" for None, three decimals for a float."""
    if cell is None:
        return ""
    return f"{cell:.3f}" if isinstance(cell, float) else html.escape(str(cell))


def _format_html_paragraph(text: str) -> str:
    """Return a text as an escaped HTML paragraph."""
    return f"<p>{html.escape(text)}</p>"
