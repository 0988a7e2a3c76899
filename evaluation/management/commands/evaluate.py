"""Command ``manage.py evaluate aqer ANSWERS --output DIR``: evaluate files."""

from __future__ import annotations

import sys
from typing import Any

from django.core.management.base import CommandParser

from evaluation.core.messages.console import (
    BAD_INPUT,
    ProgressBars,
    exit_on_signal,
    print_report,
    remove_control_characters,
    report_bad_input,
)
from evaluation.management.file_commands import RunTypeCommand, add_run_type_parsers
from evaluation.management.option_arguments import read_options
from evaluation.runs.run_types import list_kinds

__all__ = ["BAD_INPUT", "Command"]

INCOMPLETE = 3


class Command(RunTypeCommand):
    """Evaluate answers in files, without a database."""

    help = "Evaluate a file of answers; writes tables into a folder and needs no database."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """Add one sub-command per run type that evaluates files, with its arguments."""
        kinds = {name: kind for name, kind in list_kinds().items() if kind.has_evaluate_command}
        add_run_type_parsers(
            parser,
            {
                name: (kinds[name], kinds[name].evaluate)
                for name in self.select_run_types_to_build(kinds)
            },
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Evaluate the files, and print the result and the output paths."""
        from evaluation.runs.files.study import EndedEarlyError

        kind = list_kinds()[options["method"]]
        assert kind.evaluate is not None  # or there would be no such method
        parameters = read_options(kind.options, options, files=True)
        try:
            with report_bad_input(), exit_on_signal(), ProgressBars() as bars:
                text = kind.evaluate.run(parameters, options, bars.show)
        except EndedEarlyError as error:
            print_report(
                self.stdout,
                remove_control_characters(f"{error}\nTo continue, run the same command again."),
            )
            sys.exit(INCOMPLETE)
        print_report(self.stdout, text)
