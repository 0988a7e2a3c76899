"""Messages on pages, in the words of the site."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django import template

from evaluation.options import SITE

register = template.Library()


@register.filter
def said(message: Any) -> str:
    """Return the sentence of a message, or of what is stored of one."""
    return SITE.said(message)


@register.filter
def of_worker(marks: Mapping[UUID, Any], worker: UUID) -> Any:
    """Return what is marked beside a worker's name; nothing for one whom no alarm names."""
    return marks.get(worker, ())
