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
class Times:
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
    slug, title : what commands and pages call it. how : how the file is got there.
    recognises : whether the beginning of a file is of it. propose : its mapping.
    panel : where the workers' ids come from. cell : reads the text of a cell of an answer.
    left_out : why a row is no answer, "" if it is one. unfinished : whether its sender broke off,
    None where the export does not state it. rejected : whether it was refused where it was
    collected, None where it is unknown. times : columns, where the file has them. has_private :
    whether personal columns are left out. parts : columns that state why one person has
    several rows, each with some of the questions: there an empty cell is no answer.
    is_fixed : whether the form of the file states which columns hold what, so that its mapping is
    no guess. wording : the wording in the heading of a column of answers. keeps_html : whether
    answers and wordings stay as typed, with the HTML of a rich-text field. keeps_ids : whether
    ids such as 101.0 stay as typed.
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
    times: Times = Times()
    has_private: bool = True
    parts: tuple[str, ...] = ()
    is_fixed: bool = False
    wording: Callable[[str], str] = str
    keeps_html: bool = False
    keeps_ids: bool = False

    def reason_left_out(self, row: Row) -> str:
        """Return why a row is not read, as a plural noun for a count; "" if it is read."""
        reason = self.left_out(row)
        return reason or (UNFINISHED if self.unfinished and self.unfinished(row) else "")

    def keeping_unfinished(self) -> Preset:
        """Return a copy of the preset that also reads unfinished responses."""
        return replace(self, unfinished=None)


def get_named_cell(row: Row, *names: str) -> str:
    """Return the first non-empty cell of a row in a column of one of the names; "" if none."""
    cells = (row.get(normalise_name(name), "").strip() for name in names)
    return next((cell for cell in cells if cell), "")
