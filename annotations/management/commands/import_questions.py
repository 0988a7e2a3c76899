"""Command that imports questions, and optionally their passages, into a question set."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from annotations.exchange.importing import (
    ImportReport,
    import_passages,
    import_questions,
    open_transaction,
)
from annotations.exchange.reading.questions import QuestionColumns
from annotations.management.importing import ImportCommand, parse_columns_option


class Command(ImportCommand):
    """Import questions and the passages they are about into a question set."""

    help = (
        "Add the questions of FILE (CSV, TSV, JSON Lines or XLSX: question, text, passage ...) to "
        "the question set SET, which is made if there is none."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the arguments: question set, file of questions, file of passages, columns."""
        super().add_arguments(parser)
        parser.add_argument("file", type=Path, metavar="FILE")
        parser.add_argument("--passages", type=Path, metavar="FILE", help="their passages")
        parser.add_argument("--columns", metavar="question=NAME,text=NAME,passage=NAME")

    def run_import(self, options: dict[str, Any]) -> list[ImportReport]:
        """Import passages, then questions (all or none), and return a report for each file."""
        columns = parse_columns_option(QuestionColumns.parse, options["columns"])
        with open_transaction(options["dry_run"]):
            question_set = self.find_question_set(options, create=True)
            how = columns | {"dry_run": False}
            reports = []
            if options["passages"]:
                reports.append(import_passages(question_set, options["passages"], **how))
            reports.append(import_questions(question_set, options["file"], **how))
        for report in reports:
            report.dry_run = options["dry_run"]
        return reports
