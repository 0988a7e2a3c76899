"""Starting a judge: the form of its options, with the requester's models to choose from."""

from __future__ import annotations

from uuid import UUID

from django import forms
from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from annotations.web.scope import user_id
from evaluation.kinds import kind_named
from evaluation.models import LanguageModel
from evaluation.site.option_form import OptionForm
from evaluation.site.starting import start_page


def start_judge(request: HttpRequest, set_id: UUID) -> HttpResponse:
    """Ask which model judges, how often, and for how much, then start the run."""
    rows = LanguageModel.objects.filter(owner=user_id(request)).exclude(spec="").order_by("name")
    models = [(str(model.public_id), str(model)) for model in rows]

    def shape(form: OptionForm) -> None:
        told = "Of the models that you registered with an address."
        form.fields["judge"] = forms.ChoiceField(label="Judge", choices=models, help_text=told)

    missing = None
    if not models:
        missing = {
            "words": "A judge is a registered language model, and you have none with an address.",
            "link": reverse("admin:models"),
            "label": "Register one first.",
        }
    return start_page(request, set_id, kind_named("judge"), shape, missing=missing)
