"""Rules of the second factor: which users need one, and the sessions that it ends."""

from __future__ import annotations

from allauth.account.internal.flows.login import get_authentication_records
from allauth.mfa.models import Authenticator
from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.http import HttpRequest
from django.utils import timezone

from annotations.models import is_operator, is_requester
from annotations.models.access import AnyUser


def requires_second_factor(user: AnyUser) -> bool:
    """Return whether REQUIRE_SECOND_FACTOR demands a second factor of the user."""
    demanded = settings.REQUIRE_SECOND_FACTOR
    if not user.is_authenticated or demanded == "none":
        return False
    if demanded == "operators":
        return is_operator(user)
    return demanded == "everyone" or is_requester(user)


def has_second_factor(user: AnyUser) -> bool:
    """Return whether the user has set up an authenticator app."""
    return Authenticator.objects.filter(user_id=user.pk, type=Authenticator.Type.TOTP).exists()


def lacks_second_factor(request: HttpRequest) -> bool:
    """Return whether the session lacks a second factor that the user needs; runs no query."""
    user = request.user
    if not user.is_authenticated or not requires_second_factor(user):
        return False
    records = get_authentication_records(request, user)
    return not any(record.get("method") == "mfa" for record in records)


def end_sessions(user: User, except_key: str | None = None) -> int:
    """Delete the user's sessions but the one named by `except_key`; return their number.

    All sessions are read, because their user is only in their signed data.
    """
    ended = [
        session.session_key
        for session in Session.objects.filter(expire_date__gt=timezone.now()).iterator()
        if session.get_decoded().get(SESSION_KEY) == str(user.pk)
        and session.session_key != except_key
    ]
    Session.objects.filter(session_key__in=ended).delete()
    return len(ended)


def remove_second_factor(user: User) -> bool:
    """Delete the user's second factors and end their sessions; return whether there was one."""
    n_deleted, _ = Authenticator.objects.filter(user=user).delete()
    if n_deleted:
        end_sessions(user)
    return bool(n_deleted)
