"""Model of API tokens, by which programs authenticate as a user."""

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
"""Secret scanners recognize a token published by mistake by this prefix."""

MAX_DAYS = 366
# Least time between updates of `last_used_at`: on SQLite a reader would wait for the writer.
USE_INTERVAL = timedelta(minutes=10)


class ApiToken(AbstractAuthToken):
    """API token of a user, stored as its SHA-512; 244 random bits need no slower hash.

    `token_key` is the beginning of the token, by which users distinguish tokens. A token without an
    expiry is valid until it is revoked, which deletes the row.
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
        """Whether the token's expiry time has passed."""
        return self.expiry is not None and self.expiry <= timezone.now()

    @property
    def is_outdated(self) -> bool:
        """Whether the user's password changed after the token was created."""
        if not self.password_mark:
            return False
        user = self.user
        marks = [user.get_session_auth_hash(), *user.get_session_auth_fallback_hash()]
        return not any(constant_time_compare(self.password_mark, mark) for mark in marks)

    def record_use(self) -> None:
        """Store the time of the token's last use, at most once in ten minutes.

        A token from before password marks gets the mark of the present password.
        """
        now = timezone.now()
        # Updates by query, not `save`: they cannot bring back a token that was revoked meanwhile.
        row = ApiToken.objects.filter(pk=self.pk)
        if not self.password_mark:
            row.update(password_mark=self.user.get_session_auth_hash())
        if self.last_used_at is None or now - self.last_used_at > USE_INTERVAL:
            row.update(last_used_at=now)


def create_token(user: AbstractBaseUser, name: str, days: int | None) -> tuple[ApiToken, str]:
    """Create an API token and return (row, token).

    It is valid for `days`, or with None until it is revoked.

    Returns
    -------
    The row, and the token itself, which is stored nowhere and cannot be shown again.
    """
    expiry = None if days is None else timedelta(days=days)
    manager: Any = ApiToken.objects
    mark = user.get_session_auth_hash()
    row, token = manager.create(user, expiry=expiry, prefix=PREFIX, name=name, password_mark=mark)
    return row, token


def select_tokens(user: AbstractBaseUser) -> QuerySet[ApiToken]:
    """Return the API tokens of a user as a queryset, newest first."""
    rows = ApiToken.objects.filter(user=user.pk).select_related("user")
    ordered: QuerySet[ApiToken] = rows.order_by("-created")
    return ordered


def find_token(token: str) -> ApiToken | None:
    """Return the row of an API token with its user, even if expired; None if unknown."""
    # The database compares hashes, so the time it takes reveals nothing about tokens.
    rows = ApiToken.objects.select_related("user")
    # No token is so long, and hashing a crafted one would only cost time.
    if len(token) > CONSTANTS.DIGEST_LENGTH:
        return None
    row: ApiToken | None = rows.filter(digest=hash_token(token)).first()
    return row
