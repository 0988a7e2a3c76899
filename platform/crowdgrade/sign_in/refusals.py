"""Reasons for refusing a sign-in by the OpenID provider, and the page that shows them."""

from __future__ import annotations

import logging
from typing import Any, Final

from allauth.socialaccount.providers.base.constants import AuthError
from django.conf import settings
from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from requests import RequestException

from crowdgrade.sign_in.journal import log_sign_in_event

logger = logging.getLogger(__name__)

_OPERATOR: Final = " Ask an operator of this site."
REFUSALS: Final = {
    "cancelled": "You cancelled the sign-in.",
    "state": "This sign-in was started in another browser, or more than ten minutes ago. "
    "Start again.",
    "down": "The provider does not answer. Try again later." + _OPERATOR,
    "provider": "The provider refuses the sign-in." + _OPERATOR,
    "issuer": "The provider names another issuer than OPENID_ISSUER." + _OPERATOR,
    "incomplete": "The provider's description lacks an address." + _OPERATOR,
    "no_token": "The provider sent no ID token." + _OPERATOR,
    "signature": "The ID token is not signed by the provider." + _OPERATOR,
    "audience": "The ID token is for another site." + _OPERATOR,
    "expired": "The ID token has expired. Start again; if it happens again, the clocks of provider "
    "and site differ.",
    "nonce": "The ID token belongs to another sign-in. Start again.",
    "userinfo": "The provider's data are about another person." + _OPERATOR,
    "subject": "The provider's identifier of you is too long for this site." + _OPERATOR,
    "inactive": "Your account is switched off." + _OPERATOR,
    "unverified": "The provider has not verified your e-mail address, which decides who may enter."
    + _OPERATOR,
    "domain": "E-mail addresses of your domain may not enter." + _OPERATOR,
    "group": "You are in no group that may enter." + _OPERATOR,
    "unknown": "No account is linked with this identity, and it has no invitation. If you have an "
    "account, sign in by password and link it on the page “Your account”.",
}
"""Sentence by the code of a refusal."""


def find_refusal_code(error: Any, exception: Exception | None) -> str:
    """Return the key of `REFUSALS` for an error or exception that django-allauth reports."""
    from crowdgrade.sign_in.openid import TokenError

    if error == AuthError.CANCELLED:
        return "cancelled"
    if isinstance(exception, TokenError):
        return exception.code
    if isinstance(exception, RequestException):
        logger.warning("the OpenID provider cannot be asked: %s", exception)
        return "down"
    return "provider" if exception is not None else "state"


def refuse_sign_in(request: HttpRequest, code: str, user: Any = None) -> HttpResponse:
    """Log a refused sign-in and return its page: 403, or 502 if the provider is the cause."""
    if code != "cancelled":
        log_sign_in_event("refused", user, code, request)
    context = {
        **admin.site.each_context(request),
        "title": "You are not signed in",
        "code": code,
        "reason": REFUSALS[code],
        "openid": settings.OPENID,
    }
    status = 502 if code in ("down", "provider", "incomplete") else 403
    return TemplateResponse(request, "admin/sign_in/refused.html", context, status=status).render()
