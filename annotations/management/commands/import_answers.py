"""Command that imports workers' answers from a file into a question set."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotations.exchange import ColumnNames, InputError
from annotations.exchange.importing import ImportReport, import_answers
from annotations.exchange.importing.survey_exports import import_survey_export
from annotations.exchange.presets.advice import add_export_hint
from annotations.exchange.reading.duplicates import (
    add_duplicates_arguments,
    build_rule_from_options,
)
from annotations.management.importing import USAGE, ImportCommand, parse_columns_option
from annotations.management.presets import (
    add_demographics_arguments,
    add_preset_arguments,
    choose_preset_and_mapping,
    describe_reading,
    read_chosen_demographics,
)

WITH_PRESET = "manage.py import_answers SET {file} --preset {preset}"


class Command(ImportCommand):
    """Import workers' answers from a file into the latest version of a question set."""

    help = (
        "Add the answers of FILE (CSV, TSV, JSON Lines or XLSX: worker, question, answer) to the "
        "latest version of the question set SET, and publish it if it is a draft."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the options: question set, file, preset, columns, panel, version, duplicates."""
        super().add_arguments(parser)
        parser.add_argument("file", type=Path, metavar="FILE")
        add_preset_arguments(parser, None)
        parser.add_argument("--columns", metavar="worker=NAME,question=NAME,answer=NAME")
        parser.add_argument(
            "--panel", default="", metavar="NAME", help="where the workers' ids come from"
        )
        add_duplicates_arguments(parser, by_worker=True)
        add_demographics_arguments(parser)
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
        """Import the file and return its report; a preset reads an export of another tool."""
        if options["preset"] or options["map"]:
            return [self._import_mapped_file(options)]
        columns = parse_columns_option(ColumnNames.parse, options["columns"])
        path = options["file"]
        try:
            return [self._import_standard_file(path, options, columns)]
        except InputError as error:
            raise add_export_hint(error, path, WITH_PRESET) from error

    def _import_standard_file(
        self, path: Path, options: dict[str, Any], columns: dict[str, Any]
    ) -> ImportReport:
        """Import a file with the standard column names or those of --columns; return the report."""
        return import_answers(
            self.find_question_set(options, create=options["create_questions"]),
            path,
            panel=options["panel"].strip(),
            duplicates=build_rule_from_options(options["duplicates"], options["duplicates_of"]),
            version=options["in_version"],
            create_questions=options["create_questions"],
            update_flags=options["update_flags"],
            dry_run=options["dry_run"],
            **columns,
        )

    def _import_mapped_file(self, options: dict[str, Any]) -> ImportReport:
        """Import a file of another tool with a preset and a column mapping; return the report."""
        if options["columns"]:
            raise CommandError("--columns: use --map with a preset", returncode=USAGE)
        arranged, preset, mapping = choose_preset_and_mapping(options["file"], options)
        report = import_survey_export(
            self.find_question_set(options, create=True),
            arranged.source,
            preset=preset,
            mapping=mapping,
            demographics=read_chosen_demographics(options),
            statuses=options["panel_statuses"],
            panel=options["panel"].strip(),
            duplicates=build_rule_from_options(options["duplicates"], options["duplicates_of"]),
            version=options["in_version"],
            update_flags=options["update_flags"],
            dry_run=options["dry_run"],
        )
        report.notes[:0] = describe_reading(arranged, preset, mapping)
        return report
