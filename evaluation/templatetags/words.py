"""Template filters that format messages and p-values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID

from django import template

from evaluation.core.options import SITE

register = template.Library()
# Smaller ones say no more about the difference, only about the number of questions.
LEAST = 0.001


@register.filter
def said(message: Any) -> str:
    """Return the sentence of a message, or of its stored form."""
    return SITE.said(message)


@register.filter
def evidence(message: Any) -> str:
    """Return the first sentence of a message: the evidence without the explanation."""
    first, stop, _ = SITE.said(message).partition(". ")
    return f"{first}." if stop else first


@register.filter
def of_worker(found: Mapping[UUID, Any], worker: UUID) -> Any:
    """Return a worker's entry in a mapping, such as alarms; () without one."""
    return found.get(worker, ())


@register.filter
def marked_for(marks: Iterable[Any]) -> str:
    """Return a worker's alarms as plain text without duplicates, for places without links."""
    return "; ".join(dict.fromkeys(mark.words for mark in marks))


@register.filter
def each_once(marks: Iterable[Any]) -> list[Any]:
    """Return alarms without repeated texts; the first and most severe one is kept."""
    kept: dict[str, Any] = {}
    for mark in marks:
        kept.setdefault(mark.words, mark)
    return list(kept.values())


@register.filter
def probability(p: float | None) -> str:
    """Format a p-value to three decimals, never as 0; a dash for None."""
    if p is None:
        return "–"
    return "< 0.001" if p < LEAST else f"{p:.3f}"
