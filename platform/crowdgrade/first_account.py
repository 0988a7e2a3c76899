"""The first account of a new site, made on a page that asks for a code.

`manage.py up` prints the code where no account exists. It lies in a file of the site's folder,
which its owner alone may read, and is removed with the first account.
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

from crowdgrade.home import private_folder

CODE_FILE = "first_account_code"
BACKEND = "django.contrib.auth.backends.ModelBackend"


def is_needed() -> bool:
    """Return whether the site has no account yet."""
    return not User.objects.exists()


def ensure_code(home: Path) -> str:
    """Return the code of the first account, made and stored in `home` (mode 600) where it is not.

    A code that a process left there stays valid, so that a link printed before still works.
    """
    path = private_folder(home) / CODE_FILE
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return path.read_text(encoding="ascii").strip()
    code = secrets.token_urlsafe(18)
    with os.fdopen(handle, "w", encoding="ascii") as file:
        file.write(f"{code}\n")
    return code


def link(site: str, code: str) -> str:
    """Return the address of the page with the code in it; `site` ends without a slash."""
    return f"{site}{reverse('admin:first-account')}?code={code}"


class FirstAccountForm(UserCreationForm):  # type: ignore[type-arg]
    """Name and password of the first account, and the code of the terminal."""

    code = forms.CharField(
        label="Code",
        max_length=100,
        strip=True,
        help_text="The command “manage.py up” prints it in the terminal, as a part of the link.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "autocapitalize": "none"}),
    )
    field_order = ("code", "username", "password1", "password2")

    class Meta(UserCreationForm.Meta):
        """Names the model; the labels are those of the sign-in page."""

        labels: ClassVar = {"username": "User name"}

    def clean_code(self) -> str:
        """Refuse a code that is not the site's."""
        code: str = self.cleaned_data["code"]
        if not secrets.compare_digest(code.encode(), _stored_code(settings.HOME).encode()):
            raise forms.ValidationError(
                "This is not the code of this site. Start “manage.py up” again and take the code "
                "from the link that it prints.",
                "wrong_code",
            )
        return code


@never_cache
@sensitive_post_parameters()
def first_account(request: HttpRequest) -> HttpResponse:
    """Make the operator's account of a site that has none; 404 where there is an account."""
    if not is_needed():
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
            # Last: what fails before leaves the code, and of two requests one finds no file.
            (settings.HOME / CODE_FILE).unlink()
    except FileNotFoundError:
        raise Http404 from None
    login(request, user, BACKEND)
    messages.success(request, "Your account is made, and you are signed in.")
    return redirect("admin:index")


def _stored_code(home: Path) -> str:
    """Return the code in the folder; a random one where there is none."""
    try:
        return (home / CODE_FILE).read_text(encoding="ascii").strip()
    except FileNotFoundError:
        return secrets.token_urlsafe(18)
