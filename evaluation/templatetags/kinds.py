"""Template filters for runs: reply status, money, percentages, list elements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import template

from evaluation.runs.background.progress import format_duration, format_rate

register = template.Library()


STATUSES = {
    "refused_prompt": "refused before it answered",
    "refused_generation": "refused while it answered",
    "cut_off": "cut off before an answer",
}
"""Words for what models gave in place of an answer, where the code is none."""


@register.filter
def status_words(status: str) -> str:
    """Return a model reply's status in words, for replies without a text."""
    return STATUSES.get(status, status)


@register.filter
def money(amount: float) -> str:
    """Format an amount without currency: two decimals, or two digits below 0.1."""
    if not amount:
        return "0"
    if abs(amount) >= 0.1:
        return f"{amount:,.2f}"
    digits = f"{amount:.1e}"
    places = 1 - int(digits.partition("e")[2])
    return f"{amount:.{places}f}"


@register.filter
def percent(share: float | None) -> str:
    """Format a share as a whole percentage; 0 and 100 only if exact."""
    if share is None:
        return ""
    rounded = f"{share:.0%}"
    return f"{share:.1%}" if rounded in ("0%", "100%") and share not in (0, 1) else rounded


@register.filter
def at(values: Sequence[Any], place: int) -> Any:
    """Return the element of a sequence at a position, from 0."""
    return values[place]


register.filter("pace", format_rate)
register.filter("duration", format_duration)
