"""Pages of prompts: list, versions with a preview, and forms for prompts and versions."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.db import IntegrityError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse

from annotations.models import Question, QuestionSet
from annotations.web.query import parse_number
from annotations.web.scope import (
    get_editable,
    get_user_id,
    get_visible_or_404,
    require_requester,
    select_visible,
)
from evaluation.language_models.views.prompt_form import STRATEGIES, PromptForm
from evaluation.models import Prompt
from evaluation.runs.reports.list_filters import PromptFilter, annotate_versions
from evaluation.runs.steps.asking.items import build_fields
from evaluation.runs.steps.asking.prompts import (
    BUILT_IN,
    build_built_in_prompt,
    create_prompt,
    edit_prompt,
    name_prompt,
)

SETS_OFFERED = 50


def prompts(request: HttpRequest) -> HttpResponse:
    """List the user's prompts, newest first, and the built-in ones."""
    asked = PromptFilter(request.GET, select_visible(request, Prompt.objects.all()))
    context = {
        "title": "Prompts",
        "subtitle": "The instruction to language models and the wording of their questions.",
        "breadcrumbs": _way_here()[:1],
        **asked.listing(request, add=annotate_versions),
        "built_in": [build_built_in_prompt(strategy) for strategy in BUILT_IN],
        "strategies": STRATEGIES,
    }
    return TemplateResponse(request, "admin/prompts/list.html", context)


def prompt(request: HttpRequest, prompt_id: UUID) -> HttpResponse:
    """Show a version of a prompt (`version`, else the latest) with a filled-in example.

    `set` in the address names the question set whose first question is put into it.
    """
    shown = get_visible_or_404(request, Prompt.objects.all(), prompt_id)
    versions = list(shown.versions.select_related("author").order_by("-number"))
    asked = parse_number(request.GET, "version", 1, 10**6, blank=True)
    version = next((one for one in versions if one.number == asked), None)
    if asked is not None and version is None:
        raise Http404("the prompt has no such version")
    version = version or versions[0]
    sets = list(select_visible(request, QuestionSet.objects.all()).order_by("-id")[:SETS_OFFERED])
    question = _first_question(sets, request.GET.get("set", ""))
    context = {
        "title": shown.name,
        "subtitle": f"Prompt, version {version.number}",
        "breadcrumbs": _way_here(),
        "prompt": shown,
        "version": version,
        "versions": versions,
        "strategy": STRATEGIES[version.strategy],
        "sets": sets,
        "question": question,
        "messages_shown": name_prompt(version).prompt.messages(build_fields(question))
        if question
        else (),
    }
    return TemplateResponse(request, "admin/prompts/prompt.html", context)


def new_prompt(request: HttpRequest) -> HttpResponse:
    """Create a prompt."""
    owner = require_requester(request)
    form = PromptForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            made = create_prompt(owner, form.cleaned_data["name"], form.prompt())
        except IntegrityError:
            said = "You have a prompt of this name."
            form.add_error("name", ValidationError(said, "name_taken"))
        else:
            return redirect("admin:prompt", made.prompt.public_id)
    return _form(request, form, "New prompt", "Make the prompt")


def edit_prompt_page(request: HttpRequest, prompt_id: UUID) -> HttpResponse:
    """Create another version of a prompt; earlier versions stay unchanged."""
    changed = get_editable(request, Prompt.objects.all(), prompt_id)
    latest = changed.latest()
    begin = {name: getattr(latest, name) for name in ("strategy", "system", "template")}
    form = PromptForm(request.POST or None, named=False, initial=begin)
    if request.method == "POST" and form.is_valid():
        made = edit_prompt(changed, get_user_id(request), form.prompt())
        if made.pk == latest.pk:
            messages.info(request, f"Nothing was changed: it stays at version {latest.number}.")
        else:
            messages.success(request, f"Version {made.number} is what models are told from now on.")
        return redirect("admin:prompt", changed.public_id)
    return _form(request, form, f"New version of {changed.name}", "Keep as a new version", changed)


def _form(
    request: HttpRequest, form: PromptForm, title: str, button: str, prompt: Prompt | None = None
) -> HttpResponse:
    context: dict[str, Any] = {
        "title": title,
        "breadcrumbs": _way_here(),
        "form": form,
        "button": button,
        "prompt": prompt,
    }
    return TemplateResponse(
        request, "admin/prompts/form.html", context, status=400 if form.errors else 200
    )


def _first_question(sets: list[QuestionSet], wanted: str) -> Question | None:
    """Return the first question of the wanted set, else of the first set that has one."""
    chosen = [one for one in sets if str(one.public_id) == wanted] or sets
    for question_set in chosen:
        version = question_set.latest_version()
        question = version and version.questions.order_by("position", "pk").first()
        if question:
            return question
    return None


def _way_here() -> list[tuple[str, str]]:
    return [
        ("Language models", reverse("admin:models")),
        ("Prompts", reverse("admin:prompts")),
    ]
