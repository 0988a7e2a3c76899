"""What a person set for their own account."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import models


class Preferences(models.Model):
    """The settings of one account; who never set anything has no row, and the defaults hold.

    `single_keys` says whether pages take a letter or digit by itself for a button: people who speak
    to their computer, or who hit keys without meaning to, turn that off (WCAG 2.1.4).
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


def takes_single_keys(user: Any) -> bool:
    """Whether pages take single keys for buttons for a user; by one query."""
    return not Preferences.objects.filter(user=user.pk, single_keys=False).exists()
