"""Shares: access to a question set for users outside its team."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth.models import User
from django.db import models
from django.db.models import Q

from annotations.models.access import EXPERT, VIEWER, Access
from annotations.models.invitations import Invited, InvitedQuerySet
from annotations.models.question_sets import QuestionSet


class ShareQuerySet(InvitedQuerySet["Share"]):
    """Queryset of shares, with a filter for experts."""

    def filter_experts(self, question_set: QuestionSet) -> ShareQuerySet:
        """Return the shares of active users who may judge answers of a set, by user name."""
        experts = self.filter_accepted().filter(role=Share.Role.EXPERT, user__is_active=True)
        return experts.filter(question_set=question_set).order_by("user__username")


class Share(Invited):
    """Access of one active user to one question set, in a role."""

    class Role(models.TextChoices):
        """Role of the user; an expert judges answers without seeing their author or grade."""

        VIEWER = VIEWER, "viewer"
        EXPERT = EXPERT, "expert"

    access = Access(question_set="question_set", people="user", waiting="pending", managed=True)
    told_with = ("question_set__owner",)
    objects = ShareQuerySet.as_manager()  # type: ignore[misc]

    # An index below begins with this column, so it needs none of its own.
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
    def inviter(self) -> User:
        """User who invites: the owner of the question set."""
        return self.question_set.owner

    @property
    def request_phrase(self) -> str:
        """What the user is invited to do: look at the question set, or judge its answers."""
        expert = self.role == self.Role.EXPERT
        return f"{'judge answers blindly of' if expert else 'look at'} the question set"

    @property
    def subject_name(self) -> str:
        """Name of the question set."""
        return self.question_set.name
