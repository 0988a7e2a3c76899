"""Tokens: how another program says for whom it asks."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.contrib.auth.models import AbstractBaseUser
from django.db import models
from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.crypto import constant_time_compare
from knox.crypto import hash_token
from knox.models import AbstractAuthToken
from knox.settings import CONSTANTS

from annotations.models import new_public_id

PREFIX = "cg_"
"""So that a token that was published by mistake is recognised by those who scan for them."""

MOST_DAYS = 366
# `last_used_at` is not written more often: reading shall not wait for a writer of SQLite's.
NOTED_EVERY = timedelta(minutes=10)


class ApiToken(AbstractAuthToken):
    """A token of a user, known by its SHA-512 only: 244 random bits need no slower hash.

    `token_key` is the beginning of the token, by which people tell tokens apart. Without an expiry
    it holds until it is revoked, which deletes the row.
    """

    public_id = models.UUIDField(unique=True, default=new_public_id, editable=False)
    name = models.CharField(max_length=100, help_text="What it is for, such as: lab notebook.")
    last_used_at = models.DateTimeField(null=True, blank=True)
    password_mark = models.CharField(
        max_length=128,
        blank=True,
        default="",
        help_text="What the user's sessions were signed with when it was made; blank in tokens of "
        "before, which take that of their next use.",
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["user", "name"],
                name="api_token_name_once_per_user",
                violation_error_message="You have a token of this name.",
            ),
            models.CheckConstraint(condition=~Q(name=""), name="api_token_has_a_name"),
        ]
        indexes = [models.Index(fields=["user", "-created"], name="api_token_list")]

    def __str__(self) -> str:
        return self.name

    @property
    def has_expired(self) -> bool:
        """Whether it is refused by now."""
        return self.expiry is not None and self.expiry <= timezone.now()

    @property
    def is_outdated(self) -> bool:
        """Whether the user's password was changed since: then it is refused, as sessions are."""
        if not self.password_mark:
            return False
        user = self.user
        marks = [user.get_session_auth_hash(), *user.get_session_auth_fallback_hash()]
        return not any(constant_time_compare(self.password_mark, mark) for mark in marks)

    def note_use(self) -> None:
        """Keep when it was used last, to ten minutes."""
        now = timezone.now()
        row = ApiToken.objects.filter(pk=self.pk)
        if not self.password_mark:
            row.update(password_mark=self.user.get_session_auth_hash())
        if self.last_used_at is None or now - self.last_used_at > NOTED_EVERY:
            row.update(last_used_at=now)


def make_token(user: AbstractBaseUser, name: str, days: int | None) -> tuple[ApiToken, str]:
    """Make a token that holds for some days (None: until it is revoked).

    Returns
    -------
    The row, and the token itself, which is stored nowhere and cannot be shown again.
    """
    expiry = None if days is None else timedelta(days=days)
    manager: Any = ApiToken.objects
    mark = user.get_session_auth_hash()
    row, token = manager.create(user, expiry=expiry, prefix=PREFIX, name=name, password_mark=mark)
    return row, token


def tokens_of(user: AbstractBaseUser) -> QuerySet[ApiToken]:
    """Return the user's tokens, newest first."""
    mine = ApiToken.objects.filter(user=user.pk).select_related("user")
    rows: QuerySet[ApiToken] = mine.order_by("-created")
    return rows


def token_given(token: str) -> ApiToken | None:
    """Return the row of a token with its user, expired or not; None for one nobody has."""
    # The digest is the primary key: what is compared is a hash, so its timing tells nothing.
    rows = ApiToken.objects.select_related("user")
    if len(token) > CONSTANTS.DIGEST_LENGTH:
        return None
    found: ApiToken | None = rows.filter(digest=hash_token(token)).first()
    return found
