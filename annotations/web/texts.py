"""Texts on pages and in lists: shortened, or with marked code."""

from __future__ import annotations

import re

from django.db.models import F, TextField
from django.db.models.expressions import Combinable
from django.db.models.functions import Substr
from django.utils.html import conditional_escape
from django.utils.safestring import SafeString, mark_safe

# Characters shown of an answer, and of a text in a list.
ANSWER_SHOWN = 1500
EXCERPT_SHOWN = 240


def select_beginning(path: str, length: int = EXCERPT_SHOWN) -> Combinable:
    """Return an SQL expression for the beginning of a text (`length` + 1 characters).

    The extra character states whether the text goes on.
    """
    return Substr(F(path), 1, length + 1, output_field=TextField())


def shorten_text(text: str | None, length: int = EXCERPT_SHOWN) -> str:
    """Return the first characters of a text, followed by … if it is longer; "" for None.

    Django's `Truncator` is not used: it would normalize the text to composed characters.
    """
    if not text:
        return ""
    return f"{text[:length].rstrip()}…" if len(text) > length else text


def mark_code(text: str) -> SafeString:
    """Return a text as HTML, escaped, with parts between backticks marked as code."""
    escaped = conditional_escape(text)
    return mark_safe(re.sub(r"`([^`]*)`", r"<code>\1</code>", escaped))  # noqa: S308
