"""The door to grading a question set of the database: ``manage.py grade SET``."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotations.exchange import read_workers
from annotations.management.importing import SetCommand
from evaluation.background.liveness import HOW_TO_START, somebody_listens
from evaluation.background.runs import queue
from evaluation.background.watching import watch
from evaluation.flow.parameters import REMEDIES, AqerParameters
from evaluation.management.option_arguments import add_option_arguments, chosen
from evaluation.management.run_report import report_of_run
from evaluation.models import Run
from evaluation.words.console import BAD_INPUT, Bars, refused_as_bad_input, tell
from evaluation.words.terminal import said

COMPARED = "Each is off unless asked for, and compared with the plain run."


class Command(SetCommand):
    """Queue a run and show how far it is."""

    help = (
        "Grade the latest version of the question set SET: a worker does it, this command shows "
        "its progress and prints the tables. Ctrl-C leaves the run to go on."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """SET, the options of a grading, and whether to wait."""
        super().add_arguments(parser)
        add_option_arguments(parser, AqerParameters, files=False, groups={REMEDIES: COMPARED})
        parser.add_argument("--no-wait", action="store_true", help="queue the run and end")

    def handle(self, *args: Any, **options: Any) -> None:
        """Queue, watch, print."""
        parameters = chosen(AqerParameters, options)
        if options["exclude_workers"] is not None:
            with refused_as_bad_input():
                listed = read_workers(options["exclude_workers"])
            parameters = replace(parameters, exclude_workers=tuple(listed.lines))
        question_set = self.question_set(options)
        version = question_set.latest_version()
        if version is None:
            raise CommandError(f"{question_set} has no questions yet", returncode=BAD_INPUT)
        run = queue(version, question_set.owner_id, parameters)
        tell(self.stdout, f"run {run.public_id} is queued")
        if options["no_wait"]:
            return
        if not somebody_listens():
            self.stderr.write(HOW_TO_START)
        try:
            with Bars() as bars:
                watch(run, bars.show)
        except KeyboardInterrupt:
            tell(self.stdout, "the run goes on; its page shows how far it is")
            return
        if run.state != Run.State.DONE:
            raise CommandError(f"the run {run.state}: {said(run.error) or 'no results'}")
        tell(self.stdout, report_of_run(run))
