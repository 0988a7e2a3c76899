"""A question set shown to somebody outside its team."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth.models import User
from django.db import models
from django.db.models import Q

from annotations.models.access import EXPERT, VIEWER, Access
from annotations.models.invitations import Invited, InvitedQuerySet
from annotations.models.question_sets import QuestionSet


class ShareQuerySet(InvitedQuerySet["Share"]):
    """Shares, and those of them that somebody asks for often."""

    def of_experts(self, question_set: QuestionSet) -> ShareQuerySet:
        """Return those by which somebody may judge answers of a set now, by user name."""
        experts = self.accepted().filter(role=Share.Role.EXPERT, user__is_active=True)
        return experts.filter(question_set=question_set).order_by("user__username")


class Share(Invited):
    """What one user may see of one set; the user needs to be active."""

    class Role(models.TextChoices):
        """An expert judges answers without knowing whose they are or what they were graded."""

        VIEWER = VIEWER, "viewer"
        EXPERT = EXPERT, "expert"

    access = Access(question_set="question_set", people="user", waiting="pending", managed=True)
    told_with = ("question_set__owner",)
    objects = ShareQuerySet.as_manager()  # type: ignore[misc]

    question_set = models.ForeignKey(
        QuestionSet, on_delete=models.CASCADE, related_name="shares", db_index=False
    )
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="shares"
    )
    role = models.CharField(max_length=6, choices=Role.choices)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["question_set", "user"], name="share_once"),
            models.CheckConstraint(
                condition=Q(role__in=["viewer", "expert"]), name="share_role_is_known"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.question_set} for {self.user}, {self.role}"

    @property
    def host(self) -> User:
        """The owner of the set."""
        return self.question_set.owner

    @property
    def asked_to(self) -> str:
        """What they may do."""
        expert = self.role == self.Role.EXPERT
        return f"{'judge answers blindly of' if expert else 'look at'} the question set"

    @property
    def named(self) -> str:
        """The name of the set."""
        return self.question_set.name
