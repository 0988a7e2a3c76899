"""Trials of models in the background, so that no web thread waits for a slow server.

A trial runs in a thread of its own, a few at a time, and its result lies in the cache that all web
processes share until it is looked at. Each user has one trial at a time.
"""

from __future__ import annotations

import re
import secrets
import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace

from django.core.cache import cache

from evaluation.language_models.views.trying import PATIENCE, Prepared, Trial

AT_ONCE = 8
"""Trials of a web process at the same time; each waits for the network."""
KEPT_SECONDS = 600
"""How long a result can be looked at."""

NAME = re.compile(r"[A-Za-z0-9_-]{1,40}")

_places = threading.BoundedSemaphore(AT_ONCE)


class TrialRefusedError(Exception):
    """The trial cannot start: `code` is one_at_a_time or trials_busy."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


@dataclass(frozen=True, slots=True)
class Look:
    """State of a trial: the form's values, and the result, None while pending."""

    asked: Mapping[str, str]
    result: Trial | None = None

    @property
    def is_pending(self) -> bool:
        """Whether the model has not replied yet."""
        return self.result is None


def begin(user_id: int, prepared: Prepared, asked: Mapping[str, str]) -> str:
    """Start a trial in the background and return its name. Raises `TrialRefusedError`."""
    name, of_user = secrets.token_urlsafe(12), f"trial-of-{user_id}"
    # It ends by itself, should the process be killed in the middle.
    longest = int(PATIENCE.timeout) + 30
    if not cache.add(of_user, name, longest):
        raise TrialRefusedError("one_at_a_time")
    places = _places
    if not places.acquire(blocking=False):
        cache.delete(of_user)
        raise TrialRefusedError("trials_busy")
    key = _key(user_id, name)
    pending = Look(dict(asked))
    cache.set(key, pending, longest)

    def run() -> None:
        try:
            cache.set(key, replace(pending, result=prepared.run()), KEPT_SECONDS)
        finally:
            cache.delete(of_user)
            places.release()

    threading.Thread(target=run, name="trial", daemon=True).start()
    return name


def look(user_id: int, name: str) -> Look | None:
    """Return a user's trial by its name; None if unknown or expired."""
    found = cache.get(_key(user_id, name)) if NAME.fullmatch(name) else None
    return found if isinstance(found, Look) else None


def _key(user_id: int, name: str) -> str:
    return f"trial-{user_id}-{name}"
