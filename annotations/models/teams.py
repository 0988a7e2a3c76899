"""Models of teams of requesters and of their members."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth.models import User
from django.db import models, transaction
from django.db.models import Q

from annotations.models.access import Access
from annotations.models.base import Record
from annotations.models.invitations import Invited


class Team(Record):
    """Group of requesters who see and edit the question sets shared with the team.

    The owner belongs to it without a membership. A member who is not a requester sees nothing
    through the team.
    """

    access = Access(owner="owner", people="memberships__user", waiting="memberships__pending")

    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="teams_made"
    )
    name = models.CharField(max_length=200)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["owner", "name"],
                name="team_name_once_per_owner",
                violation_error_message="You have a team of this name.",
            ),
            models.CheckConstraint(condition=~Q(name=""), name="team_has_a_name"),
        ]

    def __str__(self) -> str:
        return self.name


class Membership(Invited):
    """Membership of a user in a team, pending until an invited user accepts."""

    access = Access(
        owner="team__owner",
        people="team__memberships__user",
        waiting="team__memberships__pending",
    )
    told_with = ("team__owner",)

    # An index below begins with this column, so it needs none of its own.
    team = models.ForeignKey(
        Team, on_delete=models.CASCADE, related_name="memberships", db_index=False
    )
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships"
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["team", "user"], name="membership_once"),
        ]

    def __str__(self) -> str:
        return f"{self.user} in {self.team}"

    @property
    def inviter(self) -> User:
        """User who invites: the owner of the team."""
        return self.team.owner

    @property
    def request_phrase(self) -> str:
        """What the user is invited to do; the name of the team follows in the text."""
        return "work in the team"

    @property
    def subject_name(self) -> str:
        """Name of the team."""
        return self.team.name

    @transaction.atomic
    def remove_member(self) -> int:
        """Remove the member and the member's question sets from the team; return the set count.

        A former member cannot look into the team, so their sets are not left to it.
        """
        # Together with the membership, in one transaction: the team never keeps only one of them.
        n_removed = self.team.question_sets.filter(owner=self.user_id).update(team=None)
        self.delete()
        return n_removed
