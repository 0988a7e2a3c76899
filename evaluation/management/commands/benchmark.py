"""The door to the benchmarks: ``manage.py benchmark [--data FOLDER] [--output DIR]``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from annotations.exchange import InputError, OutputFolder
from evaluation.evidence.benchmarks.cases import CASES, CaseOptions, run_cases
from evaluation.words.console import BAD_INPUT, ended_by_signal

MISSED = 1


class Command(BaseCommand):
    """Measure speed and memory against named peers."""

    help = "Measure speed and memory against named peers, as ratios of one run; needs no database."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """Take where the data is, where the report goes and what to measure."""
        # As for the tests of data: the variable names the folder of public data sets.
        data = os.environ.get("CROWDGRADE_DATA") or settings.ROOT / ".." / "shared" / "data"
        parser.add_argument("--data", type=Path, default=Path(data).resolve(), metavar="FOLDER")
        parser.add_argument(
            "--output", type=Path, default=settings.ROOT / "var/benchmark", metavar="DIR"
        )
        parser.add_argument(
            "--only", nargs="+", choices=list(CASES), metavar="NAME",
            help=f"some of {', '.join(CASES)}",
        )  # fmt: skip
        parser.add_argument(
            "--install", action="store_true", help="time `make install` in a new folder as well"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Run the cases, write and print the report; exit 1 names the claims that are missed."""
        chosen = CaseOptions(options["data"], settings.ROOT, options["install"])
        names = options["only"] or list(CASES)
        try:
            with ended_by_signal(), OutputFolder(options["output"]) as folder:
                report = run_cases(chosen, names, CASES, self._tell)
                report.write(folder)
        except InputError as error:
            raise CommandError(str(error), returncode=BAD_INPUT) from error
        self.stdout.write(report.text())
        self.stdout.write(f"\nReport: {options['output']}")
        if missed := report.missed():
            raise CommandError("claims not met:\n" + "\n".join(missed), returncode=MISSED)

    def _tell(self, name: str, done: int, total: int) -> None:
        if self.stderr.isatty():
            self.stderr.write(f"{done + 1}/{total} {name}")
