"""Sentences of ours on a page."""

from __future__ import annotations

import re

from django.utils.html import conditional_escape
from django.utils.safestring import SafeString, mark_safe


def with_code(text: str) -> SafeString:
    """Return the text, escaped, with what stands between backticks marked as code."""
    escaped = conditional_escape(text)
    return mark_safe(re.sub(r"`([^`]*)`", r"<code>\1</code>", escaped))  # noqa: S308
