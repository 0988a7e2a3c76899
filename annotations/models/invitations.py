"""Base class of rows that give a user access, such as team memberships, once accepted.

A name may be mistyped, and a new account's password is known to more than its owner. Shares,
memberships and writing roles therefore begin as `pending`: they have no effect, are shown to the
invited user, and are accepted or declined there.
"""

from __future__ import annotations

from typing import Any, Self, TypeVar

from django.apps import apps
from django.contrib.auth.models import User
from django.db import models

from annotations.models.access import INVITATION_MODELS, AnyUser
from annotations.models.base import Record, ScopedQuerySet

M = TypeVar("M", bound=models.Model, covariant=True)


def has_never_signed_in(user: User) -> bool:
    """Return whether a user has never signed in, so that invitations need acceptance."""
    return user.last_login is None


class InvitedQuerySet(ScopedQuerySet[M]):
    """Queryset of rows that give a user access, some of which are pending invitations."""

    def filter_accepted(self) -> Self:
        """Return the rows that are in effect: all except pending invitations."""
        return self.filter(pending=False)

    def filter_invitations(self, user: AnyUser) -> Self:
        """Return the pending invitations of a user, the newest first."""
        pending = self.filter(user=user.pk, pending=True)
        return pending.select_related(*self.model.told_with).order_by("-pk")  # type: ignore[attr-defined]


class Invited(Record):
    """Base class of rows that give `user` access, without effect while they are `pending`.

    `told_with` names the relations to load for the text of the invitation.
    """

    told_with: tuple[str, ...] = ()

    objects = InvitedQuerySet.as_manager()  # type: ignore[misc]

    pending = models.BooleanField(default=False)

    class Meta:
        abstract = True

    @property
    def inviter(self) -> User:
        """User who sent the invitation."""
        raise NotImplementedError

    @property
    def request_phrase(self) -> str:
        """What the user is invited to do, such as "work in the team"; a name follows it."""
        raise NotImplementedError

    @property
    def subject_name(self) -> str:
        """Name of the question set or team to which the user is invited."""
        raise NotImplementedError

    def accept(self) -> bool:
        """Accept the invitation; return False if it was withdrawn meanwhile."""
        # An update and no `save`, which would insert again a row that was withdrawn meanwhile.
        self.pending = False
        return bool(type(self)._base_manager.filter(pk=self.pk).update(pending=False))


def list_invitations(user: AnyUser) -> list[Any]:
    """Return a user's pending invitations to sets, teams and writing, the newest first."""
    models_with_invitations = [apps.get_model("annotations", name) for name in INVITATION_MODELS]
    pending_keys = [
        model._default_manager.filter(user=user.pk, pending=True).order_by().values("pk")
        for model in models_with_invitations
    ]
    if not pending_keys[0].union(*pending_keys[1:]).exists():  # the usual case, in one query
        return []
    rows = [
        row
        for model in models_with_invitations
        for row in model._default_manager.filter_invitations(user)
    ]
    return sorted(rows, key=lambda row: row.created_at, reverse=True)
