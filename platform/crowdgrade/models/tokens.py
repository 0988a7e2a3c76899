"""Tokens: how another program says for whom it asks."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.contrib.auth.models import AbstractBaseUser
from django.db import models
from django.db.models import Q, QuerySet
from django.utils import timezone
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

    def note_use(self) -> None:
        """Keep when it was used last, to ten minutes."""
        now = timezone.now()
        if self.last_used_at is None or now - self.last_used_at > NOTED_EVERY:
            ApiToken.objects.filter(pk=self.pk).update(last_used_at=now)


def make_token(user: AbstractBaseUser, name: str, days: int | None) -> tuple[ApiToken, str]:
    """Make a token that holds for some days (None: until it is revoked).

    Returns
    -------
    The row, and the token itself, which is stored nowhere and cannot be shown again.
    """
    expiry = None if days is None else timedelta(days=days)
    manager: Any = ApiToken.objects
    row, token = manager.create(user, expiry=expiry, prefix=PREFIX, name=name)
    return row, token


def tokens_of(user: AbstractBaseUser) -> QuerySet[ApiToken]:
    """Return the user's tokens, newest first."""
    rows: QuerySet[ApiToken] = ApiToken.objects.filter(user=user.pk).order_by("-created")
    return rows


def token_given(token: str) -> ApiToken | None:
    """Return the row of a token with its user, expired or not; None for one nobody has."""
    # The digest is the primary key: what is compared is a hash, so its timing tells nothing.
    rows = ApiToken.objects.select_related("user")
    if len(token) > CONSTANTS.DIGEST_LENGTH:
        return None
    found: ApiToken | None = rows.filter(digest=hash_token(token)).first()
    return found
