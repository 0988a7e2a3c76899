"""Pages of the user's own API tokens: list, create, revoke."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from crowdgrade.models.tokens import MAX_DAYS, create_token, select_tokens

MAX_TOKENS_SHOWN = 100


class TokenForm(forms.Form):
    """Form with the name and validity of a new API token."""

    name = forms.CharField(
        label="Name", max_length=100, help_text="What it is for, such as: lab notebook."
    )
    days = forms.IntegerField(
        label="Days",
        min_value=1,
        max_value=MAX_DAYS,
        initial=90,
        help_text=f"After so many days it is refused; at most {MAX_DAYS}.",
    )


# No cache may keep a page that shows a token.
@never_cache
def manage_tokens(request: HttpRequest) -> HttpResponse:
    """List the user's API tokens; POST creates one and shows it, this once."""
    user: Any = request.user
    form = TokenForm(request.POST or None)
    token = None
    if request.method == "POST" and form.is_valid():
        try:
            with transaction.atomic():
                _, token = create_token(user, form.cleaned_data["name"], form.cleaned_data["days"])
            form = TokenForm()
        except IntegrityError:
            text = "You have a token of this name."
            form.add_error("name", ValidationError(text, "name_taken"))
    context = {
        "title": "API tokens",
        "subtitle": "With a token another program asks in your name, and sees what you see. "
        "A new password ends them all.",
        "form": form,
        "token": token,
        "tokens": select_tokens(user)[:MAX_TOKENS_SHOWN],
    }
    return TemplateResponse(
        request, "admin/tokens.html", context, status=400 if form.errors else 200
    )


@require_POST
def revoke_token(request: HttpRequest, token_id: UUID) -> HttpResponse:
    """Delete an API token of the user; programs that use it are refused from now on."""
    user: Any = request.user
    token = get_object_or_404(select_tokens(user), public_id=token_id)
    token.delete()
    messages.success(request, f"The token “{token.name}” is revoked.")
    return redirect("admin:tokens")
