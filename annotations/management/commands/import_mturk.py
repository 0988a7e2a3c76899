"""Command that imports batch results of Amazon Mechanical Turk into a question set."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotations.exchange.importing import ImportReport, import_batches
from annotations.exchange.reading.duplicates import add_duplicates_arguments
from annotations.exchange.reading.mturk import PANEL, QuestionTemplate
from annotations.management.importing import USAGE, ImportCommand


class Command(ImportCommand):
    """Import the batch result files of Mechanical Turk into a question set."""

    help = (
        "Add the batch results in each FILE (the CSV that Mechanical Turk offers) to the question "
        "set SET, which is made if there is none: every Answer column of a HIT is a question. "
        "Batches that belong together are named together. Answers of rejected assignments are "
        "flagged, and left out of runs."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the options: question set, batch files, question template, columns, panel."""
        super().add_arguments(parser)
        parser.add_argument("files", type=Path, nargs="+", metavar="FILE")
        parser.add_argument(
            "--question-template",
            default="",
            metavar="TEXT",
            help="how a question reads, such as 'Translate: ${sentence}', where sentence is the "
            "column Input.sentence, and ${Answer} for the name of the Answer column "
            "(default: the Input cells, a line each)",
        )
        parser.add_argument(
            "--answers",
            action="append",
            default=[],
            metavar="GLOB",
            help="a column of answers, such as 'Answer.translation*', once for each; other Answer "
            "columns stay with the assignment as metadata (default: all that neither repeat an "
            "Input column nor hold one value for each worker)",
        )
        parser.add_argument("--panel", default=PANEL, metavar="NAME", help="(%(default)s)")
        add_duplicates_arguments(parser)
        parser.add_argument("--in-version", type=int, metavar="N", help="another than the latest")
        parser.add_argument(
            "--update-flags",
            action="store_true",
            help="store which answers were rejected also for answers that are there already",
        )

    def run_import(self, options: dict[str, Any]) -> list[ImportReport]:
        """Import all batch files or none and return the reports."""
        try:
            QuestionTemplate.parse(options["question_template"])
        except ValueError as error:
            raise CommandError(f"--question-template: {error}", returncode=USAGE) from error
        return import_batches(
            self.find_question_set(options, create=True),
            options["files"],
            question_template=options["question_template"],
            answers=options["answers"],
            panel=options["panel"].strip(),
            duplicates=options["duplicates"],
            version=options["in_version"],
            update_flags=options["update_flags"],
            dry_run=options["dry_run"],
        )
