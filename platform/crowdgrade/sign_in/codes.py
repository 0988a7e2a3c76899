"""Forms that take a code of the authenticator app or a recovery code."""

from __future__ import annotations

from typing import Any

from allauth.core.internal.cryptokit import compare_user_code
from allauth.mfa.adapter import get_adapter
from allauth.mfa.base.forms import AuthenticateForm, BaseAuthenticateForm, ReauthenticateForm
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import (
    format_hotp_value,
    hotp_value,
    yield_hotp_counters_from_time,
)
from allauth.mfa.utils import decrypt
from django.db import transaction


class OneTimeCodeForm(BaseAuthenticateForm):
    """Form with a code of the authenticator app or a recovery code, each valid only once.

    allauth stores used codes of the app in the cache, which may lose them. Here the database stores
    the time step of the last used code; codes of it or of earlier steps are refused.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["code"]
        field.label, field.help_text = "Code", "6 digits of your app, or 8 of a recovery code."
        field.widget.attrs = {
            "autocomplete": "one-time-code",
            "inputmode": "numeric",
            "spellcheck": "false",
            "autofocus": True,
        }

    def clean_code(self) -> str:
        """Return the valid code; ValidationError for a wrong or used one."""
        code: str = super().clean_code()
        is_totp = self.authenticator.type == Authenticator.Type.TOTP
        if is_totp and not accept_code_once(self.authenticator, code):
            self._emit_authentication_failed(self.authenticator)
            raise get_adapter().validation_error("incorrect_code")
        return code


class SignInCodeForm(OneTimeCodeForm, AuthenticateForm):
    """Form with a code at sign-in, after the password or the OpenID provider."""


class ConfirmCodeForm(OneTimeCodeForm, ReauthenticateForm):
    """Form with a code of a signed-in user, before a change of the account."""


@transaction.atomic
def accept_code_once(authenticator: Authenticator, code: str) -> bool:
    """Store the time step of an app's valid code; return False if that or a later one was used."""
    row = Authenticator.objects.select_for_update().get(pk=authenticator.pk)
    secret = decrypt(row.data["secret"])
    steps = [
        step
        for step in yield_hotp_counters_from_time()
        if compare_user_code(actual=code, expected=format_hotp_value(hotp_value(secret, step)))
    ]
    if not steps or steps[-1] <= row.data.get("last_step", -1):
        return False
    row.data["last_step"] = steps[-1]
    row.save(update_fields=["data"])
    return True
