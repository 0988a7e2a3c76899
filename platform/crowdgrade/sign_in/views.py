"""Pages of sign-in: to the OpenID provider and back, links of an account, sign in again."""

from __future__ import annotations

from typing import Any

from allauth.account.internal.flows.reauthentication import raise_if_reauthentication_required
from allauth.socialaccount.adapter import get_adapter
from allauth.socialaccount.internal.flows.connect import disconnect, validate_disconnect
from allauth.socialaccount.models import SocialAccount
from allauth.socialaccount.providers.base.constants import AuthProcess
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from django.conf import settings
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST
from requests import RequestException

from annotations.web.scope import get_user_id
from crowdgrade.sign_in.refusals import find_refusal_code, refuse_sign_in


def redirect_to_sign_in(request: HttpRequest) -> HttpResponse:
    """Redirect to the sign-in page, for the URL name that django-allauth uses."""
    return redirect("admin:login")


@never_cache
@require_POST
def start_openid_sign_in(request: HttpRequest) -> HttpResponseBase:
    """Show the page that sends the browser to the OpenID provider at once.

    A browser would not follow a redirect, because the site's Content-Security-Policy allows forms
    to lead to the site only. The field `process` is `connect` to link the signed-in account.
    """
    if settings.OPENID is None:
        raise Http404
    process = request.POST.get("process", AuthProcess.LOGIN)
    if process not in (AuthProcess.LOGIN, AuthProcess.CONNECT):
        raise Http404
    if process == AuthProcess.CONNECT and not request.user.is_authenticated:
        return redirect("admin:login")
    provider = get_adapter().get_provider(request, "openid_connect")
    try:
        response = provider.redirect_from_request(request)
    except (OAuth2Error, RequestException) as error:
        return refuse_sign_in(request, find_refusal_code(None, error))
    if "Location" not in response.headers:  # the page of an error
        return response
    context = {"title": f"Going to {settings.OPENID.name}", "address": response.headers["Location"]}
    return TemplateResponse(request, "admin/sign_in/going.html", context)


@never_cache
def return_from_openid(request: HttpRequest) -> HttpResponseBase:
    """Sign in the person identified by the OpenID provider, or show the reason for a refusal."""
    if settings.OPENID is None:
        raise Http404
    from crowdgrade.sign_in.openid import OpenIDAdapter, OpenIDCallbackView

    adapter = OpenIDAdapter(request, settings.OPENID.issuer)
    view: Any = OpenIDCallbackView.adapter_view(adapter)  # type: ignore[no-untyped-call]  # allauth
    try:
        response: HttpResponseBase = view(request)
    except (OAuth2Error, RequestException) as error:  # of the provider's description
        return refuse_sign_in(request, find_refusal_code(None, error))
    return response


@require_POST
def remove_openid_link(request: HttpRequest) -> HttpResponse:
    """Remove the account's link with the OpenID provider, unless it is the only way to sign in."""
    rows = SocialAccount.objects.filter(user=get_user_id(request), provider=_get_issuer())
    linked = get_object_or_404(rows)
    raise_if_reauthentication_required(request, app="allauth.socialaccount")
    try:
        validate_disconnect(request, linked)
    except ValidationError:
        text = "Set a password first: without one, this link is your only way to sign in."
        messages.error(request, text, "no_password")
    else:
        disconnect(request, linked)
    return redirect("admin:account")


@never_cache
def ask_to_sign_in_again(request: HttpRequest) -> HttpResponse:
    """Ask a user who has no password to sign in at the OpenID provider again."""
    context: dict[str, Any] = {
        "title": "Sign in again",
        "openid": settings.OPENID,
        "next": request.GET.get("next", ""),
    }
    return TemplateResponse(request, "admin/sign_in/again.html", context)


def find_openid_link(user_id: int) -> SocialAccount | None:
    """Return an account's link with the OpenID provider; None without a link or a provider."""
    if settings.OPENID is None:
        return None
    return SocialAccount.objects.filter(user=user_id, provider=settings.OPENID.issuer).first()


def _get_issuer() -> str:
    """Return the issuer of the OpenID provider; Http404 without one."""
    if settings.OPENID is None:
        raise Http404
    return str(settings.OPENID.issuer)
