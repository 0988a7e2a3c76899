"""A further wave of a question set, and sets that are linked as waves."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.utils.text import capfirst

from annotations.answering.waves import (
    Match,
    WaveError,
    asked_version,
    linkable,
    matched,
    next_name,
    refusal,
    unlink,
)
from annotations.models import QuestionSet
from annotations.web.pages import breadcrumbs
from annotations.web.scope import answered_set, editable
from evaluation import waves
from evaluation.models import LLMResponse

IDS_SHOWN = 12
"""Ids of questions that a page shows of each kind."""


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
            field = error.field if error.field in form.fields else None
            form.add_error(field, ValidationError(f"{capfirst(str(error))}.", error.code))
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


class LinkForm(forms.Form):
    """Which set is the wave before."""

    earlier: forms.ModelChoiceField[QuestionSet] = forms.ModelChoiceField(
        QuestionSet.objects.none(),
        to_field_name="public_id",
        label="The wave before",
        empty_label=None,
        error_messages={"invalid_choice": "Choose one of the sets."},
    )
    with_models = forms.BooleanField(
        required=False,
        label="Take the answers of language models along",
        help_text="Those to questions of the same text are copied and graded again, against the "
        "people of this set; no model is asked, and what is here already stays.",
    )

    def __init__(self, earlier: QuerySet[QuestionSet], *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field: Any = self.fields["earlier"]
        field.queryset = earlier


def link_wave(request: HttpRequest, set_id: UUID) -> HttpResponse:
    """Show how a set matches another one, link it as a later wave, copy replies, or unlink it."""
    answered_set(request, set_id)
    question_set = editable(request, QuestionSet.objects.all(), set_id)
    do = request.POST.get("do") if request.method == "POST" else None
    error = None
    try:
        if do == "unlink":
            seen = waves.wave_before(request, question_set)
            unlink(question_set)
            called = f"“{seen}”" if seen else "Another set"
            messages.success(request, f"{called} is not the wave before any more.")
            return redirect("admin:link-wave", set_id)
        if do == "replies":
            _say_copied(request, waves.bring_seen_replies(request, question_set))
            return redirect("admin:link-wave", set_id)
    except WaveError as refused:
        error = str(refused)
    others = linkable(request.user, question_set).filter(archived_at=None)
    form = LinkForm(others, request.POST if do in {"match", "link"} else None)
    chosen: QuestionSet | None = None
    if form.is_bound and form.is_valid():
        chosen = form.cleaned_data["earlier"]
        try:
            if do == "link":
                return _linked(request, question_set, form)
            if (refused_for := refusal(question_set, chosen)) is not None:
                raise refused_for
        except WaveError as refused:
            chosen = None
            # Somebody else may have linked it meanwhile; of a set that is linked no form is shown.
            question_set.refresh_from_db(fields=["earlier_wave"])
            if question_set.earlier_wave_id is None:
                said = f"{capfirst(str(refused))}."
                form.add_error("earlier", ValidationError(said, refused.code))
            else:
                error = str(refused)
    earlier = waves.wave_before(request, question_set)
    shown = chosen or earlier
    # Whoever may name a set as the wave before sees its answers, too.
    replies_of = chosen or waves.answers_of(request, earlier)
    context = {
        "title": "The wave before",
        "subtitle": question_set.name,
        "breadcrumbs": breadcrumbs(question_set),
        "notice": question_set.notice,
        "question_set": question_set,
        "is_linked": question_set.earlier_wave_id is not None,
        "earlier": earlier,
        "error": capfirst(error) if error else "",
        "form": form,
        "has_others": others.exists(),
        "chosen": chosen,
        "match": _shown(matched(question_set, shown)) if shown else None,
        "replies": waves.replies_to_bring(question_set, replies_of).told if replies_of else None,
    }
    wrong = bool(form.errors or error)
    return TemplateResponse(
        request, "evaluation/link_wave.html", context, status=400 if wrong else 200
    )


def _linked(request: HttpRequest, question_set: QuestionSet, form: LinkForm) -> HttpResponse:
    earlier = form.cleaned_data["earlier"]
    with_models = form.cleaned_data["with_models"]
    _, replies = waves.link(question_set, earlier, with_models=with_models)
    messages.success(
        request,
        f"This set is a later wave of “{earlier}” now. Once both are graded, “Compare with an "
        "earlier wave” under “More” of the results says what changed.",
    )
    if with_models:
        _say_copied(request, replies)
    return redirect("admin:link-wave", question_set.public_id)


def _say_copied(request: HttpRequest, replies: waves.Replies) -> None:
    if replies.n_replies:
        answers = "1 answer" if replies.n_replies == 1 else f"{replies.n_replies:,} answers"
        models = "1 model" if replies.n_models == 1 else f"{replies.n_models:,} models"
        said = f"{answers} of {models} came along. Grade this set to see how they stand."
        messages.success(request, said)
    else:
        messages.info(request, "No answer of a model was left to take along.")


def _shown(match: Match) -> dict[str, Any]:
    """Return what the page says of a match: how many, and the first ids of each kind."""
    told = [
        (
            "other_text",
            match.other_text,
            "with another text",
            "a comparison takes them for the same question",
        ),
        ("only_later", match.only_later, "only in this set", "left out of the comparison"),
        ("only_earlier", match.only_earlier, "only in the other set", "left out of the comparison"),
    ]
    return {
        "n_common": match.n_common,
        "n_same": len(match.same),
        "parts": [
            {"code": code, "n": len(ids), "what": what, "so": so, "ids": ids[:IDS_SHOWN]}
            for code, ids, what, so in told
            if ids
        ],
    }
