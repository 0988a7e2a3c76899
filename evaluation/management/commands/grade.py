"""Command ``manage.py grade SET``: grade a question set of the database."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from evaluation.consensus.parameters import REMEDIES, AqerParameters
from evaluation.management.option_arguments import add_option_arguments
from evaluation.management.running import RunCommand
from evaluation.models.runs import GRADING
from evaluation.runs.run_types import get_kind

COMPARED = "Each is off unless asked for, and compared with the plain run."


class Command(RunCommand):
    """Start a grading run and show its progress."""

    help = (
        "Grade the latest published version of the question set SET that has answers. A "
        "background process computes the run; this command shows its progress and prints the "
        "tables. After Ctrl-C the run continues."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the arguments: set, grading options, and whether to wait."""
        super().add_arguments(parser)
        add_option_arguments(parser, AqerParameters, files=False, groups={REMEDIES: COMPARED})
        self.add_run_arguments(parser, AqerParameters)

    def handle(self, *args: Any, **options: Any) -> None:
        """Queue the run, show its progress, and print its report."""
        self.start_run(get_kind(GRADING), options)
