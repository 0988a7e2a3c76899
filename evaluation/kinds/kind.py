"""What a kind of run declares."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from evaluation.flow.stored import RunSummary
from evaluation.options import Parameters

if TYPE_CHECKING:
    from evaluation.models import Run
    from evaluation.reports.spreadsheet import Table
    from evaluation.steps.checkpoints import Turn


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
    options : how a run may be done; forms, requests, commands and signatures follow from them.
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
    options: type[Parameters]
    run: Callable[[Turn], None]
    summary: type[RunSummary]
    tables: Mapping[str, Callable[[Run], Table]] = field(default_factory=dict)
    report: Callable[[Run], Any] | None = None
    pages: tuple[Page, ...] = ()
    needs_answers: bool = True

    def options_of(self, stored: Mapping[str, Any]) -> Parameters:
        """Return the options of a run; what an older run did not store has its default.

        Raises ValueError for names that the kind does not know.
        """
        try:
            return self.options.of_dict(stored)
        except KeyError as error:
            raise ValueError(f"unknown parameters: {', '.join(error.args)}") from None

    def summary_of(self, run: Run) -> RunSummary:
        """Return what a run says of itself."""
        return self.summary.of(run.summary)
