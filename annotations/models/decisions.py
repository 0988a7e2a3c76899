"""Model of decisions about submissions."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotations.models.access import VIEWERS, Access
from annotations.models.base import AppendOnly
from annotations.models.submissions import Submission


class Decision(AppendOnly):
    """A user's decision about a submission, with its reason; the newest one counts.

    It is what the panel learns. Whether the worker votes in later runs is a row of
    `evaluation.models.WorkerVerdict`, which is written in the same transaction. Rows are never
    changed or deleted, so a submission with decisions cannot be deleted either.
    """

    class Kind(models.TextChoices):
        """Kind of decision; `OPEN` revokes earlier decisions."""

        APPROVE = "approve", "approved"
        REJECT = "reject", "rejected"
        OPEN = "open", "undecided again"

    access = Access(question_set="submission__version__question_set", readers=VIEWERS)

    submission = models.ForeignKey(Submission, on_delete=models.PROTECT, related_name="decisions")
    kind = models.CharField(max_length=10, choices=Kind.choices)
    category = models.CharField(
        max_length=40, blank=True, help_text="The panel's word for why it is rejected."
    )
    reason = models.TextField(blank=True, help_text="What the worker reads, if it is rejected.")
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="decisions"
    )

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(kind__in=["approve", "reject", "open"]),
                name="decision_kind_is_known",
            ),
            models.CheckConstraint(
                condition=~Q(kind="reject") | ~Q(reason=""),
                name="decision_against_a_worker_has_a_reason",
            ),
        ]
        indexes = [models.Index(fields=["submission", "-id"], name="decision_newest")]

    def __str__(self) -> str:
        return f"{self.kind} {self.submission}"
