"""Command ``manage.py export_consensus SET --output DIR``: export a run's consensus."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from evaluation.core.messages.console import (
    BAD_INPUT,
    exit_on_signal,
    print_report,
    report_bad_input,
)
from evaluation.grading.results.consensus_files import write_consensus_files
from evaluation.grading.results.report.consensus import build_consensus_report
from evaluation.management.exporting import ExportCommand
from evaluation.runs.exports import RECORD, ChoiceError, choose_named_run


class Command(ExportCommand):
    """Write the consensus answers of a run, with a datasheet."""

    help = (
        "Write the consensus of a run of the question set SET as a human benchmark: for each "
        "question the real answer nearest to the exemplary one, the next nearest, support and "
        "dispersion, as CSV and JSON Lines, with a datasheet."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the arguments: set, directory and run."""
        super().add_arguments(parser)
        parser.add_argument(
            "--output", type=Path, required=True, metavar="DIR", help="a folder, or a file.zip"
        )
        parser.add_argument(
            "--run",
            default=RECORD,
            metavar="ID|record|latest",
            help="whose consensus (%(default)s: the run that counts for the set, or the latest)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Select the version and run, write the files, and print a summary."""
        try:
            run = choose_named_run(self.find_chosen_version(options), options["run"])
        except ChoiceError as error:
            raise CommandError(str(error), returncode=BAD_INPUT) from error
        report = build_consensus_report(run)
        with report_bad_input(), exit_on_signal():
            names = write_consensus_files(report, options["output"])
        print_report(
            self.stdout,
            f"consensus on {report.datasheet.n_questions:,} questions of {run.version} written to "
            f"{options['output']}: {', '.join(names)}",
        )
        if not report.datasheet.licence:
            print_report(
                self.stdout, "No licence is stated: fill it in on the form of the question set."
            )
