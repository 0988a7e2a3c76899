"""The command ``manage.py benchmark [--data FOLDER] [--output DIR]``."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from annotations.exchange import InputError, OutputFolder
from evaluation.core.messages.console import BAD_INPUT, exit_on_signal
from tests.benchmarks.cases import CASES, CaseOptions, run_cases

MISSED = 1


def add_arguments(parser: CommandParser) -> None:
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


def run(command: BaseCommand, options: Mapping[str, Any]) -> None:
    """Run the cases, write and print the report; exit 1 names the claims that are missed."""

    def report_progress(name: str, done: int, total: int) -> None:
        if command.stderr.isatty():
            command.stderr.write(f"{done + 1}/{total} {name}")

    chosen = CaseOptions(options["data"], settings.ROOT, options["install"])
    names = options["only"] or list(CASES)
    try:
        with exit_on_signal(), OutputFolder(options["output"]) as folder:
            report = run_cases(chosen, names, CASES, report_progress)
            report.write(folder)
    except InputError as error:
        raise CommandError(str(error), returncode=BAD_INPUT) from error
    command.stdout.write(report.text())
    command.stdout.write(f"\nReport: {options['output']}")
    if missed := report.missed():
        raise CommandError("claims not met:\n" + "\n".join(missed), returncode=MISSED)
