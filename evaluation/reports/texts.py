"""Texts for lists: cut in the database, so that a page never loads a book."""

from __future__ import annotations

from typing import Any

from django.db.models import F, TextField
from django.db.models.expressions import Combinable
from django.db.models.functions import Substr

# Characters that are shown of an answer, and of a text in a list.
ANSWER_SHOWN = 1500
EXCERPT_SHOWN = 240


def beginning(path: str, length: int = EXCERPT_SHOWN) -> Combinable:
    """Return the expression for the first characters of a text, one more than are shown."""
    return Substr(F(path), 1, length + 1, output_field=TextField())


def shortened(text: Any, length: int = EXCERPT_SHOWN) -> str:
    """Return what `beginning` read, with an ellipsis if there is more; "" for None."""
    if not text:
        return ""
    return f"{text[:length].rstrip()}…" if len(text) > length else str(text)
