"""URLs of sign-in, below the admin site; views of django-allauth keep the names it calls."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from allauth.account import views as account
from allauth.mfa.base import views as base
from allauth.mfa.recovery_codes import views as recovery_codes
from allauth.mfa.totp import views as totp
from django.contrib import admin
from django.http import HttpRequest, HttpResponseBase
from django.urls import path, reverse

from crowdgrade.sign_in import views
from crowdgrade.sign_in.second_factor import is_required

View = Callable[..., HttpResponseBase]


def build_page(view: View, title: str = "") -> Any:
    """Return a view of allauth behind the login, as a page of the site; 400 for an invalid form."""
    return admin.site.admin_view(build_entrance(view, title))


def build_entrance(view: View, title: str = "") -> Any:
    """Return a view of allauth without login, as a page of the site; 400 for an invalid form."""

    @functools.wraps(view)
    def view_with_status(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        response = view(request, *args, **kwargs)
        context = getattr(response, "context_data", None)
        if context is None:
            return response
        form = context.get("form")
        if request.method == "POST" and form is not None and form.errors:
            response.status_code = 400
        above = [("Your account", reverse("admin:account"))]
        if title:
            context.update(title=title, breadcrumbs=above, is_required=is_required(request.user))
        return response

    return admin.site.wrap_view(view_with_status)  # type: ignore[attr-defined]


CONFIRM, SECOND_FACTOR = "Confirm that it is you", "Second factor"

urlpatterns = [
    path("sign-in/", views.go_to_sign_in, name="account_login"),
    path("sign-in/again/", build_page(views.sign_in_again), name="sign-in-again"),
    path(
        "sign-in/confirm/",
        build_page(account.reauthenticate, CONFIRM),
        name="account_reauthenticate",
    ),
    path(
        "sign-in/code/", build_entrance(base.authenticate, SECOND_FACTOR), name="mfa_authenticate"
    ),
    path(
        "sign-in/confirm/code/",
        build_page(base.reauthenticate, CONFIRM),
        name="mfa_reauthenticate",
    ),
    path("openid/begin/", build_entrance(views.begin_openid), name="openid-begin"),
    path("openid/callback/", views.return_from_openid, name="openid-callback"),
    path("openid/unlink/", build_page(views.unlink), name="openid-unlink"),
    path("second-factor/", build_page(base.index, SECOND_FACTOR), name="mfa_index"),
    path(
        "second-factor/app/",
        build_page(totp.activate_totp, "Add a second factor"),
        name="mfa_activate_totp",
    ),
    path(
        "second-factor/app/remove/",
        build_page(totp.deactivate_totp, "Remove the second factor"),
        name="mfa_deactivate_totp",
    ),
    path(
        "second-factor/codes/",
        build_page(recovery_codes.view_recovery_codes, "Recovery codes"),
        name="mfa_view_recovery_codes",
    ),
    path(
        "second-factor/codes/new/",
        build_page(recovery_codes.generate_recovery_codes, "Make new recovery codes"),
        name="mfa_generate_recovery_codes",
    ),
    path(
        "second-factor/codes/download/",
        build_page(recovery_codes.download_recovery_codes),
        name="mfa_download_recovery_codes",
    ),
]
