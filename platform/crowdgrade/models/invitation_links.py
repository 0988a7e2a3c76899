"""Model of invitation links, each for one person with an existing or a new account."""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from annotations.models import QuestionSet, Share, new_public_id

VALID_FOR = timedelta(days=14)


class InvitationLink(models.Model):
    """Link that one person may use once, stored as the SHA-512 of its token.

    `note` reminds its maker of the recipient. A link of a question set gives a share with `role`. A
    link without a question set makes a requester; only operators make such links. A withdrawn link
    is deleted.
    """

    class Role(models.TextChoices):
        """What the person may do after joining, such as being a requester."""

        VIEWER = Share.Role.VIEWER.value, "viewer"
        EXPERT = Share.Role.EXPERT.value, "expert"
        REQUESTER = "requester", "requester"

    public_id = models.UUIDField(unique=True, default=new_public_id, editable=False)
    token_hash = models.CharField(max_length=128, unique=True)
    question_set = models.ForeignKey(
        QuestionSet, on_delete=models.CASCADE, null=True, related_name="invitation_links"
    )
    role = models.CharField(max_length=9, choices=Role.choices)
    note = models.CharField(max_length=120, blank=True)
    email = models.EmailField(blank=True, help_text="Where it was sent; empty for one to copy.")
    mailed_at = models.DateTimeField(null=True, help_text="When a mail was last tried.")
    mail_error = models.CharField(max_length=20, blank=True)
    n_mails = models.PositiveIntegerField(default=0, help_text="How often a mail was tried.")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="invitation_links"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)
    used_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(question_set=None, role="requester")
                | Q(question_set__isnull=False, role__in=["viewer", "expert"]),
                name="invitation_link_role_fits",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.role}, {self.note or 'no note'}"

    @property
    def state(self) -> str:
        """State of the link: `used`, `expired` or `open`."""
        if self.used_at is not None:
            return "used"
        return "expired" if self.expires_at <= timezone.now() else "open"
