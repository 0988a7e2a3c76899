"""Starting a run of any kind from the command line, and watching it to its end."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from annotations.exchange.reading.outside_information import given_workers
from annotations.management.importing import SetCommand
from annotations.models import QuestionSetVersion
from evaluation.background.liveness import HOW_TO_START, somebody_listens
from evaluation.background.runs import queue
from evaluation.background.watching import watch
from evaluation.kinds import Kind
from evaluation.kinds.data_sheets import write_data
from evaluation.management.option_arguments import chosen
from evaluation.models import Run
from evaluation.options import TERMINAL, Ids, OptionError, Parameters
from evaluation.words.console import (
    BAD_INPUT,
    Bars,
    printable,
    refused_as_bad_input,
    tell,
    text_table,
)

# Rows of a table shown on a terminal; the files hold all of them.
SHOWN = 40
PAUSED = "the run is paused; it goes on when somebody resumes it"


class RunCommand(SetCommand):
    """Queues a run over the latest version of a set, shows how far it is and prints its report."""

    def start(self, kind: Kind, options: dict[str, Any]) -> None:
        """Queue, watch, print; with `output` among the options write the tables there."""
        parameters = with_ids(chosen(kind.options, options), options)
        run = self.queued(kind, self.version(options), parameters)
        if options["no_wait"] or not self.watched(run):
            return
        if run.state == Run.State.PAUSED:
            tell(self.stdout, PAUSED)
            return
        if run.state != Run.State.DONE:
            raise CommandError(f"the run {run.state}: {TERMINAL.said(run.error) or 'no results'}")
        self.show(kind, run, options)

    def version(self, options: dict[str, Any]) -> QuestionSetVersion:
        """Return the latest version of the set that is named."""
        question_set = self.question_set(options)
        version = question_set.latest_version()
        if version is None:
            raise CommandError(f"{question_set} has no questions yet", returncode=BAD_INPUT)
        return version

    def queued(self, kind: Kind, version: QuestionSetVersion, parameters: Parameters) -> Run:
        """Return the run, queued; CommandError (2) for options that will not do."""
        owner = version.question_set.owner_id
        try:
            run = queue(version, owner, parameters, kind.name, trusted=True)
        except OptionError as error:
            told = TERMINAL.all_told(kind.options, error.problems)
            raise CommandError(printable("\n".join(told)), returncode=BAD_INPUT) from None
        tell(self.stdout, f"run {run.public_id} is queued")
        return run

    def watched(self, run: Run) -> bool:
        """Show how far a run is until it has ended or is paused; False after Ctrl-C."""
        if not somebody_listens():
            self.stderr.write(HOW_TO_START)
        try:
            with Bars() as bars:
                watch(run, bars.show)
        except KeyboardInterrupt:
            tell(self.stdout, "the run goes on; its page shows how far it is")
            return False
        return True

    def show(self, kind: Kind, run: Run, options: dict[str, Any]) -> None:
        """Print what a run found, and write its tables where that is asked for."""
        tell(self.stdout, kind.text(run) if kind.text else tables_as_text(kind, run))
        if options.get("output") is not None:
            self.write_tables(kind, run, options["output"])

    def write_tables(self, kind: Kind, run: Run, output: Path) -> None:
        """Write the tables of a run as CSV, with its summary, or all in one file."""
        with refused_as_bad_input():
            names = write_data(kind, run, output)
        place = output.parent if names == [output.name] else output
        tell(self.stdout, f"{', '.join(names)} written to {place}")


def with_ids(parameters: Parameters, options: dict[str, Any]) -> Parameters:
    """Return the parameters with the ids of the files that were named for them."""
    for name, option in parameters.options().items():
        if isinstance(option, Ids) and options[name] is not None:
            with refused_as_bad_input():
                parameters = replace(
                    parameters, **{name: tuple(given_workers(options[name]).lines)}
                )
    return parameters


def tables_as_text(kind: Kind, run: Run) -> str:
    """Return the first rows of each table of a run."""
    parts = []
    for name, table_of in kind.tables.items():
        table = table_of(run)
        rows = list(islice(table.rows, SHOWN + 1))
        more = "\n..." if len(rows) > SHOWN else ""
        parts.append(f"{name}\n{text_table(table.header, rows[:SHOWN])}{more}")
    return "\n\n".join(parts)
