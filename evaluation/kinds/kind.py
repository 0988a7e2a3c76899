"""What a kind of run declares."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Protocol

from evaluation.flow.stored import RunSummary
from evaluation.options import Problem

if TYPE_CHECKING:
    from evaluation.models import Run
    from evaluation.reports.spreadsheet import Table
    from evaluation.steps.checkpoints import Turn


class Options(Protocol):
    """How a run is done: a frozen dataclass whose fields have defaults."""

    def as_dict(self) -> dict[str, Any]:
        """Return the fields as plain values, ready for JSON."""

    def problems(self) -> list[Problem]:
        """Return what contradicts itself; an empty list if nothing does."""


@dataclass(frozen=True)
class Page:
    """A page of a run that is done.

    Attributes
    ----------
    slug : its part of the address; "" for the first, which every kind with pages needs.
    template : extends "evaluation/kind_base.html" and fills its block `results`.
    context : what the template shows of a run; a door calls it, so it knows no request.
    """

    slug: str
    title: str
    template: str
    context: Callable[[Run], Mapping[str, Any]]


@dataclass(frozen=True)
class Kind:
    """A kind of run.

    Attributes
    ----------
    name : stored with each run, in addresses and on the command line; at most 20 characters.
    title, words : what people call it, and what it does, in a sentence.
    options : how a run is done.
    run : goes on with a claimed run until it is done, or ends with `OutOfTimeError` where the turn
        is over; what it put aside by then is its checkpoint. Raises `RunInputError` for what the
        requester can mend. Its end is `Turn.end`.
    summary : what it stores in `Run.summary`.
    tables : by name; each reads a run that is done, row by row.
    report : what a run found, as a dataclass; None if the summary tells it all.
    pages : of a run that is done. Without any, its tables are shown.
    needs_answers : whether a version needs an answer of somebody before a run makes sense.
    """

    name: str
    title: str
    words: str
    options: type[Options]
    run: Callable[[Turn], None]
    summary: type[RunSummary]
    tables: Mapping[str, Callable[[Run], Table]] = field(default_factory=dict)
    report: Callable[[Run], Any] | None = None
    pages: tuple[Page, ...] = ()
    needs_answers: bool = True

    def options_of(self, stored: Mapping[str, Any]) -> Options:
        """Return the options of a run; what an older run did not store has its default.

        Raises ValueError for names that the kind does not know.
        """
        known = {entry.name for entry in fields(self.options)}  # type: ignore[arg-type]
        if unknown := stored.keys() - known:
            raise ValueError(f"unknown parameters: {', '.join(sorted(unknown))}")
        return self.options(**stored)

    def summary_of(self, run: Run) -> RunSummary:
        """Return what a run says of itself."""
        return self.summary.of(run.summary)
