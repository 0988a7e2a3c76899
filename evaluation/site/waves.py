"""A further wave of a question set."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse

from annotations.answering.waves import WaveError, asked_version, next_name
from annotations.models import QuestionSet
from annotations.web.pages import breadcrumbs
from annotations.web.scope import answered_set, editable
from evaluation import waves
from evaluation.models import LLMResponse


class WaveForm(forms.Form):
    """Its name, and who is asked."""

    name = forms.CharField(max_length=200, label="Name of the new wave")
    people = forms.ChoiceField(
        choices=QuestionSet.WavePeople.choices,
        initial=QuestionSet.WavePeople.SAME,
        widget=forms.RadioSelect,
        label="Who is asked",
        help_text="It holds when the wave is published, and can be changed there.",
    )
    with_models = forms.BooleanField(
        required=False,
        label="Take the answers of language models along",
        help_text="They are graded again, against the people of the new wave. You can ask the "
        "models anew as well.",
    )


def new_wave(request: HttpRequest, set_id: UUID) -> HttpResponse:
    """Ask for a name and who takes part, and make the wave."""
    answered_set(request, set_id)
    question_set = editable(request, QuestionSet.objects.all(), set_id)
    version = asked_version(question_set)
    has_models = LLMResponse.objects.filter(question__version=version).exists()
    form = WaveForm(request.POST or None, initial={"name": next_name(question_set)})
    if not has_models:
        del form.fields["with_models"]
    if request.method == "POST" and form.is_valid():
        values: dict[str, Any] = {"with_models": False} | form.cleaned_data
        try:
            made = waves.start(question_set, **values)
        except WaveError as error:
            said = str(error)
            field = error.field if error.field in form.fields else None
            form.add_error(field, f"{said[:1].upper()}{said[1:]}.")
        else:
            messages.success(
                request,
                "The new wave is here. Look at its questions, then publish it: nobody is asked "
                "before.",
            )
            return redirect("admin:question-set", made.question_set.public_id)
    context = {
        "title": "Ask again: a new wave",
        "subtitle": question_set.name,
        "breadcrumbs": breadcrumbs(question_set),
        "notice": question_set.notice,
        "question_set": question_set,
        "n_questions": version.questions.count() if version else 0,
        "form": form,
    }
    return TemplateResponse(
        request, "evaluation/new_wave.html", context, status=400 if form.errors else 200
    )
