"""The door to the evidence: ``manage.py reproduce STUDY --data FOLDER --output DIR``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from annotations.exchange import InputError
from evaluation.backends import EmbedderError
from evaluation.console import Bars, at_least, ended_by_signal
from evaluation.management.commands.evaluate import BAD_INPUT
from evaluation.studies.crowdwsa import reproduce_crowdwsa
from evaluation.studies.evidence import printed
from evaluation.studies.worker_grading import reproduce_worker_grading

STUDIES = ("worker-grading", "crowdwsa")


class Command(BaseCommand):
    """Compute a table of the evidence anew, from public data."""

    help = "Reproduce a table of the evidence from public data; needs no database."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the study, where the data is and where the tables go."""
        parser.add_argument("study", choices=STUDIES)
        parser.add_argument("--data", type=Path, required=True, metavar="FOLDER")
        parser.add_argument("--output", type=Path, required=True, metavar="DIR")
        parser.add_argument("--embedder", default="minilm", metavar="SPEC")
        parser.add_argument("--repetitions", type=at_least(1), default=25, metavar="N")
        parser.add_argument("--seed", type=at_least(0), default=0, metavar="N")

    def handle(self, *args: Any, **options: Any) -> None:
        """Compute, write and print the table."""
        data, output, embedder = options["data"], options["output"], options["embedder"]
        try:
            with ended_by_signal(), Bars() as bars:
                if options["study"] == "worker-grading":
                    rows = reproduce_worker_grading(
                        data, output, embedder, options["repetitions"], options["seed"], bars.show
                    )
                else:
                    rows = reproduce_crowdwsa(data, output, embedder, bars.show)
        except (InputError, EmbedderError) as error:
            raise CommandError(str(error), returncode=BAD_INPUT) from error
        self.stdout.write(printed(rows))
        self.stdout.write(f"\nTables: {output}")
