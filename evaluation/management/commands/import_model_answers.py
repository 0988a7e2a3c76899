"""Command to import answers of language models."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from annotations.exchange import ColumnNames
from annotations.exchange.importing import ImportReport
from annotations.management.importing import ImportCommand, parse_columns_option
from evaluation.runs.imports import import_model_answers
from evaluation.runs.run_types.answer_files import add_keep_thinking_argument


class Command(ImportCommand):
    """Import language models' answers into a question set."""

    help = (
        "Add the model answers of FILE (CSV, TSV, JSON Lines or XLSX: model, question, answer, "
        "status; or a log of Inspect or lm-evaluation-harness) to the latest version of the "
        "question set SET."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the arguments: set, file, columns and version."""
        super().add_arguments(parser)
        parser.add_argument("file", type=Path, metavar="FILE")
        parser.add_argument("--columns", metavar="model=NAME,question=NAME,answer=NAME,status=NAME")
        parser.add_argument("--in-version", type=int, metavar="N", help="another than the latest")
        parser.add_argument(
            "--model",
            default="",
            metavar="NAME",
            help="of a log: the name of its model, where the log does not have it",
        )
        add_keep_thinking_argument(parser)

    def run_import(self, options: dict[str, Any]) -> list[ImportReport]:
        """Import one file of model answers and return its report."""
        report = import_model_answers(
            self.find_question_set(options),
            options["file"],
            version=options["in_version"],
            dry_run=options["dry_run"],
            keep_thinking=options["keep_thinking"],
            model=options["model"],
            **parse_columns_option(ColumnNames.parse, options["columns"]),
        )
        return [report]
