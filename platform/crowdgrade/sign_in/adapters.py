"""Adapters of django-allauth: sign-in, second factors and the OpenID provider of this site."""

from __future__ import annotations

import base64
import hashlib
import logging
import time
from collections.abc import Mapping
from typing import Any, ClassVar, NoReturn

from allauth.account import app_settings
from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.internal.flows.login import get_authentication_records
from allauth.core import context
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import generate_totp_secret
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialApp, SocialLogin
from cryptography.fernet import Fernet, InvalidToken
from django.conf import settings
from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser, User
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from crowdgrade.first_account import BACKEND
from crowdgrade.sign_in import admission
from crowdgrade.sign_in.options import get_openid
from crowdgrade.sign_in.second_factor import requires_second_factor

logger = logging.getLogger(__name__)


class AccountAdapter(DefaultAccountAdapter):
    """Adapter of accounts: sign-in, and confirmation of the identity before a change."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """Return False: accounts are made by invitations, operators and the OpenID provider."""
        return False

    def get_client_ip(self, request: HttpRequest) -> str:
        """Return the client's IP address, which `crowdgrade.proxy_headers` sets in the request."""
        return str(request.META.get("REMOTE_ADDR", ""))

    def login(self, request: HttpRequest, user: AbstractBaseUser) -> None:
        """Sign in a user who passed all steps."""
        user.backend = BACKEND
        super().login(request, user)

    def add_message(
        self, request: HttpRequest, level: int, message_template: str | None = None, *args: Any,
        **kwargs: Any,
    ) -> None:  # fmt: skip
        """Show a message of allauth, except that the user has signed in."""
        if message_template != "account/messages/logged_in.txt":
            super().add_message(request, level, message_template, *args, **kwargs)

    def respond_user_inactive(self, request: HttpRequest, user: AbstractBaseUser) -> HttpResponse:
        """Redirect an inactive account to the sign-in page, which reveals nothing about it."""
        return redirect("admin:login")

    def is_reauthentication_required(self, *, app: str, **kwargs: Any) -> bool:
        """Return whether the user must confirm who they are before a change of the account.

        A sign-in in the last minutes suffices. An account without a password and without a second
        factor can only sign in again.
        """
        records = get_authentication_records(context.request, context.request.user)
        return not any(
            time.time() - record["at"] < app_settings.REAUTHENTICATION_TIMEOUT for record in records
        )

    def get_reauthentication_methods(
        self, user: AbstractBaseUser | AnonymousUser
    ) -> list[dict[str, Any]]:
        """Return the user's methods to confirm the identity; if there is none, to sign in again."""
        methods: list[dict[str, Any]] = super().get_reauthentication_methods(user)
        again = {"id": "again", "description": "Sign in again", "url": reverse("sign-in-again")}
        return methods or ([again] if user.is_authenticated else [])


class SecondFactorAdapter(DefaultMFAAdapter):
    """Adapter of second factors: encrypted secrets, and the right to remove a factor."""

    error_messages: ClassVar = {  # type: ignore[misc]  # allauth declares no ClassVar
        **DefaultMFAAdapter.error_messages,
        "incorrect_code": "This code is wrong, or it was used before. Wait for the next one.",
        "cannot_delete_authenticator": "This site requires a second factor of your account.",
    }

    def get_totp_label(self, user: AbstractBaseUser) -> str:
        """Return the user name, by which the app lists the account."""
        return user.get_username()

    def encrypt(self, text: str) -> str:
        """Return a secret as it is stored, encrypted by a key that SECRET_KEY gives."""
        return _build_cipher().encrypt(text.encode()).decode()

    def decrypt(self, encrypted_text: str) -> str:
        """Return a decrypted secret; a random one, which fits no code, if SECRET_KEY changed."""
        try:
            return _build_cipher().decrypt(encrypted_text).decode()
        except InvalidToken:
            logger.error(
                "A second factor cannot be read, because SECRET_KEY has changed. Remove it by "
                "manage.py remove_second_factor NAME"
            )
            return generate_totp_secret()

    def can_delete_authenticator(self, authenticator: Authenticator) -> bool:
        """Return whether the user may remove a second factor: not if the site requires one."""
        return not requires_second_factor(authenticator.user)


class OpenIDAccountAdapter(DefaultSocialAccountAdapter):
    """Adapter of the OpenID provider: its settings, refusals, and the new account of a person."""

    def list_apps(
        self, request: HttpRequest, provider: str | None = None, client_id: str | None = None
    ) -> list[SocialApp]:
        """Return the OpenID provider of the settings as allauth's app; [] without one."""
        openid = settings.OPENID
        if openid is None:
            return []
        # The issuer is the name of the provider: a subject is unique for its issuer only.
        names = {"provider": "openid_connect", "provider_id": openid.issuer, "name": openid.name}
        description = f"{openid.issuer.rstrip('/')}/.well-known/openid-configuration"
        return [
            SocialApp(
                **names,
                client_id=openid.client_id,
                secret=openid.secret,
                settings={"server_url": description},
            )
        ]

    def get_provider(
        self, request: HttpRequest, provider: str, client_id: str | None = None
    ) -> Any:
        """Return the OpenID provider; SocialApp.DoesNotExist without one."""
        from crowdgrade.sign_in.openid import OpenIDProvider

        return OpenIDProvider(request, app=self.get_app(request, provider))

    def get_requests_session(self) -> Any:
        """Return the HTTP session for requests to the provider, which checks all addresses."""
        from crowdgrade.sign_in.provider_session import ProviderSession

        return ProviderSession(get_openid())

    def on_authentication_error(
        self, request: HttpRequest, provider: Any, error: Any = None,
        exception: Exception | None = None, extra_context: Any = None,
    ) -> NoReturn:  # fmt: skip
        """Raise ImmediateHttpResponse with the page on why the provider's response is refused."""
        from crowdgrade.sign_in.refusals import find_refusal_code, refuse_sign_in

        raise ImmediateHttpResponse(refuse_sign_in(request, find_refusal_code(error, exception)))

    def pre_social_login(self, request: HttpRequest, sociallogin: SocialLogin) -> None:
        """Raise ImmediateHttpResponse with the page on a refusal if the person may not sign in."""
        from crowdgrade.sign_in.refusals import refuse_sign_in

        code = admission.find_refusal(sociallogin, get_openid())
        if code:
            user = sociallogin.user if sociallogin.is_existing else None
            raise ImmediateHttpResponse(refuse_sign_in(request, code, user))

    def is_open_for_signup(self, request: HttpRequest, sociallogin: SocialLogin) -> bool:
        """Return True: `pre_social_login` has refused all others."""
        return True

    def populate_user(self, request: HttpRequest, sociallogin: SocialLogin, data: Any) -> Any:
        """Return the new account with its name and its verified e-mail address; without a role."""
        user: Any = sociallogin.user
        claims = sociallogin.provider.claims
        verified = admission.find_verified_email(claims, get_openid())
        wanted = str(claims.get("preferred_username") or claims.get("email") or "")
        names = [wanted.partition("@")[0], str(claims.get("given_name") or ""), "user"]
        user.username = self._find_free_name(names)
        user.first_name = _read_text_claim(claims, "given_name")
        user.last_name = _read_text_claim(claims, "family_name")
        user.email = verified
        return user

    @transaction.atomic
    def save_user(self, request: HttpRequest, sociallogin: SocialLogin, form: Any = None) -> User:
        """Store a new account with the role of OPENID_ROLE, and use its open invitations."""
        user: Any = sociallogin.user
        user.set_unusable_password()
        user.is_staff = get_openid().makes_requesters
        user.save()
        sociallogin.account.user = user
        sociallogin.account.save()
        admission.use_invitations(user)
        return user

    def get_connect_redirect_url(self, request: HttpRequest, socialaccount: Any) -> str:
        """Return the URL of the account's page, which shows its linked identities."""
        return reverse("admin:account")

    def _find_free_name(self, wanted: list[str]) -> str:
        """Return a user name that no account has, derived from the first usable one of `wanted`."""
        name: str = AccountAdapter().generate_unique_username([*wanted])
        return name


def _read_text_claim(claims: Mapping[str, Any], claim: str) -> str:
    """Return a claim as text to store: without NUL, and cut to 150 characters."""
    return str(claims.get(claim) or "").replace("\0", "")[:150]


def _build_cipher() -> Fernet:
    """Return the cipher of stored secrets, whose key SECRET_KEY gives."""
    key = hashlib.sha256(b"crowdgrade second factor:" + str(settings.SECRET_KEY).encode()).digest()
    return Fernet(base64.urlsafe_b64encode(key))
