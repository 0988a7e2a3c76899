"""Sentences that say that a problem has no answer, in the project's own words."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from evaluation.flow.umwp.pieces import plain

CLOSING = "This problem cannot be answered."
"""What the worked examples end with where there is no answer; it is a template, too."""


@cache
def own_templates() -> tuple[str, ...]:
    """Return the templates that come with the project."""
    text = Path(__file__).with_name("templates.txt").read_text("utf-8")
    return templates_of(text + CLOSING)


def templates_of(text: str) -> tuple[str, ...]:
    """Return the templates of a text, one a line; blank lines and repetitions are left out."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        if plain(line):
            found.setdefault(plain(line), line.strip())
    return tuple(found.values())
