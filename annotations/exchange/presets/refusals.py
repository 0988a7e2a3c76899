"""Refuse files without answers, and files of which no column could be proposed."""

from __future__ import annotations

import shlex

from annotations.exchange.presets.columns import (
    are_people_columns,
    describe_answer_search,
    describe_worker_search,
)
from annotations.exchange.presets.declared import is_submission_list
from annotations.exchange.presets.header_rows import are_statements
from annotations.exchange.presets.mapping import Mapping
from annotations.exchange.presets.preset import Preset
from annotations.exchange.presets.table import Head, is_header_missing
from annotations.exchange.problems import InputError


def refuse_submission_list(head: Head) -> None:
    """Raise `InputError` if the file is Prolific's list of submissions, which has no answers."""
    if is_submission_list(head):
        raise InputError.from_code(head.name, "list_of_submissions", place=shlex.quote(head.name))


def refuse_incomplete_mapping(preset: Preset, mapping: Mapping, head: Head) -> None:
    """Raise `InputError`, with the reason, if no worker or answer column could be proposed.

    The message names the columns of the file, each with the reason why it was not proposed. A file
    without rows is refused too.
    """
    if not head.filled_rows and not head.n_problems:
        raise InputError.from_code(head.name, "no_rows", what="answers")
    if preset.slug == "mturk":
        return
    if "worker" in mapping.guessed and are_people_columns(head):
        people = ", ".join(name[:40] for name in head.header[1:4])
        raise InputError.from_code(head.name, "people_are_columns", people=people)
    without_names = is_header_missing(head) or are_statements(head.header)
    if not preset.is_fixed and not mapping.worker and head.is_delimited and without_names:
        first = ", ".join(name[:40] for name in head.header[:3])
        raise InputError.from_code(head.name, "header_missing", line=1, first=first)
    if mapping.worker and mapping.answers:
        return
    title, colon, _ = preset.title.partition(":")
    program = title if preset.is_fixed and colon else ""
    if not mapping.worker:
        if not preset.is_fixed and head.is_delimited and (columns := head.list_json_columns()):
            listed = ", ".join(name[:40] for name in columns[:8])
            raise InputError.from_code(head.name, "cells_hold_objects", columns=listed)
        is_wide = not mapping.question
        looked_at = describe_worker_search(head, is_wide=is_wide)
        raise InputError.from_code(
            head.name,
            "worker_column_unclear",
            looked_at=looked_at,
            has_rows=is_wide,
            program=program,
        )
    looked_at = describe_answer_search(head, mapping.question, preset.cell)
    raise InputError.from_code(
        head.name, "answer_column_unclear", looked_at=looked_at, program=program
    )
