"""Ids that somebody may have meant."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection
from difflib import get_close_matches

NAMED = 3
# Beyond these ids only those that differ in case or space are looked for: comparing takes long.
COMPARED = 20_000


def near(typed: str, known: Collection[str]) -> list[str]:
    """Return up to three of the known ids that look like the typed one, the nearest first.

    Those that differ only in case, space and the form of their letters come before those with
    other letters (Ratcliff and Obershelp's ratio of 0.6 and more, as `difflib` has it).
    """
    folded = _folded(typed)
    same = [one for one in known if _folded(one) == folded]
    if len(known) > COMPARED or len(same) >= NAMED:
        return same[:NAMED]
    alike = [one for one in get_close_matches(typed, known, NAMED) if one not in same]
    return (same + alike)[:NAMED]


def perhaps(typed: str, known: Collection[str]) -> str:
    """Return "ID (perhaps ONE or OTHER)", or the id alone where none is near."""
    found = " or ".join(one[:60] for one in near(typed, known))
    return f"{typed[:60]} (perhaps {found})" if found else typed[:60]


def _folded(text: str) -> str:
    return "".join(unicodedata.normalize("NFKC", text).casefold().split())
