"""The door to importing answers."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from annotations.exchange import ColumnNames
from annotations.exchange.importing import ImportReport, import_answers
from annotations.exchange.reading.duplicates import add_duplicates
from annotations.management.importing import ImportCommand, parsed_columns


class Command(ImportCommand):
    """Bring workers' answers into a question set."""

    help = (
        "Add the answers of FILE (CSV, TSV, JSON Lines or XLSX: worker, question, answer) to the "
        "latest version of the question set SET, and publish it if it is a draft."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """SET FILE, columns, panel, version."""
        super().add_arguments(parser)
        parser.add_argument("file", type=Path, metavar="FILE")
        parser.add_argument("--columns", metavar="worker=NAME,question=NAME,answer=NAME")
        parser.add_argument(
            "--panel", default="", metavar="NAME", help="where the workers' ids come from"
        )
        add_duplicates(parser)
        parser.add_argument("--in-version", type=int, metavar="N", help="another than the latest")
        parser.add_argument(
            "--create-questions",
            action="store_true",
            help="make the set and questions that are missing, without a text",
        )
        parser.add_argument(
            "--update-flags",
            action="store_true",
            help="store the flags of our own export also for answers that are there already",
        )

    def run_import(self, options: dict[str, Any]) -> list[ImportReport]:
        """One file."""
        columns = parsed_columns(ColumnNames.parse, options["columns"])
        report = import_answers(
            self.question_set(options, create=options["create_questions"]),
            options["file"],
            panel=options["panel"].strip(),
            duplicates=options["duplicates"],
            version=options["in_version"],
            create_questions=options["create_questions"],
            update_flags=options["update_flags"],
            dry_run=options["dry_run"],
            **columns,
        )
        return [report]
