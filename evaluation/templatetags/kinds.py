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


@register.filter(name="status_words")
def describe_reply_status(status: str) -> str:
    """Return the status of a model's reply without text in words."""
    return STATUSES.get(status, status)


@register.filter(name="money")
def format_amount(amount: float) -> str:
    """Return an amount without currency: two decimals, or two significant digits below 0.1."""
    if not amount:
        return "0"
    if abs(amount) >= 0.1:
        return f"{amount:,.2f}"
    digits = f"{amount:.1e}"
    places = 1 - int(digits.partition("e")[2])
    return f"{amount:.{places}f}"


@register.filter(name="percent")
def format_percentage(share: float | None) -> str:
    """Return a share as a percentage; 0% and 100% only if it is exact. "" for None."""
    if share is None:
        return ""
    rounded = f"{share:.0%}"
    return f"{share:.1%}" if rounded in ("0%", "100%") and share not in (0, 1) else rounded


@register.filter(name="at")
def get_element(values: Sequence[Any], place: int) -> Any:
    """Return the element of a sequence at an index, from 0."""
    return values[place]


register.filter("pace", format_rate)
register.filter("duration", format_duration)
