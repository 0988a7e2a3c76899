"""Stored responses to API requests with an Idempotency-Key header."""

from django.conf import settings
from django.db import models

from annotations.models.access import Access
from annotations.models.base import Scoped


class IdempotentRequest(Scoped):
    """Stored response to an API request with a key; repeating the request returns it again.

    `request` is the SHA-256 of method, URL and body. Stored for a day.
    """

    access = Access(owner="user")

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    key = models.CharField(max_length=255)
    request = models.CharField(max_length=64)
    status = models.PositiveSmallIntegerField(default=0)
    location = models.TextField(blank=True)
    body = models.JSONField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True, db_index=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["user", "key"], name="idempotency_key_once_per_user")
        ]

    def __str__(self) -> str:
        return self.key
