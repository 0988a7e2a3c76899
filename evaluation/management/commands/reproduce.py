"""The door to the evidence: ``manage.py reproduce STUDY --data FOLDER --output DIR``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from evaluation.evidence.registry import STUDIES
from evaluation.evidence.request import Request
from evaluation.words.console import (
    Bars,
    at_least,
    ended_by_signal,
    refused_as_bad_input,
    tell,
    text_table,
)


class Command(BaseCommand):
    """Compute a table of the evidence anew, from public data."""

    help = "Reproduce a table of the evidence from public data; needs no database."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the study, where the data is and where the tables go."""
        add = parser.add_argument
        add("study", choices=list(STUDIES), help="which table")
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
            help="simulated crowds, where a study has them (%(default)s)",
        )
        add(
            "--seed",
            type=at_least(0),
            default=0,
            metavar="N",
            help="repetition r uses seed 1000 + r + N (%(default)s)",
        )
        add(
            "--judge",
            metavar="MODEL",
            help="a language model that grades answers, openai:NAME@URL; its key is read from the "
            "environment variable OPENAI_API_KEY, where there is one",
        )
        add("--nli", metavar="NAME", help="entailment model (name or folder), for the row of it")
        add("--core", action="store_true", help="only the rows that are quick to compute")

    def handle(self, *args: Any, **options: Any) -> None:
        """Compute, write and print the table."""
        names = ("data", "output", "embedder", "judge", "nli", "repetitions", "seed", "core")
        request = Request(**{name: options[name] for name in names})
        with refused_as_bad_input(), ended_by_signal(), Bars() as bars:
            table = STUDIES[options["study"]](request, bars.show)
        text = text_table(table.header, table.rows)
        tell(self.stdout, f"{text}\n\nTables: {request.output}")
