"""Page that creates the first account of a new site, protected by a code.

`manage.py up` prints the code if no account exists. The code is in a file of the site's folder that
only its owner can read; creating the account deletes it.
"""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import ClassVar

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.forms import UserCreationForm
from django.contrib.auth.models import User
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters

from crowdgrade.home import create_private_folder

CODE_FILE = "first_account_code"
BACKEND = "django.contrib.auth.backends.ModelBackend"


def has_no_account() -> bool:
    """Return whether the site has no account yet."""
    return not User.objects.exists()


def ensure_account_code(home: Path) -> str:
    """Return the code for creating the first account, which a file in `home` stores.

    An existing code stays valid, so that a link printed earlier still works.
    """
    path = create_private_folder(home) / CODE_FILE
    try:
        # O_EXCL: of two processes one creates the file, the other reads it.
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return path.read_text(encoding="ascii").strip()
    code = secrets.token_urlsafe(18)
    with os.fdopen(handle, "w", encoding="ascii") as file:
        file.write(f"{code}\n")
    return code


def build_first_account_link(site: str, code: str) -> str:
    """Return the URL of the first-account page with the code; `site` is the site's base URL."""
    return f"{site}{reverse('admin:first-account')}?code={code}"


class NewAccountForm(UserCreationForm):  # type: ignore[type-arg]
    """Form with the name and password of a new account."""

    class Meta(UserCreationForm.Meta):
        """Field labels, the same as on the sign-in page."""

        labels: ClassVar = {"username": "User name"}


class FirstAccountForm(NewAccountForm):
    """Form with name and password of the first account, and the code from the terminal."""

    code = forms.CharField(
        label="Code",
        max_length=100,
        strip=True,
        help_text="The command “manage.py up” prints it in the terminal, as a part of the link.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "autocapitalize": "none"}),
    )
    field_order = ("code", "username", "password1", "password2")

    def clean_code(self) -> str:
        """Return the code; raise ValidationError if it is not the site's."""
        code: str = self.cleaned_data["code"]
        # Constant time: the duration must not reveal how much of a guess is right.
        if not secrets.compare_digest(code.encode(), _read_account_code(settings.HOME).encode()):
            raise forms.ValidationError(
                "This is not the code of this site. Start “manage.py up” again and take the code "
                "from the link that it prints.",
                "wrong_code",
            )
        return code


@never_cache
@sensitive_post_parameters()
def create_first_account(request: HttpRequest) -> HttpResponse:
    """Show the form of the first account; POST creates it, as an operator's.

    Raises `Http404` if the site has an account.
    """
    if not has_no_account():
        raise Http404
    form = FirstAccountForm(request.POST or None, initial={"code": request.GET.get("code", "")})
    if request.method != "POST" or not form.is_valid():
        context = {"title": "The first account", "form": form}
        status = 400 if request.method == "POST" else 200
        return TemplateResponse(request, "admin/first_account.html", context, status=status)
    try:
        with transaction.atomic():
            user = form.save(commit=False)
            user.is_staff = user.is_superuser = True
            user.save()
            # Last: an earlier failure keeps the code, and of two requests one finds no file.
            (settings.HOME / CODE_FILE).unlink()
    except FileNotFoundError:
        raise Http404 from None
    login(request, user, BACKEND)
    messages.success(request, "Your account is made, and you are signed in.")
    return redirect("admin:index")


def _read_account_code(home: Path) -> str:
    """Return the stored code; without a file a random one, which no input can match."""
    try:
        return (home / CODE_FILE).read_text(encoding="ascii").strip()
    except FileNotFoundError:
        return secrets.token_urlsafe(18)
