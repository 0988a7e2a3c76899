"""Rules on who may sign in by the OpenID provider: by claims of the ID token, by invitations."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any, Final, cast

from allauth.socialaccount.models import SocialLogin
from allauth.socialaccount.providers.base.constants import AuthProcess
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.utils import timezone

from crowdgrade.invitation_links.links import (
    InvitationError,
    find_open_invitation,
    use_invitation_link,
)
from crowdgrade.models import InvitationLink
from crowdgrade.sign_in.options import OpenID

LONGEST_EMAIL: Final = 254
"""Characters of the database's column."""


def find_verified_email(claims: Mapping[str, Any], openid: OpenID) -> str:
    """Return the claims' e-mail address in lower case; "" unless the provider has verified it."""
    email = claims.get("email")
    if not isinstance(email, str) or email.count("@") != 1:
        return ""
    if len(email) > LONGEST_EMAIL or not email.isprintable():
        return ""
    verified = claims.get("email_verified")
    is_verified = verified is True or verified == "true" or openid.trusts_email
    return email.lower() if is_verified else ""


def find_refusal(sociallogin: SocialLogin, openid: OpenID) -> str:
    """Return the code of `refusals.REFUSALS` for a person who may not sign in; "" for others.

    An invitation admits the address to which it was mailed, and its link each person who opens it.
    An account is found by its linked identity, never by an e-mail address.
    """
    claims: Mapping[str, Any] = sociallogin.provider.claims
    email = find_verified_email(claims, openid)
    user = cast("User | None", sociallogin.user) if sociallogin.is_existing else None
    if user is not None and not user.is_active:
        return "inactive"
    if _is_invited(email, user) or find_open_invitation(sociallogin.state.get("next") or ""):
        return ""
    if openid.domains and not email:
        return "unverified"
    if openid.domains and email.partition("@")[2] not in openid.domains:
        return "domain"
    if openid.groups and openid.groups.isdisjoint(_read_group_claim(claims)):
        return "group"
    is_linked = user is not None or sociallogin.state.get("process") == AuthProcess.CONNECT
    return "" if is_linked or openid.domains or openid.groups else "unknown"


def use_invitations(user: User) -> None:
    """Use the open invitations to a new account's verified e-mail address: its roles and shares."""
    for link in _select_open_invitations(user.email) if user.email else ():
        # Used or expired meanwhile, or a second one of the same set: the account stays.
        with contextlib.suppress(InvitationError):
            use_invitation_link(link, lambda: user)


def _is_invited(email: str, user: User | None) -> bool:
    """Return whether an invitation was mailed to `email` that is open or was used by `user`."""
    if not email:
        return False
    used = InvitationLink.objects.filter(email__iexact=email, used_by=user)
    return _select_open_invitations(email).exists() or (user is not None and used.exists())


def _select_open_invitations(email: str) -> QuerySet[InvitationLink]:
    """Return the open invitations that were mailed to an address."""
    rows = InvitationLink.objects.filter(email__iexact=email, used_at=None)
    return rows.filter(expires_at__gt=timezone.now()).select_related("question_set")


def _read_group_claim(claims: Mapping[str, Any]) -> set[str]:
    """Return the names in the claim `groups`; an empty set without a valid one."""
    groups = claims.get("groups")
    names = groups if isinstance(groups, list) else []
    return {name for name in names if isinstance(name, str)}
