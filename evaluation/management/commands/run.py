"""Command ``manage.py run KIND SET``: start a run of any type."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from evaluation.management.file_commands import RunTypeCommand
from evaluation.management.option_arguments import add_option_arguments
from evaluation.management.running import RunCommand
from evaluation.runs.run_types import list_run_kinds


class Command(RunTypeCommand, RunCommand):
    """Start a run of any type and show its progress."""

    help = (
        "Start a run over the latest published version of the question set SET. A background "
        "process computes it; this command shows its progress and prints the result. After "
        "Ctrl-C the run continues."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the arguments: run type, set, its options, and output of the tables."""
        kinds = parser.add_subparsers(dest="kind", required=True, metavar="KIND")
        for kind in map(
            list_run_kinds().__getitem__, self.select_run_types_to_build(list_run_kinds())
        ):
            of_kind = kinds.add_parser(kind.name, help=kind.words, description=kind.words)
            super().add_arguments(of_kind)
            add_option_arguments(of_kind, kind.options, files=False)
            self.add_run_arguments(of_kind, kind.options)
            of_kind.add_argument(
                "--output",
                type=Path,
                metavar="PLACE",
                help="folder for the tables as CSV, the summary and what columns hold; or one file "
                "of all that ends in .zip or .xlsx",
            )

    def handle(self, *args: Any, **options: Any) -> None:
        """Queue the run, show its progress, and print its report."""
        self.start_run(list_run_kinds()[options["kind"]], options)
