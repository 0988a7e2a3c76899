"""Advice on how to import a file without the standard columns that looks like an export."""

from __future__ import annotations

import shlex

from annotations.exchange.presets.arrangement import locate_table
from annotations.exchange.presets.declared import is_submission_list, recognise_preset
from annotations.exchange.presets.refusals import refuse_incomplete_mapping, refuse_submission_list
from annotations.exchange.presets.rows import propose_mapping
from annotations.exchange.presets.table import read_head
from annotations.exchange.problems import InputError, Problem
from annotations.exchange.reading.source import Readable, make_source

TABLES = ("long", "wide", "own")
FEWEST_QUESTIONS = 2
OURS = "own"
COLUMN_MISSING = ("column_missing", "mapped_column_missing", "answer_columns_missing")
"""The codes of a header that lacks a column."""
WHOLE_FILE = ("list_of_submissions", "header_missing")
"""The codes of a file that no choice of columns makes a table of answers."""


def add_export_hint(error: InputError, given: Readable, command: str) -> InputError:
    """Return the error with a hint if its file looks like another tool's export; else unchanged.

    `command` takes the file in, with {file}, {preset} and, for a table, {map} in it. A file whose
    rows are bad, and not its header, is what it was taken for: its error is unchanged.
    """
    if not any(
        problem.column is None and _is_header_problem(problem) for problem in error.problems
    ):
        return error
    try:
        arranged = locate_table(given)
        head = read_head(arranged.source)
        if is_submission_list(head):
            refuse_submission_list(head)
        preset = recognise_preset(head)
        mapping = propose_mapping(preset, head, arranged.source)
        refuse_incomplete_mapping(preset, mapping, head)
    except InputError as other:
        return other if other.problems[0].code in WHOLE_FILE else error
    is_list = make_source(given).suffix == ".json"
    if preset.slug == OURS and not is_list and not arranged.describe_location():
        # The header is in order: the caller named other columns.
        return error
    if preset.slug == "wide" and len(mapping.answers) < FEWEST_QUESTIONS:
        return error
    how = command.format(file=shlex.quote(make_source(given).place), preset=preset.slug)
    values = {"preset": preset.slug, "title": preset.title, "command": how}
    if preset.slug in TABLES:
        looks = f"{preset.title[0].lower()}{preset.title[1:]}"
        hint = Problem.from_code(head.name, None, None, "looks_like", looks=looks, **values)
    else:
        program = preset.title.partition(":")[0]
        hint = Problem.from_code(
            head.name, None, None, "looks_like_export", program=program, **values
        )
    return InputError([*error.problems, hint], error.total + 1)


def _is_header_problem(problem: Problem) -> bool:
    """Return whether a problem is about the file's header or its ending."""
    if problem.code == "ending_unknown":
        return bool(problem.values["ending"].startswith(".json"))
    return problem.code in COLUMN_MISSING
