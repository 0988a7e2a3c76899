"""Command ``manage.py export_scorer RUN|FOLDER --output DIR``: export a consensus as a scorer."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from uuid import UUID

from django.core.management.base import CommandError, CommandParser

from annotations.exchange import ColumnNames
from annotations.management.importing import QuestionSetCommand
from evaluation.core.messages.console import (
    BAD_INPUT,
    build_minimum_type,
    exit_on_signal,
    print_report,
    report_bad_input,
)
from evaluation.scorer.run import FEWEST_ANSWERS, NotExportableError, ScorerContent, ScorerOptions

ALL_FORMATS = "inspect,lm-eval,hf,promptfoo"


class Command(QuestionSetCommand):
    """Write the consensus of a run as a scorer of language models' answers."""

    help = (
        "Write the consensus of a run as a scorer of language models' answers: an Inspect task, "
        "an lm-evaluation-harness task, a Hugging Face dataset, assertions for promptfoo and "
        "pytest. SET is the id of a run, a question set (its official run), or a folder of "
        "evaluate aqer, which needs no database. It contains no ids of workers."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the arguments: source, output, formats, and what is included."""
        super().add_arguments(parser)
        add = parser.add_argument
        add("--output", type=Path, metavar="DIR", help="a folder, or a file.zip")
        add("--format", default=ALL_FORMATS, metavar="NAME,NAME", help="default: %(default)s")
        add("--name", default="", metavar="NAME", help="of the task (default: from the title)")
        add(
            "--min-answers",
            type=build_minimum_type(1),
            default=FEWEST_ANSWERS,
            metavar="N",
            help="leave out questions with fewer answers (%(default)s)",
        )
        add(
            "--with-answers",
            action="store_true",
            help="include the answer nearest to the exemplary one of each question, in a worker's "
            "own words; needs --consent-basis",
        )
        add(
            "--consent-basis",
            default="",
            metavar="TEXT",
            help="why workers' answers may be published; it is part of the dataset card",
        )
        add("--dry-run", action="store_true", help="print what would be included; write nothing")
        of_folder = parser.add_argument_group("with a folder of evaluate aqer")
        add = of_folder.add_argument
        add("--answers", type=Path, metavar="FILE", help="the graded file, for facts")
        add("--columns", metavar="worker=NAME,...", help="names of its columns")
        add("--questions", type=Path, metavar="FILE", help="the questions with their texts")
        add("--passages", type=Path, metavar="FILE", help="the passages with their texts")
        add("--title", default="", metavar="TEXT", help="of the dataset card")
        add("--licence", default="", metavar="NAME", help="of the data, such as CC-BY-4.0")
        add("--language", action="append", default=[], metavar="TAG", help="such as en")

    def handle(self, *args: Any, **options: Any) -> None:
        """Read the consensus, write the folder, and print what it contains."""
        from evaluation.scorer import writing

        if options["output"] is None and not options["dry_run"]:
            raise CommandError("--output is required without --dry-run", returncode=BAD_INPUT)
        try:
            with report_bad_input(), exit_on_signal():
                formats = writing.parse_formats(options["format"])
                content = self._load_content(options)
                files = writing.build_export_files(content, formats)
                if not options["dry_run"]:
                    writing.write_export(files, options["output"])
        except NotExportableError as error:
            raise CommandError(str(error), returncode=BAD_INPUT) from error
        self._print_contents(content, files, options)

    def _load_content(self, options: dict[str, Any]) -> ScorerContent:
        """Return the scorer's content, read from a folder of `evaluate aqer` or from a run."""
        from evaluation.scorer.writing import check_task_name, make_task_name

        folder = Path(options["question_set"])

        def build_options(title: str) -> ScorerOptions:
            """Return the export's options, named after `title` unless the arguments give a name."""
            return ScorerOptions(
                check_task_name(options["name"] or make_task_name(title)),
                options["min_answers"],
                options["with_answers"],
                options["consent_basis"],
            )

        if folder.is_dir():
            from evaluation.scorer import files

            given = files.ScorerFiles(
                folder,
                options["answers"],
                options["questions"],
                options["passages"],
                _parse_columns(options["columns"]),
                title=options["title"],
                licence=options["licence"],
                languages=tuple(options["language"]),
            )
            return files.load_folder_content(
                given, build_options(options["title"] or folder.resolve().name)
            )
        from evaluation.scorer.storage import load_run_content

        run = self._find_run(options)
        return load_run_content(run, build_options(run.version.question_set.name))

    def _find_run(self, options: dict[str, Any]) -> Any:
        """Return the run with the given id, or the set's official run; exit status 2 if none."""
        from evaluation.models import Run
        from evaluation.runs.exports import (
            RECORD,
            ChoiceError,
            choose_named_run,
            choose_named_version,
        )

        try:
            wanted = UUID(options["question_set"].strip())
        except ValueError:
            wanted = None
        runs = Run.objects.select_related("version__question_set")
        run = None if wanted is None else runs.filter(public_id=wanted).first()
        try:
            if run is not None:
                return choose_named_run(run.version, str(run.public_id))
            version = choose_named_version(self.find_question_set(options), answered=True)
            return choose_named_run(version, RECORD)
        except ChoiceError as error:
            raise CommandError(str(error), returncode=BAD_INPUT) from error

    def _print_contents(
        self, content: ScorerContent, files: dict[str, bytes], options: dict[str, Any]
    ) -> None:
        """Print what the export contains, and the number and size of its files."""
        from evaluation.scorer.preview import build_preview

        for line in build_preview(content).format_lines():
            print_report(self.stdout, line)
        size = sum(map(len, files.values()))
        done = "would be written" if options["dry_run"] else f"written to {options['output']}"
        print_report(self.stdout, f"{len(files):,} files, {size / 1e6:.1f} MB, {done}")


def _parse_columns(text: str | None) -> ColumnNames:
    """Return the column names of the graded file in an argument's text; exit status 2 if bad."""
    if text is None:
        return ColumnNames()
    try:
        return ColumnNames.parse(text)
    except ValueError as error:
        raise CommandError(f"--columns: {error}", returncode=BAD_INPUT) from error
