"""Model of the states of submissions on their panel, from the panel's export."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotations.models.access import VIEWERS, Access
from annotations.models.base import AppendOnly
from annotations.models.submissions import Submission


class PanelStatus(AppendOnly):
    """Status of a submission on its panel; each change is stored as a new row.

    The newest one counts; the others are the history. Rows are deleted with the submission.
    `session_id` is the panel's id of the submission, which differs from ours. Personal data of the
    export (age, country ...) is not stored.
    """

    class Status(models.TextChoices):
        """States of submissions, in Prolific's terms."""

        RESERVED = "RESERVED", "reserved"
        ACTIVE = "ACTIVE", "active"
        TIMED_OUT = "TIMED-OUT", "timed out"
        AWAITING = "AWAITING REVIEW", "awaiting review"
        APPROVED = "APPROVED", "approved"
        RETURNED = "RETURNED", "returned"
        REJECTED = "REJECTED", "rejected"
        SCREENED_OUT = "SCREENED OUT", "screened out"
        PARTIALLY = "PARTIALLY APPROVED", "partially approved"

    access = Access(question_set="submission__version__question_set", readers=VIEWERS)

    # An index below begins with this column, so it needs none of its own.
    submission = models.ForeignKey(
        Submission, on_delete=models.CASCADE, related_name="panel_statuses", db_index=False
    )
    status = models.CharField(max_length=20, choices=Status.choices)
    session_id = models.CharField(max_length=255)
    started_at = models.DateTimeField(null=True, blank=True)
    completed_at = models.DateTimeField(null=True, blank=True)
    seconds = models.FloatField(null=True, blank=True, help_text="Time taken, as the panel has it.")
    code = models.CharField(max_length=100, blank=True)
    file = models.CharField(max_length=200)
    sha256 = models.CharField(max_length=64)
    recorded_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="panel_statuses",
    )

    class Meta:
        verbose_name_plural = "panel statuses"
        constraints = [
            models.CheckConstraint(
                condition=Q(
                    status__in=[
                        "RESERVED",
                        "ACTIVE",
                        "TIMED-OUT",
                        "AWAITING REVIEW",
                        "APPROVED",
                        "RETURNED",
                        "REJECTED",
                        "SCREENED OUT",
                        "PARTIALLY APPROVED",
                    ]
                ),
                name="panel_status_is_known",
            ),
        ]
        indexes = [models.Index(fields=["submission", "-id"], name="panel_status_newest")]

    def __str__(self) -> str:
        return f"{self.submission}: {self.status}"
