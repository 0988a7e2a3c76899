"""A file that is no table of answers, but looks like somebody's export: what to do."""

from __future__ import annotations

import shlex

from annotations.exchange.presets.declared import (
    IDS,
    WORKERS,
    Preset,
    is_list_of_submissions,
    recognised,
)
from annotations.exchange.presets.rows import proposed, refuse_answerless
from annotations.exchange.presets.table import head_of
from annotations.exchange.problems import InputError, Problem
from annotations.exchange.reading.source import Readable, source_of

TABLES = ("long", "wide")
FEWEST_QUESTIONS = 2
OURS = "own"


def advised(error: InputError, given: Readable, command: str) -> InputError:
    """The error, and what to do if the file looks like an export of others.

    `command` takes the file in, with {file}, {preset} and, for a table, {map} in it. A file whose
    rows are bad, and not its header, is what it was taken for: its error stays as it is.
    """
    if not any(problem.column is None and _is_of_header(problem) for problem in error.problems):
        return error
    try:
        head = head_of(given)
        if is_list_of_submissions(head):
            refuse_answerless(head)
        preset = recognised(head)
        mapping = proposed(preset, head, given)
    except InputError as other:
        return other if "list of submissions" in str(other) else error
    if preset.slug == OURS:  # the header is in order: the caller named other columns
        return error
    if preset.slug == "wide" and (
        not (head.named(*WORKERS) or head.like(*IDS)) or len(mapping.answers) < FEWEST_QUESTIONS
    ):
        return error
    how = command.format(file=shlex.quote(source_of(given).place), preset=preset.slug)
    told = Problem(head.name, None, None, _looks(preset), _remedy(preset), f"Take it in by: {how}")
    return InputError([*error.problems, told], error.total + 1)


def _is_of_header(problem: Problem) -> bool:
    return problem.reason.startswith(("there is no column", "the ending .json"))


def _looks(preset: Preset) -> str:
    if preset.slug in TABLES:
        return f"it looks like {preset.title[0].lower()}{preset.title[1:]}"
    return f"it looks like an export of {preset.title.partition(':')[0]}"


def _remedy(preset: Preset) -> str:
    return f"Take it in as “{preset.title}”."
