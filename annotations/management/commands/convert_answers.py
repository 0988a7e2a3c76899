"""Command that converts an export of another tool into a table of answers."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from annotations.exchange import InputError
from annotations.exchange.conversion import convert_model_log, convert_survey_export
from annotations.exchange.reading.duplicates import (
    add_duplicates_arguments,
    build_rule_from_options,
)
from annotations.exchange.reading.model_logs import recognise_log
from annotations.exchange.reading.source import make_source
from annotations.management.importing import USAGE
from annotations.management.presets import (
    AUTO,
    add_demographics_arguments,
    add_preset_arguments,
    choose_preset_and_mapping,
    describe_reading,
    read_chosen_demographics,
)


class Command(BaseCommand):
    """Convert an export into a table of answers for the commands evaluate and import_answers."""

    help = (
        "Convert FILE, an export of Mechanical Turk, Qualtrics, Label Studio or Potato, of a "
        "survey with Prolific's ids, or a spreadsheet, into a table of answers; or a log of "
        "Inspect or lm-evaluation-harness into a table of model answers; needs no database."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the options: input file, preset (kind of export), output files."""
        parser.add_argument("file", type=Path, metavar="FILE")
        add_preset_arguments(parser, AUTO)
        add_duplicates_arguments(parser, by_worker=True)
        add_demographics_arguments(parser)
        parser.add_argument(
            "--output",
            type=Path,
            metavar="FILE",
            required=True,
            help="the table of answers (.csv, .tsv, .jsonl or .xlsx)",
        )
        parser.add_argument(
            "--questions", type=Path, metavar="FILE", help="write a table of the questions as well"
        )
        parser.add_argument(
            "--model",
            default="",
            metavar="NAME",
            help="of a log: the name of its model, where the log does not have it",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Convert the file; print how its columns were read and a report on its rows."""
        try:
            if recognise_log(make_source(options["file"])):
                self._convert_log(options)
                return
            arranged, preset, mapping = choose_preset_and_mapping(options["file"], options)
            demographics = read_chosen_demographics(options)
            lines = convert_survey_export(
                arranged.source,
                options["output"],
                preset=preset,
                mapping=mapping,
                questions=options["questions"],
                duplicates=build_rule_from_options(options["duplicates"], options["duplicates_of"]),
                demographics=demographics,
                statuses=options["panel_statuses"],
            )
        except InputError as error:
            raise CommandError(str(error), returncode=USAGE) from error
        self._print_lines(
            [*describe_reading(arranged, preset, mapping), *lines, f"Table: {options['output']}"]
        )

    def _convert_log(self, options: dict[str, Any]) -> None:
        """Convert a log of models' answers, and print how it was read."""
        paths = [assignment.removeprefix("question=") for assignment in options["map"]]
        if len(paths) > 1 or paths == options["map"] != []:
            raise CommandError("--map: of a log, only question=PATH", returncode=USAGE)
        lines = convert_model_log(
            options["file"], options["output"], model=options["model"], question="".join(paths)
        )
        self._print_lines([*lines, f"Table: {options['output']}"])

    def _print_lines(self, lines: Iterable[str]) -> None:
        """Print lines to standard output."""
        for line in lines:
            self.stdout.write(line)
