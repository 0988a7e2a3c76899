"""Detect that another user decided something after the page was opened."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import HttpRequest

from annotations.models import Decision
from evaluation.models import WorkerVerdict


def seen(request: HttpRequest) -> UUID | None:
    """Return the newest decision when the page was opened, as posted by it; None for none."""
    try:
        return UUID(request.POST.get("seen", ""))
    except ValueError:
        return None


def meanwhile(newest: Decision | WorkerVerdict, user: Any, what: str) -> str:
    """Return the message that `newest` was decided meanwhile and the posted choice is dropped."""
    who = "You" if newest.decided_by_id == user.pk else newest.decided_by.get_username()
    return (
        f"{who} decided meanwhile: {what} ({newest.created_at:%-d %b %Y, %H:%M} UTC). What you "
        "chose is not kept; decide again if you see it otherwise."
    )
