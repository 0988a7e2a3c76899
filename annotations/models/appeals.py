"""Appeals of rejected workers, and the requesters' answers to them."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotations.models.access import EDITORS, Access
from annotations.models.base import AppendOnly, AppendOnlyQuerySet
from annotations.models.decisions import Decision


class AppealQuerySet(AppendOnlyQuerySet["Appeal"]):
    """Queryset of appeals: they never change, and are deleted only after a withdrawal."""

    def delete_withdrawn(self, submissions: Collection[int] | models.QuerySet[Any, Any]) -> int:
        """Delete appeals of withdrawn submissions, and the answers to them; return the row count.

        Raises IntegrityError if a submission is not withdrawn: the database refuses it.
        """
        # A plain QuerySet, because the model's own refuses to delete anything.
        rows: models.QuerySet[Appeal, Appeal] = models.QuerySet(Appeal)
        return rows.filter(decision__submission__in=submissions).delete()[0]


class Appeal(AppendOnly):
    """A worker's text against a rejection of their submission: at most one, never changed.

    Only rejections have one (a database constraint). `noted_by` is the user who copied it from the
    panel's messages, for a worker without a page here.
    """

    access = Access(
        question_set="decision__submission__version__question_set",
        readers=EDITORS,
    )

    decision = models.OneToOneField(Decision, on_delete=models.PROTECT, related_name="appeal")
    text = models.TextField()
    noted_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="noted_appeals",
    )

    objects = AppealQuerySet.as_manager()  # type: ignore[misc]

    class Meta:
        constraints = [
            models.CheckConstraint(condition=~Q(text=""), name="appeal_has_a_text"),
        ]

    def __str__(self) -> str:
        return f"appeal against {self.decision}"


class AppealAnswer(AppendOnly):
    """A requester's answer to an appeal; `approval` is the decision that followed, if any."""

    access = Access(
        question_set="appeal__decision__submission__version__question_set",
        readers=EDITORS,
    )

    appeal = models.OneToOneField(Appeal, on_delete=models.CASCADE, related_name="answer")
    text = models.TextField()
    approval = models.OneToOneField(
        Decision, on_delete=models.PROTECT, null=True, blank=True, related_name="made_by_answer"
    )
    answered_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="appeal_answers"
    )

    class Meta:
        constraints = [
            models.CheckConstraint(condition=~Q(text=""), name="appeal_answer_has_a_text"),
        ]

    def __str__(self) -> str:
        return f"answer to {self.appeal}"
