"""Texts in lists: cut in the database, so that a list never loads a book."""

from __future__ import annotations

from typing import Any, TypeVar

from django.db.models import F, Model, QuerySet, TextField
from django.db.models.functions import Substr
from rest_framework import serializers

M = TypeVar("M", bound=Model)

EXCERPT = 240
"""Characters of a text that a list shows."""


class Excerpt(serializers.CharField):
    """The first 240 characters of the text, with an ellipsis if there is more."""

    def __init__(self, **kwargs: Any) -> None:
        kwargs.setdefault("help_text", "The first 240 characters of the text; … if there is more.")
        super().__init__(read_only=True, **kwargs)

    def to_representation(self, value: Any) -> str:
        """Return the cut text."""
        return f"{value[:EXCERPT].rstrip()}…" if len(value) > EXCERPT else str(value)


def with_excerpt(rows: QuerySet[M, M]) -> QuerySet[M, M]:
    """Add what `Excerpt` shows: one character more, so that it knows whether there is more."""
    shown = Substr(F("text"), 1, EXCERPT + 1, output_field=TextField())
    annotated: QuerySet[Any, Any] = rows.annotate(excerpt=shown)
    return annotated
