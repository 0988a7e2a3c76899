"""Messages on pages, in the words of the site."""

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
    """Return the sentence of a message, or of what is stored of one."""
    return SITE.said(message)


@register.filter
def evidence(message: Any) -> str:
    """Return the first sentence of a message: what was seen, before what it means."""
    first, stop, _ = SITE.said(message).partition(". ")
    return f"{first}." if stop else first


@register.filter
def of_worker(found: Mapping[UUID, Any], worker: UUID) -> Any:
    """Return what a page has for a worker, such as the marks beside the name; else nothing."""
    return found.get(worker, ())


@register.filter
def marked_for(marks: Iterable[Any]) -> str:
    """Return what alarms say of a worker, each thing once, for where no link can stand."""
    return "; ".join(dict.fromkeys(mark.words for mark in marks))


@register.filter
def each_once(marks: Iterable[Any]) -> list[Any]:
    """Return marks without those that say what one before them said: the worst alarm keeps it."""
    kept: dict[str, Any] = {}
    for mark in marks:
        kept.setdefault(mark.words, mark)
    return list(kept.values())


@register.filter
def probability(p: float | None) -> str:
    """Return a p-value to three places; never 0, which none is; a dash for none."""
    if p is None:
        return "–"
    return "< 0.001" if p < LEAST else f"{p:.3f}"
