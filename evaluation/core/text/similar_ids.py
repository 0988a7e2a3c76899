"""Suggest known ids that a mistyped id may stand for."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection
from difflib import get_close_matches

NAMED = 3
# Beyond these ids only those that differ in case or space are looked for: comparing takes long.
COMPARED = 20_000


def find_similar_ids(typed: str, known: Collection[str]) -> list[str]:
    """Return up to three known ids that resemble the typed one, most similar first.

    Those that differ only in case, space and the form of their letters come before those with
    other letters (Ratcliff and Obershelp's ratio of 0.6 and more, as `difflib` has it).
    """
    folded = _fold(typed)
    same = [one for one in known if _fold(one) == folded]
    if len(known) > COMPARED or len(same) >= NAMED:
        return same[:NAMED]
    alike = [one for one in get_close_matches(typed, known, NAMED) if one not in same]
    return (same + alike)[:NAMED]


def format_suggestion(typed: str, known: Collection[str]) -> str:
    """Return "ID (perhaps ONE or OTHER)", or the typed id alone if none is similar."""
    found = " or ".join(one[:60] for one in find_similar_ids(typed, known))
    return f"{typed[:60]} (perhaps {found})" if found else typed[:60]


def _fold(text: str) -> str:
    """Return an id in NFKC, without case and spaces, for comparison."""
    return "".join(unicodedata.normalize("NFKC", text).casefold().split())
