"""Who asks: a token in the Authorization header."""

from __future__ import annotations

from django.contrib.auth.models import AbstractBaseUser
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from crowdgrade.models import ApiToken
from crowdgrade.models.tokens import token_given

SCHEMES = (b"bearer", b"token")


class TokenAuthentication(BaseAuthentication):
    """`Authorization: Bearer TOKEN`, or Token in place of Bearer.

    Tokens are made and hashed by django-rest-knox. The header is read here: its own reader takes
    one scheme only, fails on bytes that are no UTF-8, and deletes tokens that expired, which their
    owner should rather see.
    """

    def authenticate(self, request: Request) -> tuple[AbstractBaseUser, ApiToken] | None:
        """Return user and token; None where the header says nothing for us."""
        words = get_authorization_header(request).split()
        if not words or words[0].lower() not in SCHEMES:
            return None
        if len(words) != 2 or not words[1].isascii():
            raise AuthenticationFailed("Write one token: Authorization: Bearer TOKEN.")
        token = token_given(words[1].decode("ascii"))
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
        token.note_use()
        return token.user, token

    def authenticate_header(self, request: Request) -> str:
        """Return what a 401 asks for."""
        return 'Bearer realm="crowdgrade"'


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """How the schema describes it."""

    target_class = TokenAuthentication
    name = "token"

    def get_security_definition(self, auto_schema: object) -> dict[str, str]:
        """Return the scheme."""
        return {
            "type": "http",
            "scheme": "bearer",
            "description": "A token made on the page API tokens of the site.",
        }
