"""Command-line options for the tool that exported a file, and for the roles of its columns."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from annotations.exchange.markup import add_keep_html_argument
from annotations.exchange.presets import (
    PRESETS,
    LocatedTable,
    Mapping,
    Preset,
    TableChoice,
    get_preset,
    locate_table,
    propose_mapping,
    read_head,
    recognise_preset,
    refuse_incomplete_mapping,
    refuse_submission_list,
)
from annotations.exchange.presets.demographics import (
    DemographicFile,
    StatusRule,
    is_demographic_export,
    propose_demographic_mapping,
    read_demographics,
)
from annotations.exchange.presets.mapping import format_names
from annotations.exchange.problems import InputError, Problem
from annotations.exchange.reading.source import Readable, Source
from annotations.exchange.reading.unpacking import LAST_ROW
from annotations.exchange.whole_ids import add_keep_ids_argument
from annotations.management.importing import USAGE

AUTO = "auto"


def add_preset_arguments(parser: argparse.ArgumentParser, default: str | None) -> None:
    """Add the options for files of other tools: preset, column mapping, sheet, header row."""
    parser.add_argument(
        "--preset",
        choices=[AUTO, *PRESETS],
        default=default,
        metavar="NAME",
        help=f"whose export it is: {', '.join(PRESETS)}, or {AUTO} to find out"
        + (f" (default: {default})" if default else ""),
    )
    parser.add_argument(
        "--map",
        action="append",
        default=[],
        metavar="KEY=COLUMN",
        help="with a preset: the role of a column, where another one is meant than proposed: "
        "worker, question, text (the question's wording), answer, time (start, end or seconds), "
        "extra (stored with the answers), ignore (not stored); answer, time, extra and ignore "
        "several times or as a glob such as 'Q*'; check=COLUMN=ANSWER for an attention check and "
        "its right answer; an empty COLUMN for none; worker=#row for the number of the row",
    )
    parser.add_argument(
        "--sheet",
        default="",
        metavar="NAME",
        help="the sheet of a workbook, by its name or number (default: the one with answers)",
    )
    parser.add_argument(
        "--header-row",
        type=_parse_row_number,
        default=0,
        metavar="N",
        help="the row (in CSV the line) with the names of the columns (default: the first row that "
        "heads a table)",
    )
    parser.add_argument(
        "--people-as-columns",
        action="store_true",
        help="the table has a column for each person and a row for each question",
    )
    parser.add_argument(
        "--keep-unfinished",
        action="store_true",
        help="read the rows of people who broke off, too; without it they are left out and counted",
    )
    add_keep_html_argument(parser)
    add_keep_ids_argument(parser)


def add_demographics_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options for a demographic export that is joined to the answers."""
    parser.add_argument(
        "--demographics",
        type=Path,
        metavar="FILE",
        help="Prolific's demographic export: its columns are joined to the answers by worker id",
    )
    parser.add_argument(
        "--map-demographics",
        action="append",
        default=[],
        metavar="KEY=COLUMN",
        help="the role of a column of that file, where another one is meant than proposed: "
        "worker, status, extra (joined to the answers), ignore; extra and ignore several times or "
        "as a glob",
    )
    parser.add_argument(
        "--panel-statuses",
        type=StatusRule,
        choices=list(StatusRule),
        default=StatusRule.REFUSE,
        metavar="refuse|apply|keep",
        help="if that file lists workers of the answers as returned, timed out or rejected: stop, "
        "leave out the answers of the first two and flag those of the last, or keep all as they "
        "are (default: refuse)",
    )


def read_chosen_demographics(options: dict[str, Any]) -> DemographicFile | None:
    """Return the demographic export that the options name; None if they name none.

    Raises `InputError`, and CommandError (2) for bad arguments.
    """
    if options["demographics"] is None:
        if options["map_demographics"]:
            raise CommandError("--map-demographics needs --demographics FILE", returncode=USAGE)
        return None
    source = locate_table(options["demographics"]).source
    head = read_head(source)
    if not options["map_demographics"] and not is_demographic_export(head):
        raise InputError.from_code(
            head.name, "demographics_answered", found=format_names(head.header)
        )
    mapping = propose_demographic_mapping(head)
    try:
        mapping = mapping.replace_roles(options["map_demographics"], head.header, head.name)
    except ValueError as error:
        raise CommandError(f"--map-demographics: {error}", returncode=USAGE) from error
    return read_demographics(source, mapping, keep_ids=options["keep_ids"])


def _parse_row_number(text: str) -> int:
    """Return the number of a spreadsheet row; ArgumentTypeError if it is none."""
    if not text.isdecimal() or not 1 <= int(text) <= LAST_ROW:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of a row, from 1")
    return int(text)


def choose_preset_and_mapping(
    path: Readable, options: dict[str, Any]
) -> tuple[LocatedTable, Preset, Mapping]:
    """Return a file's located table, preset and column mapping, from the options or detected.

    Raises `InputError`, and CommandError (2) for bad arguments.
    """
    chosen = TableChoice(options["sheet"], options["header_row"], options["people_as_columns"])
    arranged = locate_table(path, chosen)
    try:
        return arranged, *_choose_mapping(arranged.source, options)
    except InputError as error:
        if place := arranged.describe_location():
            problem = Problem.from_code(
                arranged.source.name, None, None, "table_place", place=place
            )
            raise InputError([*error.problems, problem], error.total + 1) from error
        raise


def _choose_mapping(path: Source, options: dict[str, Any]) -> tuple[Preset, Mapping]:
    """Return the preset and the column mapping of a file, from the options or detected."""
    head = read_head(path)
    refuse_submission_list(head)
    name = options["preset"]
    slug = recognise_preset(head).slug if name in (None, AUTO) else name
    choices = {key: options[key] for key in ("keep_unfinished", "keep_html", "keep_ids")}
    preset = get_preset(slug, **choices)
    try:
        mapping = propose_mapping(preset, head, path).replace_roles(
            options["map"], head.header, head.name
        )
    except ValueError as error:
        raise CommandError(f"--map: {error}", returncode=USAGE) from error
    if preset.slug == "mturk" and (mapping.times or mapping.extra or mapping.ignored):
        reason = "the columns of Mechanical Turk have fixed roles; only answer can be changed"
        raise CommandError(f"--map: {reason}", returncode=USAGE)
    refuse_incomplete_mapping(preset, mapping, head)
    return preset, mapping


def describe_reading(arranged: LocatedTable, preset: Preset, mapping: Mapping) -> list[str]:
    """Return sentences on how a file is read: preset, column roles, sheet and orientation."""
    roles = [("worker", mapping.worker), ("question", mapping.question), ("wording", mapping.text)]
    columns = [f"{what} = {name}" for what, name in roles if name]
    answers = mapping.answers
    more = f" and {len(answers) - 10} more" if len(answers) > 10 else ""
    columns.append(f"answer = {', '.join(answers[:10])}{more}")
    columns += [f"attention check = {name} (right: {right})" for name, right in mapping.checks]
    columns += [f"time = {name}" for name in mapping.times or ()]
    if not mapping.question:
        columns.append("each column of answers is a question")
    place = arranged.describe_location()
    result = [f"Read as {preset.title} ({preset.slug}): {'; '.join(columns)}"]
    if place:
        result.append(f"{place}. To choose: --sheet NAME, --header-row N")
    if arranged.source.is_turned:
        result.append("Each column is a person, each row a question")
    if preset.unfinished:
        result.append("Unfinished responses are left out; --keep-unfinished reads them, too")
    return result
