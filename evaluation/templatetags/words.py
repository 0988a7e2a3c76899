"""Messages on pages, in the words of the site."""

from __future__ import annotations

from typing import Any

from django import template

from evaluation.words import site

register = template.Library()


@register.filter
def said(message: Any) -> str:
    """Return the sentence of a message, or of what is stored of one."""
    return site.said(message)
