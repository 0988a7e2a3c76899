"""Page of the user's own account: preferences, sign-in, and links to password and tokens."""

from __future__ import annotations

from django import forms
from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse

from annotations.web.scope import get_user_id
from crowdgrade.models import Preferences, has_single_keys
from crowdgrade.sign_in.second_factor import has_second_factor
from crowdgrade.sign_in.views import find_openid_link


class PreferencesForm(forms.Form):
    """Form with the preferences of the user's account."""

    single_keys = forms.BooleanField(
        label="Single keys press buttons",
        required=False,
        help_text="Where you decide, judge or label, a letter or digit by itself chooses. Turn it "
        "off if you speak to your computer, or press keys without meaning to. Everything can be "
        "done without.",
    )


def edit_preferences(request: HttpRequest) -> HttpResponse:
    """Show the user's preferences; POST saves them."""
    if request.method == "POST":
        form = PreferencesForm(request.POST)
        if form.is_valid():
            Preferences.objects.update_or_create(
                user_id=get_user_id(request), defaults=form.cleaned_data
            )
            messages.success(request, "Saved.")
            return redirect("admin:account")
    else:
        form = PreferencesForm(initial={"single_keys": has_single_keys(request.user)})
    context = {
        "title": "Your account",
        "subtitle": request.user.get_username(),
        "form": form,
        "has_second_factor": has_second_factor(request.user),
        "openid": settings.OPENID,
        "link": find_openid_link(get_user_id(request)),
    }
    return TemplateResponse(request, "admin/account.html", context)
