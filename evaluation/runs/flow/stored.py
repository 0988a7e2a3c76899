"""Declared result tables, measures in them, and dataclasses stored as JSON.

Store frozen dataclasses as JSON, and read them back with their types. Name the kind of fact that no
text states: an entailment model's judgement of an answer.

Declare result tables, from which files, storage, REST API and pages are derived.

    ITEMS = StudyTable("items", ItemRow, MaqaStudy.items, "items.csv")

`evaluation.runs.files.metrics` writes such tables as CSV files, `evaluation.runs.steps.checkpoints`
stores and reads them with a run, and `evaluation.runs.reports.lists` gives them to
downloads, to the REST API and to pages.

Define measures of language models: one number per model and question, read from tables.

Several evaluations measure the same models and questions: how near an answer is to people's, how
sure the model is, whether it answers rewordings alike, whether it recognises that there is
no answer. Each stores its number in a column of one of its tables, and the columns of a run's
tables are those of the files, so that one declaration is enough for both.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from enum import StrEnum
from typing import Any, Generic, Literal, NamedTuple, Self, TypeVar

from pydantic import TypeAdapter


class Stored:
    """Base of dataclasses that are stored as JSON and read back with their types."""

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Self:
        """Return an object from its stored JSON; missing fields get defaults, others are dropped.

        Raises ValueError for a value of another type, or a missing value without a default.
        """
        instance: Self = cls._get_adapter().validate_python(dict(stored))
        return instance

    def as_dict(self) -> dict[str, Any]:
        """Return the object as plain values for JSON."""
        written: dict[str, Any] = self._get_adapter().dump_python(self, mode="json")
        return written

    @classmethod
    def _get_adapter(cls) -> TypeAdapter[Any]:
        """Return the pydantic adapter that converts this class from and to JSON; cached."""
        # From the class's own __dict__: getattr would find the adapter of a base class.
        made: TypeAdapter[Any] | None = cls.__dict__.get("_made")
        if made is None:
            made = TypeAdapter(cls)
            cls._made = made  # type: ignore[attr-defined]
        return made


@dataclass(frozen=True)
class RunSummary(Stored):
    """Base of the summary that a run stores with its rows; each run type has a subclass.

    Attributes
    ----------
    version : version of the class that wrote it; 0 for older runs, which are read unchanged.
    """

    version: int = 0

    def get_shown_counts(self) -> Mapping[str, int]:
        """Return the counts that the run's page shows, by name; none by default."""
        return {}

    def get_model_usage(self) -> Sequence[Any]:
        """Return each asked model's usage, by step; empty if no model was asked."""
        return ()


# The slot of what an entailment model says of a whole answer.
MEANING = "meaning"


RowT = TypeVar("RowT")
StudyT = TypeVar("StudyT")


# eq=False: a frozen dataclass with eq hashes its fields, and the mapping `help` has no hash.
@dataclass(frozen=True, eq=False)
class ResultTable(Generic[RowT]):
    """Declaration of a result table: name, row type, file name, help on its columns.

    Attributes
    ----------
    name : name of the table in a run's stored rows, downloads and URLs.
    row : a named tuple or a dataclass; its fields are the columns, with their types.
    file : name of the CSV file that commands write; "" if only runs have the table.
    help : descriptions of columns, with unit or range, which
        `evaluation.runs.run_types.data_sheets` lacks.
    """

    name: str
    row: type[RowT]
    file: str = ""
    help: Mapping[str, str] = field(default_factory=dict, kw_only=True)

    @property
    def columns(self) -> tuple[str, ...]:
        """Column names, in the order of the row type's fields."""
        row: Any = self.row
        if is_dataclass(row):
            return tuple(one.name for one in fields(row))
        return tuple(row._fields)

    def build_cells(self, rows: Iterable[RowT]) -> Iterable[Sequence[object]]:
        """Return the rows as sequences of cells, in the order of the columns."""
        records: Iterable[Any] = rows
        if is_dataclass(self.row):
            names = self.columns
            return ([getattr(row, name) for name in names] for row in records)
        return records


@dataclass(frozen=True, eq=False)
class StudyTable(Generic[StudyT, RowT], ResultTable[RowT]):
    """A result table with the function that extracts its rows from a study's result.

    Attributes
    ----------
    rows : returns the rows of a study.
    """

    rows: Callable[[StudyT], Iterable[RowT]] = lambda _: ()


def collect_column_help(tables: Iterable[ResultTable[Any]]) -> dict[str, str]:
    """Return the descriptions of columns by ``table.column``, such as "items.f1"."""
    return {f"{table.name}.{name}": text for table in tables for name, text in table.help.items()}


def list_file_names(tables: Iterable[ResultTable[Any]]) -> Iterator[str]:
    """Yield the CSV file names of the tables that have one."""
    return (table.file for table in tables if table.file)


Cells = Mapping[str, Any]
"""A row of a table by its columns: text cells of a file, or values of a run."""
Reads = Callable[[Cells], float | None]

# Why a row tells no number, where its table does not say it.
NO_NUMBER = "no_number_told"


class Aspect(StrEnum):
    """Aspect of language models that a measure is about, such as robustness."""

    CROWD = "crowd"
    UNCERTAINTY = "uncertainty"
    ROBUSTNESS = "robustness"
    ANSWERABILITY = "answerability"


@dataclass(frozen=True)
class Measure:
    """A measure of language models: name, title, range, and whether higher is better.

    Attributes
    ----------
    name : name in files and URLs, unique among all run types.
    side : aspect that it measures; the first measure with data represents it in overviews.
    title, words : label, and explanation in a sentence.
    lowest, highest : ends of the range; None for an open end.
    better : "higher" or "lower", whichever is better for a model or means more certainty; "" for
        neither.
    of : whether there is a number for each answer, for each question over all models, or for each
        model over all questions.
    """

    name: str
    side: Aspect
    title: str
    words: str
    lowest: float | None = None
    highest: float | None = None
    better: Literal["higher", "lower", ""] = "higher"
    of: Literal["answer", "question", "model"] = "answer"


class Observation(NamedTuple):
    """One value of a measure for a model and a question, each "" if there is none.

    `reason` is the code of why `value` is None, else "".
    """

    model: str
    question: str
    value: float | None
    reason: str


def build_column_reader(name: str) -> Reads:
    """Return a function that reads a row's number from the named column."""

    def read(row: Cells) -> float | None:
        return parse_number(row.get(name))

    return read


def parse_number(cell: Any) -> float | None:
    """Return a cell as a number: 1 for true, 0 for false, None for an empty cell.

    Raises
    ------
    ValueError : it holds something else, or a number that is not finite.
    """
    if cell is None or cell == "":
        return None
    if cell in ("true", "false"):
        return float(cell == "true")
    try:
        number = float(cell)
    except (TypeError, ValueError):
        raise ValueError(f"{cell!r} is no number") from None
    if not math.isfinite(number):
        raise ValueError(f"{cell!r} is not finite")
    return number


@dataclass(frozen=True)
class MeasureSource:
    """Table and columns of a run type that hold the values of a measure.

    Attributes
    ----------
    view : the measure.
    number : reads the number from a row; by default the column of the view's name.
    table : name of the run type's table. file : name of the command's file; by default TABLE.csv.
    model, question, reason : columns with the model's name, the question's id, and the code of why
        there is no number; a table may lack the last.
    only : selects rows, by column and cell; by default all.
    merges : whether numbers of several runs may be shown together; False for numbers that depend
        on the other models of the run.
    split : column whose values must not be pooled, such as the prompt form: a measure for each;
        "" for none.
    """

    view: Measure
    number: Reads | None = None
    table: str = "items"
    file: str = ""
    model: str = "system"
    question: str = "item"
    reason: str = "reason"
    only: Mapping[str, str] = field(default_factory=dict)
    split: str = ""
    merges: bool = True

    @property
    def file_name(self) -> str:
        """Name of the table's file in the command's output folder."""
        return self.file or f"{self.table.replace('-', '_')}.csv"

    @property
    def needs(self) -> tuple[str, ...]:
        """Columns that the table must have besides that of the measure's value."""
        whose = {"answer": (self.model, self.question), "question": (self.question,)}
        return (*whose.get(self.view.of, (self.model,)), *self.only, *filter(None, [self.split]))


class MeasuredObservation(NamedTuple):
    """One observation together with the measure (or part of a measure) that it belongs to."""

    view: Measure
    observation: Observation


def select_measure_part(view: Measure, part: str) -> Measure:
    """Return the measure for one part, with the part in name and title; for "" unchanged."""
    if not part:
        return view
    return replace(view, name=f"{view.name}:{part}", title=f"{view.title} ({part})")


def read_measures(
    views: Sequence[MeasureSource], header: Sequence[str], rows: Iterable[Sequence[Any]]
) -> Iterator[MeasuredObservation]:
    """Yield an observation for each row of a table and each measure that the table holds.

    Raises
    ------
    ValueError : a cell that should hold a number holds something else.
    """
    parts: dict[tuple[str, str], Measure] = {}
    reads = [(view, view.number or build_column_reader(view.view.name)) for view in views]
    for cells in rows:
        row = dict(zip(header, cells, strict=False))
        for viewed, read in reads:
            if any(str(row.get(name, "")) != wanted for name, wanted in viewed.only.items()):
                continue
            value = read(row)
            reason = "" if value is not None else str(row.get(viewed.reason) or NO_NUMBER)
            unit = viewed.view.of
            model = "" if unit == "question" else str(row[viewed.model])
            question = "" if unit == "model" else str(row[viewed.question])
            part = str(row.get(viewed.split) or "") if viewed.split else ""
            key = (viewed.view.name, part)
            if key not in parts:
                parts[key] = select_measure_part(viewed.view, part)
            yield MeasuredObservation(parts[key], Observation(model, question, value, reason))
