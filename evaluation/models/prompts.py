"""Prompts of requesters: a name, and versions that never change."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotations.models import Access, AppendOnly, Record

STRATEGIES = ("closed", "passage")


class Prompt(Record):
    """A named prompt; its text is in its versions."""

    access = Access(owner="owner")

    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="prompts"
    )
    name = models.CharField(max_length=200)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["owner", "name"],
                name="prompt_name_once_per_owner",
                violation_error_message="You have a prompt of this name.",
            ),
            models.CheckConstraint(condition=~Q(name=""), name="prompt_has_a_name"),
        ]
        indexes = [models.Index(fields=["owner", "-id"], name="prompt_list")]

    def __str__(self) -> str:
        return self.name

    def latest(self) -> PromptVersion:
        """Return the version with the highest number; there is always one."""
        return self.versions.order_by("-number")[0]


class PromptVersion(AppendOnly):
    """Version of a prompt: system text and template; every edit creates a new version.

    `hash` is that of `evaluation.runs.flow.asking.prompts.Prompt`: equal texts have equal ones,
    whoever wrote them.
    """

    access = Access(owner="prompt__owner")

    prompt = models.ForeignKey(
        Prompt, on_delete=models.CASCADE, related_name="versions", db_index=False
    )
    number = models.PositiveIntegerField(help_text="From 1.")
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="prompt_versions"
    )
    strategy = models.CharField(max_length=10, choices=[(name, name) for name in STRATEGIES])
    system = models.TextField(blank=True)
    template = models.TextField()
    hash = models.CharField(max_length=64)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["prompt", "number"], name="prompt_version_once"),
            models.CheckConstraint(
                condition=Q(strategy__in=STRATEGIES), name="prompt_strategy_is_known"
            ),
            models.CheckConstraint(
                condition=Q(number__gte=1) & ~Q(hash="") & ~Q(template=""),
                name="prompt_version_is_whole",
            ),
        ]
        ordering = ["prompt", "number"]

    def __str__(self) -> str:
        return f"{self.prompt}, version {self.number}"
