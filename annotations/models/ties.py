"""What binds a user to the question sets of others: teams and shares, asked once for a page.

The rule of who sees what (`annotations.models.access`) hangs on them. Said as conditions within
conditions they would be put together and looked up anew for each list of a page; while `asked_once`
lasts they are read when the first list needs them, and each list gets the keys.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final

from django.apps import apps
from django.db import models
from django.db.models import Q

MOST: Final = 500
"""Teams, shares or sets of a user that are told by their keys; of more the database keeps track."""

Keys = list[int] | models.QuerySet[Any, Any]


_kept: ContextVar[dict[Any, list[Any]] | None] = ContextVar("kept", default=None)


@contextmanager
def asked_once() -> Iterator[None]:
    """Keep what is asked while the block lasts; for what changes no set, no team and no share."""
    token = _kept.set({})
    try:
        yield
    finally:
        _kept.reset(token)


def teams(user: int) -> Keys:
    """Return the keys of the teams that a user owns or is in, where invited only: not yet."""
    keys = _asked("teams", user, lambda: _teams(user).values_list("pk", flat=True))
    return _teams(user) if keys is None else keys


def shared_sets(user: int, roles: Iterable[str]) -> Keys:
    """Return the keys of the sets that are shared with a user in one of the roles."""
    wanted = sorted(roles)
    rows = _asked("shares", user, lambda: _shares(user).values_list("question_set", "role"))
    if rows is None:
        return _shares(user).filter(role__in=wanted).values("question_set")
    return [key for key, role in rows if role in wanted]


def sets(condition: Q, owner: int | None = None) -> Keys:
    """Return the keys of the sets that meet a condition, where given: not those of an owner."""
    found = _rows("QuestionSet").filter(condition)
    rows = _asked("sets", condition, lambda: found.values_list("pk", "owner"))
    if rows is None:
        return (found if owner is None else found.exclude(owner=owner)).values("pk")
    return [key for key, of in rows if of != owner]


def _asked(what: str, of: Any, rows: Callable[[], models.QuerySet[Any, Any]]) -> list[Any] | None:
    """Return what was asked, or is now; None where nothing is kept."""
    kept = _kept.get()
    if kept is None:
        return None
    if (what, of) not in kept:
        found = list(rows()[: MOST + 1])
        if len(found) > MOST:
            _kept.set(None)  # for the rest of the page
            return None
        kept[what, of] = found
    return kept[what, of]


def _teams(user: int) -> models.QuerySet[Any, Any]:
    joined = _rows("Membership").filter(user=user, pending=False).values("team")
    return _rows("Team").filter(Q(owner=user) | Q(pk__in=joined)).values("pk")


def _shares(user: int) -> models.QuerySet[Any, Any]:
    return _rows("Share").filter(user=user, pending=False)


def _rows(name: str) -> models.QuerySet[Any, Any]:
    """Return the rows of a model by its name: all models import the rules, these import none."""
    return apps.get_model("annotations", name)._default_manager.order_by()
