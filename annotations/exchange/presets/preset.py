"""Preset: the declaration of one kind of export, how to recognise it and read its rows."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping as Dict
from dataclasses import dataclass, field, replace

from annotations.exchange.column_names import normalise_name
from annotations.exchange.presets.mapping import Mapping
from annotations.exchange.presets.table import Head

UNFINISHED = "unfinished responses"

Row = Dict[str, str]
"""The cells of a row by the plain names of their columns, see `column_names.normalise_name`."""


@dataclass(frozen=True, slots=True)
class TimeColumns:
    """Names of the columns with an answer's start time, submission time and duration.

    Each has the names that its column may have. `zone` is the time zone of times without one, ""
    where the export does not state it.
    """

    started: tuple[str, ...] = ()
    submitted: tuple[str, ...] = ()
    seconds: tuple[str, ...] = ()
    zone: str = ""


@dataclass(frozen=True, slots=True)
class Preset:
    """One kind of export, such as Qualtrics: how to recognise it, map its columns, read its rows.

    Attributes
    ----------
    slug, title : its name in commands, and on pages. how : how a user gets the file from the tool.
    recognises : returns whether a file's beginning is such an export.
    propose : returns the mapping of its columns.
    panel : returns the panel of the workers' ids. cell : returns the text in an answer's cell.
    left_out : returns why a row is not read, "" if it is read.
    unfinished : returns whether the respondent did not finish; None if the export lacks that.
    rejected : returns whether the panel rejected the row's submission, None if unknown.
    times : columns of times and durations. has_private : whether personal columns are left out.
    parts : columns that state why one worker has several rows, each with some of the questions;
        an empty cell of such a file is no answer.
    is_fixed : whether the tool determines the columns, so that the mapping is no guess.
    wording : returns the question's text in the heading of an answer column.
    keeps_html : whether answers and question texts keep the HTML of a rich-text field.
    keeps_ids : whether ids such as 101.0 stay as typed.
    """

    slug: str
    title: str
    how: str
    recognises: Callable[[Head], bool]
    propose: Callable[[Head], Mapping]
    panel: Callable[[Mapping], str] = field(default=lambda mapping: "")
    cell: Callable[[str], str] = str
    left_out: Callable[[Row], str] = field(default=lambda row: "")
    unfinished: Callable[[Row], bool] | None = None
    rejected: Callable[[Row], bool | None] = field(default=lambda row: None)
    times: TimeColumns = TimeColumns()
    has_private: bool = True
    parts: tuple[str, ...] = ()
    is_fixed: bool = False
    wording: Callable[[str], str] = str
    keeps_html: bool = False
    keeps_ids: bool = False

    def find_exclusion_reason(self, row: Row) -> str:
        """Return why a row is not read, as a plural noun for a count; "" if it is read."""
        reason = self.left_out(row)
        return reason or (UNFINISHED if self.unfinished and self.unfinished(row) else "")

    def include_unfinished(self) -> Preset:
        """Return a copy of the preset that also reads unfinished responses."""
        return replace(self, unfinished=None)


def get_named_cell(row: Row, *names: str) -> str:
    """Return the first non-empty cell of a row in a column of one of the names; "" if none."""
    cells = (row.get(normalise_name(name), "").strip() for name in names)
    return next((cell for cell in cells if cell), "")
