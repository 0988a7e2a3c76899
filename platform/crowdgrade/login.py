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
from crowdgrade.invitation_links.links import find_invited_link


class LoginForm(AuthenticationForm):
    """Sign-in form for requesters, operators, and accounts with a share or an invitation link."""

    def clean(self) -> dict[str, Any]:
        """Return the values of a right password; ValidationError where none opens the site."""
        if not settings.PASSWORD_SIGN_IN:
            raise ValidationError("Passwords do not open this site.", "no_passwords")
        return super().clean()

    def confirm_login_allowed(self, user: User) -> None:
        """Raise the error of a wrong password for accounts that may not sign in."""
        super().confirm_login_allowed(user)
        address = self.request.POST.get("next", "") if self.request else ""
        if not may_enter(user) and find_invited_link(address) is None:
            raise self.get_invalid_login_error()


class PasswordLoginView(LoginView):
    """Sign-in page; after the password comes the second factor of an account that has one."""

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        """Return the next step: the page of the code, or the page to go on to."""
        user = form.get_user()
        names = {"username": user.get_username()}
        login = Login(user=user, redirect_url=self.get_success_url())
        return perform_password_login(self.request, names, login)
