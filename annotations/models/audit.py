"""Audit log of important actions, such as archive, delete, undo, erase or sending to a panel.

Its entries outlive the objects that they describe.
"""

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotations.models.access import Access
from annotations.models.base import AppendOnly


class AuditEntry(AppendOnly):
    """Log entry of one important action; never changed and never deleted.

    `counts` has the numbers of dependent rows by name. `inputs` are the hashes of the inputs of its
    runs, by which files kept elsewhere can still be matched. Read by the former owner, by the user
    who acted, and by operators. `done_by` is None if a worker withdrew their own answers.
    """

    class Action(models.TextChoices):
        """Kind of action; a long action has one entry at its request and one at its end."""

        ARCHIVE = "archive", "archived"
        RESTORE = "restore", "restored"
        DELETE = "delete", "deletion asked for"
        DELETED = "deleted", "deleted"
        UNDO = "undo", "undoing asked for"
        UNDONE = "undone", "undone"
        ERASE = "erase", "erasure asked for"
        ERASED = "erased", "erased"
        ACCEPT = "accept", "people accepted at once"
        ACCEPT_OFF = "accept_off", "accepting at once taken back"
        GROUP_ASKED = "group_ask", "group asked for on a panel"
        GROUP_MADE = "group_made", "group made on a panel"
        GROUP_REFUSED = "group_no", "group refused by a panel"

    access = Access(owner="owner", people="done_by")

    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="audit_of_own"
    )
    done_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="audit_entries"
    )
    action = models.CharField(max_length=10, choices=Action.choices)
    kind = models.CharField(max_length=20, help_text="What it was, such as question_set or run.")
    object_id = models.UUIDField(help_text="The public id that it had.")
    name = models.CharField(max_length=300)
    counts = models.JSONField(default=dict, blank=True)
    inputs = models.JSONField(default=list, blank=True)
    reference = models.CharField(
        max_length=200, blank=True, help_text="Its name elsewhere, such as on a panel."
    )

    class Meta:
        verbose_name_plural = "audit entries"
        constraints = [
            models.CheckConstraint(
                condition=Q(
                    action__in=[
                        "archive", "restore", "delete", "deleted", "undo", "undone", "erase",
                        "erased", "accept", "accept_off", "group_ask", "group_made", "group_no",
                    ]
                ),
                name="audit_action_is_known",
            ),
        ]  # fmt: skip
        indexes = [models.Index(fields=["owner", "-id"], name="audit_newest")]

    def __str__(self) -> str:
        return f"{self.name}: {self.action}"
