"""Authentication of API requests by a token in the Authorization header."""

from __future__ import annotations

from django.contrib.auth.models import AbstractBaseUser
from drf_spectacular.authentication import SessionScheme
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import (
    BaseAuthentication,
    SessionAuthentication,
    get_authorization_header,
)
from rest_framework.exceptions import AuthenticationFailed, PermissionDenied
from rest_framework.request import Request

from crowdgrade.models import ApiToken
from crowdgrade.models.tokens import find_token

SCHEMES = (b"bearer", b"token")


class TokenAuthentication(BaseAuthentication):
    """Authentication by the header `Authorization: Bearer TOKEN` (or `Token TOKEN`).

    django-rest-knox creates and hashes the tokens. Its own authentication is not used: it accepts
    one scheme only, fails on bytes that are not UTF-8, and deletes expired tokens, which their
    owner should still see.
    """

    def authenticate(self, request: Request) -> tuple[AbstractBaseUser, ApiToken] | None:
        """Return (user, token); None without the header. Raise an error for an invalid token.

        The error is `AuthenticationFailed`.
        """
        words = get_authorization_header(request).split()
        if not words or words[0].lower() not in SCHEMES:
            return None
        if len(words) != 2 or not words[1].isascii():
            raise AuthenticationFailed("Write one token: Authorization: Bearer TOKEN.")
        token = find_token(words[1].decode("ascii"))
        if token is None:
            raise AuthenticationFailed("There is no such token; it may have been revoked.")
        if token.has_expired:
            raise AuthenticationFailed("The token has expired: make a new one.")
        if token.is_outdated:
            raise AuthenticationFailed(
                "The password of its user was changed since the token was made: make a new one."
            )
        if not token.user.is_active:
            raise AuthenticationFailed("The user of this token is not active any more.")
        token.record_use()
        return token.user, token

    def authenticate_header(self, request: Request) -> str:
        """Return the value of the header WWW-Authenticate in a 401 response."""
        return 'Bearer realm="crowdgrade"'


class SecondFactorSessionAuthentication(SessionAuthentication):
    """Authentication by the site's session; refused if a required second factor is missing."""

    def authenticate(self, request: Request) -> tuple[AbstractBaseUser, None] | None:
        """Return (user, None), or None without a session.

        Raises PermissionDenied if the session lacks a required second factor.
        """
        from crowdgrade.sign_in.second_factor import lacks_second_factor

        result: tuple[AbstractBaseUser, None] | None = super().authenticate(request)
        if result is not None and lacks_second_factor(request._request):
            raise PermissionDenied("This account needs a second factor: sign in on the site.")
        return result


class SecondFactorSessionScheme(SessionScheme):  # type: ignore[no-untyped-call]
    """OpenAPI security scheme of a session."""

    target_class = "crowdgrade.rest.authentication.SecondFactorSessionAuthentication"


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """OpenAPI security scheme for token authentication."""

    target_class = TokenAuthentication
    name = "token"

    def get_security_definition(self, auto_schema: object) -> dict[str, str]:
        """Return the OpenAPI definition of the security scheme."""
        return {
            "type": "http",
            "scheme": "bearer",
            "description": "A token made on the page API tokens of the site.",
        }
