"""The command ``manage.py record_demo [--output DIR]``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from annotations import demo
from evaluation.core.backends.errors import ChatError
from tests.benchmarks import recording


def add_arguments(parser: CommandParser) -> None:
    """Take the folder of the two files."""
    parser.add_argument(
        "--output",
        type=Path,
        default=demo.FOLDER,
        metavar="DIR",
        help="folder for both files (default: the demo's own, whose files are replaced)",
    )


def run(command: BaseCommand, options: Mapping[str, Any]) -> None:
    """Record the answers and print how many there are."""
    try:
        count = recording.record(options["output"], say=command.stdout.write)
    except (recording.RecordingError, ChatError, OSError) as error:
        raise CommandError(str(error)) from error
    command.stdout.write(f"{count} answers recorded in {options['output']}")
