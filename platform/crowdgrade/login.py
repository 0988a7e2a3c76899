"""Form for signing in to the site."""

from __future__ import annotations

from typing import Any

from allauth.account.internal.flows.login import perform_password_login
from allauth.account.models import Login
from django.conf import settings
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.models import User
from django.contrib.auth.views import LoginView
from django.core.exceptions import ValidationError
from django.http import HttpResponse

from annotations.models import may_enter
from crowdgrade.invitation_links.links import find_open_invitation


class LoginForm(AuthenticationForm):
    """Sign-in form for requesters, operators, and accounts with a share or an invitation link."""

    def clean(self) -> dict[str, Any]:
        """Return the form's values; ValidationError for a wrong password or if none are allowed."""
        if not settings.PASSWORD_SIGN_IN:
            raise ValidationError("Passwords do not open this site.", "no_passwords")
        return super().clean()

    def confirm_login_allowed(self, user: User) -> None:
        """Raise the same error as for a wrong password if the account may not sign in."""
        super().confirm_login_allowed(user)
        address = self.request.POST.get("next", "") if self.request else ""
        if not may_enter(user) and find_open_invitation(address) is None:
            raise self.get_invalid_login_error()


class PasswordLoginView(LoginView):
    """Sign-in page; after the password comes the second factor of an account that has one."""

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        """Return the redirect to the form of the second factor, or else to the requested page."""
        user = form.get_user()
        names = {"username": user.get_username()}
        login = Login(user=user, redirect_url=self.get_success_url())
        return perform_password_login(self.request, names, login)
