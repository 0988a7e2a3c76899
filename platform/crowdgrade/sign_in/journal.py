"""Entries of the audit log about sign-ins, links to the OpenID provider and second factors."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Final

from allauth.account.internal.flows.login import get_authentication_records
from allauth.mfa import signals as mfa_signals
from allauth.mfa.models import Authenticator
from allauth.socialaccount import signals as social_signals
from django.contrib.auth.models import User
from django.contrib.auth.signals import user_logged_in, user_login_failed
from django.http import HttpRequest
from django.utils import timezone

from annotations.models import SignInEvent
from crowdgrade.sign_in.second_factor import end_sessions

MOST_FAILURES: Final = 100
"""Stored failures of one address in `PERIOD`; django-axes counts all of them."""
PERIOD: Final = timedelta(minutes=15)
METHODS: Final = {"password": "password", "socialaccount": "openid"}
"""Detail of a sign-in by the method that django-allauth records first."""
Event = SignInEvent.Event


def log_sign_in_event(event: str, user: Any, detail: str, request: HttpRequest | None) -> None:
    """Store an entry of the sign-in log, unless an address has too many failures.

    At most `MOST_FAILURES` failures of one address are stored in `PERIOD`.
    """
    address = request.META.get("REMOTE_ADDR") or None if request is not None else None
    if event in (Event.FAILED, Event.REFUSED, Event.CODE_FAILED):
        recent = SignInEvent.objects.filter(
            address=address, created_at__gt=timezone.now() - PERIOD, event=event
        )
        if recent.count() >= MOST_FAILURES:
            return
    SignInEvent.objects.create(
        event=event,
        user=user,
        name=user.get_username() if user else "",
        detail=detail,
        address=address,
    )


def log_sign_in(request: HttpRequest, user: User, **sent: Any) -> None:
    """Log that a user is signed in (signal receiver)."""
    records = get_authentication_records(request, user)
    method = METHODS.get(records[0]["method"], "") if records else "new account"
    log_sign_in_event(Event.SIGNED_IN, user, method, request)


def log_failed_sign_in(
    credentials: dict[str, Any], request: HttpRequest | None = None, **_: Any
) -> None:
    """Log a wrong password, with the name of an existing account only (signal receiver)."""
    # A name without an account may be a password that was typed into the wrong field.
    user = User.objects.filter(username=credentials.get("username", "")).first()
    log_sign_in_event(Event.FAILED, user, "password", request)


def log_factor_added(
    request: HttpRequest, user: User, authenticator: Authenticator, **_: Any
) -> None:
    """Log a new second factor, and end its user's other sessions (signal receiver)."""
    from allauth.account.internal.flows.login import record_authentication

    from crowdgrade.sign_in.codes import accept_code_once

    log_sign_in_event(Event.FACTOR_ADDED, user, authenticator.type, request)
    if authenticator.type == Authenticator.Type.TOTP:
        # The code that added the app is used: it must not sign in as well.
        accept_code_once(authenticator, request.POST.get("code", ""))
        record_authentication(request, user, "mfa", id=authenticator.pk, type=authenticator.type)
        end_sessions(user, request.session.session_key)


def connect_receivers() -> None:
    """Connect the receivers of this module to the signals of Django and django-allauth."""
    user_logged_in.connect(log_sign_in, dispatch_uid="crowdgrade.sign_in")
    user_login_failed.connect(log_failed_sign_in, dispatch_uid="crowdgrade.sign_in")
    mfa_signals.authenticator_added.connect(log_factor_added, dispatch_uid="crowdgrade.sign_in")
    for signal, event in (
        (mfa_signals.authenticator_removed, Event.FACTOR_REMOVED),
        (mfa_signals.authenticator_reset, Event.CODES_MADE),
        (mfa_signals.authenticator_used, Event.FACTOR_USED),
        (mfa_signals.authentication_failed, Event.CODE_FAILED),
    ):
        signal.connect(
            _build_factor_receiver(event), weak=False, dispatch_uid=f"crowdgrade.{event}"
        )
    social_signals.social_account_added.connect(
        log_account_linked, dispatch_uid="crowdgrade.sign_in"
    )
    social_signals.social_account_removed.connect(
        log_account_unlinked, dispatch_uid="crowdgrade.sign_in"
    )


def log_account_linked(request: HttpRequest, sociallogin: Any, **_: Any) -> None:
    """Log that an account was linked with an identity of the provider (signal receiver)."""
    log_sign_in_event(Event.LINKED, sociallogin.user, "openid", request)


def log_account_unlinked(request: HttpRequest, socialaccount: Any, **_: Any) -> None:
    """Log that the link of an account was removed (signal receiver)."""
    log_sign_in_event(Event.UNLINKED, socialaccount.user, "openid", request)


def _build_factor_receiver(event: str) -> Any:
    """Return a receiver that logs an event of a second factor."""

    def log_factor(request: HttpRequest, user: User, authenticator: Any, **_: Any) -> None:
        """Log the event, with the type of the second factor (signal receiver)."""
        log_sign_in_event(event, user, authenticator.type, request)

    return log_factor
