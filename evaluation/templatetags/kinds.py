"""What lists show of a run by its kind."""

from __future__ import annotations

from django import template

from evaluation.kinds import UnknownKindError, kind_of
from evaluation.models import Run

register = template.Library()


@register.filter
def vectors(run: Run) -> str:
    """Return how the run's texts become vectors; "" for a kind without vectors."""
    embedder = getattr(run, "embedder", None)
    if embedder:
        return str(embedder)
    try:
        option = kind_of(run).options.options().get("embedder")
    except UnknownKindError:
        return ""
    return "" if option is None else str(option.default)
