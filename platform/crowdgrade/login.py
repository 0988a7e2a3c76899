"""Form for signing in to the site."""

from __future__ import annotations

from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.models import User
from django.urls import Resolver404, resolve

from annotations.models import may_enter
from crowdgrade.invitation_links.links import find_link


class LoginForm(AuthenticationForm):
    """Sign-in form for requesters, operators, and accounts with a share or an invitation link."""

    def confirm_login_allowed(self, user: User) -> None:
        """Refuse other accounts with the message of a wrong password, to disclose nothing."""
        super().confirm_login_allowed(user)
        if not may_enter(user) and not self._leads_to_open_invitation():
            raise self.get_invalid_login_error()

    def _leads_to_open_invitation(self) -> bool:
        """Return whether the page after signing in is an open invitation link."""
        address = self.request.POST.get("next", "") if self.request else ""
        try:
            match = resolve(address)
        except Resolver404:
            return False
        link = find_link(match.kwargs["token"]) if match.view_name == "admin:join" else None
        return link is not None and link.state == "open"
