"""Creation, listing and use of invitation links."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Final

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet
from django.urls import Resolver404, resolve
from django.utils import timezone
from knox.crypto import hash_token

from annotations.models import QuestionSet, Share
from crowdgrade.models.invitation_links import VALID_FOR, InvitationLink

Role = InvitationLink.Role
REFUSALS: Final = {
    "used": "This link was used before.",
    "expired": "This link has expired.",
    "owner": "You own this question set.",
    "editor": "You edit this question set as a member of its team.",
    "requester": "Your account can make question sets already.",
}
"""Sentence by the code of an `InvitationError`."""


class InvitationError(ValueError):
    """Error: an invitation link cannot be used; `code` is a key of `REFUSALS`."""

    def __init__(self, code: str) -> None:
        super().__init__(REFUSALS[code])
        self.code = code


def create_invitation_link(
    maker_id: int,
    role: str,
    note: str = "",
    question_set: QuestionSet | None = None,
    email: str = "",
) -> tuple[InvitationLink, str]:
    """Create an invitation link; return it with its token, of which a hash is stored.

    `email` is the address to which the link will be sent, "" for none.
    """
    token = secrets.token_urlsafe(32)
    link = InvitationLink.objects.create(
        token_hash=hash_token(token),
        question_set=question_set,
        role=role,
        note=note,
        email=email,
        created_by_id=maker_id,
        expires_at=timezone.now() + VALID_FOR,
    )
    return link, token


def renew_invitation_link(link: InvitationLink) -> str:
    """Return a new token of an unused link; the old token becomes invalid.

    Raises `InvitationError` if the link was used meanwhile.
    """
    token = secrets.token_urlsafe(32)
    link.token_hash, link.expires_at = hash_token(token), timezone.now() + VALID_FOR
    unused = InvitationLink.objects.filter(pk=link.pk, used_at=None)
    if not unused.update(token_hash=link.token_hash, expires_at=link.expires_at):
        raise InvitationError("used")
    return token


def find_invitation_link(token: str) -> InvitationLink | None:
    """Return the invitation link of a token; None for an unknown token."""
    rows = InvitationLink.objects.select_related("question_set", "created_by")
    return rows.filter(token_hash=hash_token(token)).first()


def find_open_invitation(address: str) -> InvitationLink | None:
    """Return the open invitation link to which a URL path of this site leads; None for others."""
    try:
        match = resolve(address)
    except Resolver404:
        return None
    link = find_invitation_link(match.kwargs["token"]) if match.view_name == "admin:join" else None
    return link if link is not None and link.state == "open" else None


def select_invitation_links(question_set: QuestionSet | None) -> QuerySet[InvitationLink]:
    """Return a question set's invitation links, newest first; for None, those for requesters."""
    rows = InvitationLink.objects.filter(question_set=question_set)
    return rows.select_related("used_by").order_by("-pk")


@transaction.atomic
def use_invitation_link(link: InvitationLink, find_user: Callable[[], User]) -> User:
    """Give a user the link's role, mark the link as used, and return the account.

    `find_user` returns the account, which it may create. It is called if the link is open; an
    account that it created but that cannot use the link is rolled back. Raises `InvitationError`.
    """
    # The second of two requests with the same link waits here and then finds it used.
    locked = InvitationLink.objects.select_for_update().get(pk=link.pk)
    if locked.state != "open":
        raise InvitationError(locked.state)
    user = find_user()
    if link.question_set is None:
        _make_requester(user)
    else:
        _share_question_set(link.question_set, user, locked.role)
    locked.used_at, locked.used_by = timezone.now(), user
    locked.save(update_fields=["used_at", "used_by"])
    return user


def _make_requester(user: User) -> None:
    """Make a user a requester; raise `InvitationError` if the user is one already."""
    if user.is_staff:
        raise InvitationError("requester")
    user.is_staff = True
    user.save(update_fields=["is_staff"])


def _share_question_set(question_set: QuestionSet, user: User, role: str) -> None:
    """Share a set with a user; raise `InvitationError` if the user can edit it already."""
    if user.pk == question_set.owner_id:
        raise InvitationError("owner")
    if QuestionSet.objects.filter(pk=question_set.pk).editable_by(user).exists():
        raise InvitationError("editor")
    # Not pending: the person has opened the link and joined, which accepts the invitation.
    values = {"role": role, "pending": False}
    Share.objects.update_or_create(question_set=question_set, user=user, defaults=values)
