"""Teams, shares and writing roles of a user, cached during one request.

The access rules (`annotations.models.access`) depend on them. As nested subqueries they would be
evaluated again for each list of a page. Inside `cache_queries` they are read when the first list
needs them, and each list gets the keys.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final

from django.apps import apps
from django.db import models
from django.db.models import CharField, F, Q, Value

MOST_CACHED: Final = 500
"""Most rows that are cached; with more, the queries use subqueries."""

Keys = list[int] | models.QuerySet[Any, Any]
"""Keys as a list, or as a subquery."""


_cached_rows: ContextVar[dict[Any, list[Any]] | None] = ContextVar("kept", default=None)


@contextmanager
def cache_queries() -> Iterator[None]:
    """Cache the queries on a user's teams and shares in the block, which must not change them."""
    token = _cached_rows.set({})
    try:
        yield
    finally:
        _cached_rows.reset(token)


def load_team_keys(user: int) -> Keys:
    """Return the keys of the teams that a user owns or has joined."""
    keys = _select_access_rows(user, "team")
    return _query_teams(user) if keys is None else [key for key, _ in keys]


def load_shared_set_keys(user: int, roles: Iterable[str]) -> Keys:
    """Return the keys of the question sets shared with a user in one of the roles."""
    sorted_roles = sorted(roles)
    rows = _select_access_rows(user, "share")
    if rows is None:
        return _query_accepted_shares(user).filter(role__in=sorted_roles).values("question_set")
    return [key for key, role in rows if role in sorted_roles]


def has_writing_role(user: int) -> bool:
    """Return whether a user writes or checks problems in any writing project."""
    rows = _select_access_rows(user, "writing")
    return _query_writing_roles(user).exists() if rows is None else bool(rows)


def load_set_keys(condition: Q, owner: int | None = None, *, of_one_row: bool = False) -> Keys:
    """Return the keys of the question sets that meet a condition, except those of `owner`.

    For a look-up `of_one_row`, returns a subquery unless the keys are cached already.
    """
    matching = _get_model_rows("QuestionSet").filter(condition)
    if of_one_row and ("sets", condition) not in (_cached_rows.get() or {}):
        rows = None
    else:
        rows = _load_cached("sets", condition, lambda: matching.values_list("pk", "owner"))
    if rows is None:
        return (matching if owner is None else matching.exclude(owner=owner)).values("pk")
    return [key for key, set_owner in rows if set_owner != owner]


def _select_access_rows(user: int, kind: str) -> list[tuple[int, str]] | None:
    """Return (key, role) of a user's teams, shares or writing roles; None without a cache."""
    rows = _load_cached("ties", user, lambda: _query_access_rows(user))
    return rows and [(key, role) for row_kind, key, role in rows if row_kind == kind]


def _query_access_rows(user: int) -> models.QuerySet[Any, Any]:
    """Return a queryset of (kind, key, role) of a user's teams, shares and writing roles."""

    def select_columns(kind: str, rows: models.QuerySet[Any, Any], key: Any, role: Any) -> Any:
        """Return the rows as a queryset of (kind, key, role)."""
        return rows.values_list(Value(kind, CharField()), key, role)

    nothing = Value("", CharField())
    return select_columns("team", _query_teams(user), F("pk"), nothing).union(
        select_columns("share", _query_accepted_shares(user), F("question_set"), F("role")),
        # The union removes duplicates, so any number of writing roles gives one row.
        select_columns("writing", _query_writing_roles(user), Value(0), nothing),
    )


def _load_cached(
    topic: str, subject: Any, rows: Callable[[], models.QuerySet[Any, Any]]
) -> list[Any] | None:
    """Return rows from the cache, loading them if needed; None without a cache or over 500 rows."""
    cache = _cached_rows.get()
    if cache is None:
        return None
    if (topic, subject) not in cache:
        # One more than is cached shows that there are too many.
        result = list(rows()[: MOST_CACHED + 1])
        if len(result) > MOST_CACHED:
            _cached_rows.set(None)  # too many: no caching for the rest of the page
            return None
        cache[topic, subject] = result
    return cache[topic, subject]


def _query_teams(user: int) -> models.QuerySet[Any, Any]:
    """Return a queryset of the keys of the teams that a user owns or has joined."""
    joined = _get_model_rows("Membership").filter(user=user, pending=False).values("team")
    return _get_model_rows("Team").filter(Q(owner=user) | Q(pk__in=joined)).values("pk")


def _query_accepted_shares(user: int) -> models.QuerySet[Any, Any]:
    """Return a queryset of the shares that a user has accepted."""
    return _get_model_rows("Share").filter(user=user, pending=False)


def _query_writing_roles(user: int) -> models.QuerySet[Any, Any]:
    """Return a queryset of the writing roles that a user has accepted."""
    return _get_model_rows("WritingMember").filter(user=user, pending=False)


def _get_model_rows(name: str) -> models.QuerySet[Any, Any]:
    """Return all rows of the model `name`; it is looked up late to avoid a circular import."""
    return apps.get_model("annotations", name)._default_manager.order_by()
