"""Preferences of an account, such as single-key shortcuts."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import models


class Preferences(models.Model):
    """Preferences of one account; an account without a row has the defaults.

    `single_keys` : whether a single letter or digit presses a button of a page. Users of speech
    input, and users who hit keys by mistake, turn it off (WCAG 2.1.4).
    """

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        primary_key=True,
        related_name="preferences",
    )
    single_keys = models.BooleanField(default=True)

    class Meta:
        verbose_name_plural = "preferences"

    def __str__(self) -> str:
        return f"preferences of {self.user}"


def has_single_keys(user: Any) -> bool:
    """Return whether a single key presses a button for a user; runs one query."""
    return not Preferences.objects.filter(user=user.pk, single_keys=False).exists()
