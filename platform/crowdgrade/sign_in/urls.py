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
from crowdgrade.sign_in.second_factor import requires_second_factor

View = Callable[..., HttpResponseBase]


def wrap_private_view(view: View, title: str = "") -> Any:
    """Return a view of allauth as a page of the site that needs a sign-in.

    Its status is 400 for an invalid form.
    """
    return admin.site.admin_view(wrap_public_view(view, title))


def wrap_public_view(view: View, title: str = "") -> Any:
    """Return a view of allauth as a page of the site that needs no sign-in.

    Its status is 400 for an invalid form.
    """

    @functools.wraps(view)
    def view_with_status(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Return the response of the view, with status 400 if its form is invalid."""
        response = view(request, *args, **kwargs)
        context = getattr(response, "context_data", None)
        if context is None:
            return response
        form = context.get("form")
        if request.method == "POST" and form is not None and form.errors:
            response.status_code = 400
        above = [("Your account", reverse("admin:account"))]
        if title:
            context.update(
                title=title, breadcrumbs=above, is_required=requires_second_factor(request.user)
            )
        return response

    return admin.site.wrap_view(view_with_status)  # type: ignore[attr-defined]


CONFIRM, SECOND_FACTOR = "Confirm that it is you", "Second factor"

urlpatterns = [
    path("sign-in/", views.redirect_to_sign_in, name="account_login"),
    path("sign-in/again/", wrap_private_view(views.ask_to_sign_in_again), name="sign-in-again"),
    path(
        "sign-in/confirm/",
        wrap_private_view(account.reauthenticate, CONFIRM),
        name="account_reauthenticate",
    ),
    path(
        "sign-in/code/", wrap_public_view(base.authenticate, SECOND_FACTOR), name="mfa_authenticate"
    ),
    path(
        "sign-in/confirm/code/",
        wrap_private_view(base.reauthenticate, CONFIRM),
        name="mfa_reauthenticate",
    ),
    path("openid/begin/", wrap_public_view(views.start_openid_sign_in), name="openid-begin"),
    path("openid/callback/", views.return_from_openid, name="openid-callback"),
    path("openid/unlink/", wrap_private_view(views.remove_openid_link), name="openid-unlink"),
    path("second-factor/", wrap_private_view(base.index, SECOND_FACTOR), name="mfa_index"),
    path(
        "second-factor/app/",
        wrap_private_view(totp.activate_totp, "Add a second factor"),
        name="mfa_activate_totp",
    ),
    path(
        "second-factor/app/remove/",
        wrap_private_view(totp.deactivate_totp, "Remove the second factor"),
        name="mfa_deactivate_totp",
    ),
    path(
        "second-factor/codes/",
        wrap_private_view(recovery_codes.view_recovery_codes, "Recovery codes"),
        name="mfa_view_recovery_codes",
    ),
    path(
        "second-factor/codes/new/",
        wrap_private_view(recovery_codes.generate_recovery_codes, "Make new recovery codes"),
        name="mfa_generate_recovery_codes",
    ),
    path(
        "second-factor/codes/download/",
        wrap_private_view(recovery_codes.download_recovery_codes),
        name="mfa_download_recovery_codes",
    ),
]
