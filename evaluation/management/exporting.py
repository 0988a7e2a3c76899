"""Base class and helpers of the export commands: arguments, version, run, report."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import Any

from django.core.management.base import CommandError, CommandParser, OutputWrapper

from annotations.exchange.writing.formats import FORMATS, find_format
from annotations.management.importing import QuestionSetCommand
from annotations.models import QuestionSet, QuestionSetVersion
from evaluation.core.messages.console import (
    BAD_INPUT,
    ProgressBars,
    exit_on_signal,
    print_report,
    report_bad_input,
)
from evaluation.models import Run
from evaluation.runs.exports import ChoiceError, Export, choose_named_run, choose_named_version

KILOBYTE = 1000


class ExportCommand(QuestionSetCommand):
    """Base class of export commands; `answered`: whether the export contains answers."""

    answered = True

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the arguments for the set and its version."""
        super().add_arguments(parser)
        add_version_argument(parser)

    def add_output_arguments(self, parser: CommandParser) -> None:
        """Add the arguments for the output file and its format."""
        parser.add_argument("--output", type=Path, required=True, metavar="FILE")
        parser.add_argument(
            "--format", choices=tuple(FORMATS), help="if the ending of FILE does not show it"
        )

    def add_run_argument(self, parser: CommandParser, what: str) -> None:
        """Add the argument for the run whose grades are exported too."""
        parser.add_argument("--run", metavar="ID|record|latest", help=what)

    def find_chosen_version(self, options: dict[str, Any]) -> QuestionSetVersion:
        """Return the version that the arguments name; exit status 2 if there is none."""
        question_set = self.find_question_set(options)
        return select_version(self.stdout, question_set, options["in_version"], self.answered)

    def find_chosen_run(self, options: dict[str, Any], version: QuestionSetVersion) -> Run | None:
        """Return the run that the arguments name, or None; exit status 2 if it is invalid."""
        try:
            return choose_named_run(version, options["run"]) if options["run"] else None
        except ChoiceError as error:
            raise CommandError(str(error), returncode=BAD_INPUT) from error

    def write_export(self, export: Export, options: dict[str, Any]) -> None:
        """Write an export to the output file, show the progress, and print a summary."""
        path: Path = options["output"]
        begin = perf_counter()
        with report_bad_input(), exit_on_signal(), ProgressBars() as bars:
            size = export.write_file(path, find_format(path, options["format"]), bars.show)
        seconds = perf_counter() - begin
        print_report(
            self.stdout,
            f"{export.n_rows:,} {export.what.replace('-', ' ')} of {export.version} written to "
            f"{path}: {format_size(size)} in {seconds:.1f} s",
        )


def add_version_argument(parser: CommandParser) -> None:
    """Add the argument for the version of the set."""
    parser.add_argument(
        "--in-version",
        type=int,
        metavar="N",
        help="another than the latest published version (a draft is read only if it is named, or "
        "if nothing is published)",
    )


def select_version(
    stdout: OutputWrapper, question_set: QuestionSet, number: int | None, answered: bool
) -> QuestionSetVersion:
    """Return a set's version by its number, else the default one, and name the other versions.

    For `answered` see `default_version`. Exit status 2 without such a version.
    """
    try:
        version = choose_named_version(question_set, number, answered=answered)
    except ChoiceError as error:
        raise CommandError(str(error), returncode=BAD_INPUT) from error
    others = question_set.versions.exclude(pk=version.pk).order_by("number")
    if number is None and (versions := list(others)):
        named = ", ".join(
            f"{other.number}{'' if other.is_published else ' (draft)'}" for other in versions
        )
        print_report(
            stdout, f"version {version.number} is used; --in-version N reads another: {named}"
        )
    return version


def format_size(size: int) -> str:
    """Return a number of bytes with a unit, such as "3.2 MB"."""
    if size < KILOBYTE:
        return f"{size} bytes"
    for unit in ("kB", "MB"):
        size_of_unit = size / KILOBYTE
        if size_of_unit < KILOBYTE:
            return f"{size_of_unit:.1f} {unit}"
        size = int(size_of_unit)
    return f"{size / KILOBYTE:.1f} GB"
