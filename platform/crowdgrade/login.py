"""Signing in to the site."""

from __future__ import annotations

from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.models import User

from annotations.models import may_enter


class LoginForm(AuthenticationForm):
    """Lets in requesters, operators, and everybody to whom a question set is shown."""

    def confirm_login_allowed(self, user: User) -> None:
        """Refuse others in the words of a wrong password, which say nothing about the account."""
        super().confirm_login_allowed(user)
        if not may_enter(user):
            raise self.get_invalid_login_error()
