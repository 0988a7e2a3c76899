"""Messages on pages, in the words of the site."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django import template

from evaluation.options import SITE

register = template.Library()
# Smaller ones say no more about the difference, only about the number of questions.
LEAST = 0.001


@register.filter
def said(message: Any) -> str:
    """Return the sentence of a message, or of what is stored of one."""
    return SITE.said(message)


@register.filter
def of_worker(found: Mapping[UUID, Any], worker: UUID) -> Any:
    """Return what a page has for a worker, such as the marks beside the name; else nothing."""
    return found.get(worker, ())


@register.filter
def probability(p: float | None) -> str:
    """Return a p-value to three places; never 0, which none is; a dash for none."""
    if p is None:
        return "–"
    return "< 0.001" if p < LEAST else f"{p:.3f}"
