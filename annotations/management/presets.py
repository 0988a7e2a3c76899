"""Arguments of commands on files as others export them."""

from __future__ import annotations

import argparse
from typing import Any

from django.core.management.base import CommandError

from annotations.exchange.presets import (
    PRESETS,
    Mapping,
    Preset,
    head_of,
    preset_named,
    proposed,
    recognised,
    refuse_answerless,
    refuse_unmapped,
)
from annotations.exchange.reading.source import Readable
from annotations.management.importing import USAGE

AUTO = "auto"


def add_preset(parser: argparse.ArgumentParser, default: str | None) -> None:
    """Add of which export a file is, and what its columns hold."""
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
        help="with a preset: the column of the worker, question, text (the question's wording) or "
        "answer, where another one is meant than the preset proposes; answer several times or as "
        "a glob such as 'Q*'; an empty COLUMN for none; worker=#row for the number of the row",
    )


def read_preset(path: Readable, options: dict[str, Any]) -> tuple[Preset, Mapping]:
    """What the arguments say of a file. Raises `InputError`, and CommandError (2) for bad ones."""
    head = head_of(path)
    refuse_answerless(head)
    name = options["preset"]
    preset = recognised(head) if name in (None, AUTO) else preset_named(name)
    try:
        mapping = proposed(preset, head, path).changed(options["map"], head.header, head.name)
    except ValueError as error:
        raise CommandError(f"--map: {error}", returncode=USAGE) from error
    refuse_unmapped(preset, mapping, head)
    return preset, mapping


def told(preset: Preset, mapping: Mapping) -> list[str]:
    """What a file is read as, in sentences."""
    of = [("worker", mapping.worker), ("question", mapping.question), ("wording", mapping.text)]
    columns = [f"{what} = {name}" for what, name in of if name]
    answers = mapping.answers
    more = f" and {len(answers) - 10} more" if len(answers) > 10 else ""
    columns.append(f"answer = {', '.join(answers[:10])}{more}")
    if not mapping.question:
        columns.append("each column of answers is a question")
    return [f"Read as {preset.title} ({preset.slug}): {'; '.join(columns)}"]
