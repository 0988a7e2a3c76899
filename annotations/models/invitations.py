"""Invitations: what an account is given that nobody has signed in to yet waits for its yes.

A name may be mistyped, and the password of a new account is not yet its owner's alone. So a share,
a membership of a team and a part in the writing of problems are one thing while they are
`pending`: they give nothing, are shown to the invited person, and are accepted or declined there.
"""

from __future__ import annotations

from typing import Any, Self, TypeVar

from django.apps import apps
from django.contrib.auth.models import User
from django.db import models

from annotations.models.access import INVITING, Anybody
from annotations.models.base import Record, ScopedQuerySet

M = TypeVar("M", bound=models.Model, covariant=True)


def is_only_invited(person: User) -> bool:
    """Whether somebody is invited where others are added at once: who has never signed in."""
    return person.last_login is None


class InvitedQuerySet(ScopedQuerySet[M]):
    """Rows that give a user something, or wait for that user's yes."""

    def accepted(self) -> Self:
        """Return those that hold."""
        return self.filter(pending=False)

    def invitations(self, user: Anybody) -> Self:
        """Return those that wait for a user's yes, newest first."""
        mine = self.filter(user=user.pk, pending=True)
        return mine.select_related(*self.model.told_with).order_by("-pk")  # type: ignore[attr-defined]


class Invited(Record):
    """A row that gives its `user` something once it is not `pending`.

    `told_with` are the relations that its words to the invited person need.
    """

    told_with: tuple[str, ...] = ()

    objects = InvitedQuerySet.as_manager()  # type: ignore[misc]

    pending = models.BooleanField(default=False)

    class Meta:
        abstract = True

    @property
    def host(self) -> User:
        """Who invites."""
        raise NotImplementedError

    @property
    def asked_to(self) -> str:
        """What the invited person is asked to do, up to the name of what it is done with."""
        raise NotImplementedError

    @property
    def named(self) -> str:
        """The name of what they are invited to."""
        raise NotImplementedError

    def accept(self) -> bool:
        """Let it hold; False where it was taken back meanwhile."""
        self.pending = False
        return bool(type(self)._base_manager.filter(pk=self.pk).update(pending=False))


def invitations(user: Anybody) -> list[Any]:
    """Return the rows of every kind that wait for a user's yes, the newest first."""
    models_of = [apps.get_model("annotations", name) for name in INVITING]
    waiting = [
        model._default_manager.filter(user=user.pk, pending=True).order_by().values("pk")
        for model in models_of
    ]
    if not waiting[0].union(*waiting[1:]).exists():  # as for most people on most days
        return []
    found = [row for model in models_of for row in model._default_manager.invitations(user)]
    return sorted(found, key=lambda row: row.created_at, reverse=True)
