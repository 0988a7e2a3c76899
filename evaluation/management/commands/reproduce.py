"""The door to the evidence: ``manage.py reproduce STUDY --data FOLDER --output DIR``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from evaluation.console import Bars, at_least, ended_by_signal, refused_as_bad_input, tell
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
        add = parser.add_argument
        add("study", choices=STUDIES, help="which table")
        add(
            "--data",
            type=Path,
            required=True,
            metavar="FOLDER",
            help="the folder that holds mohler2011/ and crowdwsa2019/",
        )
        add("--output", type=Path, required=True, metavar="DIR", help="folder for the tables")
        add(
            "--embedder",
            default="minilm",
            metavar="SPEC",
            help="for the rows that do not name their own; see evaluate aqer --help (%(default)s)",
        )
        add(
            "--repetitions",
            type=at_least(1),
            default=25,
            metavar="N",
            help="simulated crowds, worker-grading only (%(default)s)",
        )
        add(
            "--seed",
            type=at_least(0),
            default=0,
            metavar="N",
            help="repetition r uses seed 1000 + r + N, worker-grading only (%(default)s)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Compute, write and print the table."""
        data, output, embedder = options["data"], options["output"], options["embedder"]
        with refused_as_bad_input(), ended_by_signal(), Bars() as bars:
            if options["study"] == "worker-grading":
                rows = reproduce_worker_grading(
                    data, output, embedder, options["repetitions"], options["seed"], bars.show
                )
            else:
                rows = reproduce_crowdwsa(data, output, embedder, bars.show)
        tell(self.stdout, f"{printed(rows)}\n\nTables: {output}")
