"""Pages of prompts, and their form.

Form of a prompt: system text and question template. Pages of prompts: list, versions with a
preview, and forms for prompts and versions.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django import forms
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
from evaluation.models import Prompt as StoredPrompt
from evaluation.runs.flow.asking.plan import (
    CLOSED,
    PASSAGE,
    SYSTEM,
    TEMPLATES,
    Prompt,
    TemplateError,
)
from evaluation.runs.reports.lists import PromptFilter, annotate_version_counts
from evaluation.runs.steps.asking.model_askings import build_prompt_fields
from evaluation.runs.steps.asking.registration import (
    BUILT_IN,
    LONGEST_TEXT,
    build_built_in_prompt,
    build_named_prompt,
    create_prompt,
    edit_prompt,
)

STRATEGIES = {
    CLOSED: "Closed book: from memory",
    PASSAGE: "With the passage of the question",
}
WRONG = {
    "braces": "The braces do not match: write {{{{ for a brace itself.",
    "bare": "In {field} only the name may be between the braces.",
    "unknown": "There is no field {field}: the template may use {known}.",
    "of_passage": "{field} needs a passage: choose that above, or leave it out.",
    "missing": "The field {field} is missing; without it the model would not see it.",
}


class PromptForm(forms.Form):
    """Form of a prompt's text; with `named`, also of its name, for the first version."""

    name = forms.CharField(
        label="Name", max_length=200, help_text="For yourself, such as One short sentence."
    )
    strategy = forms.ChoiceField(label="How it is asked", choices=list(STRATEGIES.items()))
    system = forms.CharField(
        label="System text",
        required=False,
        strip=False,
        max_length=LONGEST_TEXT,
        help_text="The system message. Empty: none.",
        widget=forms.Textarea(attrs={"rows": 3}),
    )
    template = forms.CharField(
        label="Template",
        strip=False,
        max_length=LONGEST_TEXT,
        help_text="The message about each question. {question} and {choices} are filled in, also "
        "{category} and {language}; with a passage also {passage} and {title}.",
        widget=forms.Textarea(attrs={"rows": 7, "spellcheck": "false"}),
    )

    def __init__(self, *args: Any, named: bool = True, **kwargs: Any) -> None:
        start = {"strategy": CLOSED, "system": SYSTEM, "template": TEMPLATES[CLOSED]}
        kwargs["initial"] = {**start, **(kwargs.get("initial") or {})}
        super().__init__(*args, **kwargs)
        if not named:
            del self.fields["name"]

    def clean(self) -> dict[str, Any]:
        """Check that the template's placeholders can be filled in."""
        values: dict[str, Any] = super().clean() or {}
        # A browser sends line breaks of its own, and the hash of a prompt is of its characters.
        for name in ("system", "template"):
            if name in values:
                values[name] = values[name].replace("\r\n", "\n")
        if not self.errors:
            try:
                self.prompt()
            except TemplateError as error:
                sentence = WRONG[error.code].format(**error.values)
                self.add_error("template", ValidationError(sentence, error.code))
        return values

    def prompt(self) -> Prompt:
        """Return the prompt from the form. Raises TemplateError."""
        values = self.cleaned_data
        return Prompt(values["strategy"], values["template"], values["system"])


SETS_OFFERED = 50


def show_prompts(request: HttpRequest) -> HttpResponse:
    """List the user's prompts, newest first, and the built-in ones."""
    prompt_filter = PromptFilter(request.GET, select_visible(request, StoredPrompt.objects.all()))
    context = {
        "title": "Prompts",
        "subtitle": "The instruction to language models and the wording of their questions.",
        "breadcrumbs": _build_breadcrumbs()[:1],
        **prompt_filter.listing(request, add=annotate_version_counts),
        "built_in": [build_built_in_prompt(strategy) for strategy in BUILT_IN],
        "strategies": STRATEGIES,
    }
    return TemplateResponse(request, "admin/prompts/list.html", context)


def show_prompt(request: HttpRequest, prompt_id: UUID) -> HttpResponse:
    """Show a version of a prompt, by default the latest, with a filled-in example.

    The query parameter `set` names the question set whose first question is filled in.
    """
    stored_prompt = get_visible_or_404(request, StoredPrompt.objects.all(), prompt_id)
    versions = list(stored_prompt.versions.select_related("author").order_by("-number"))
    number = parse_number(request.GET, "version", 1, 10**6, blank=True)
    version = next(
        (prompt_version for prompt_version in versions if prompt_version.number == number), None
    )
    if number is not None and version is None:
        raise Http404("the prompt has no such version")
    version = version or versions[0]
    sets = list(select_visible(request, QuestionSet.objects.all()).order_by("-id")[:SETS_OFFERED])
    question = _find_first_question(sets, request.GET.get("set", ""))
    context = {
        "title": stored_prompt.name,
        "subtitle": f"Prompt, version {version.number}",
        "breadcrumbs": _build_breadcrumbs(),
        "prompt": stored_prompt,
        "version": version,
        "versions": versions,
        "strategy": STRATEGIES[version.strategy],
        "sets": sets,
        "question": question,
        "messages_shown": build_named_prompt(version).prompt.build_messages(
            build_prompt_fields(question)
        )
        if question
        else (),
    }
    return TemplateResponse(request, "admin/prompts/prompt.html", context)


def add_prompt(request: HttpRequest) -> HttpResponse:
    """Show the form of a new prompt; POST stores it."""
    owner = require_requester(request)
    form = PromptForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            made = create_prompt(owner, form.cleaned_data["name"], form.prompt())
        except IntegrityError:
            sentence = "You have a prompt of this name."
            form.add_error("name", ValidationError(sentence, "name_taken"))
        else:
            return redirect("admin:prompt", made.prompt.public_id)
    return _show_form(request, form, "New prompt", "Make the prompt")


def edit_prompt_page(request: HttpRequest, prompt_id: UUID) -> HttpResponse:
    """Show the form of a prompt's next version; POST stores it, and earlier versions stay."""
    changed = get_editable(request, StoredPrompt.objects.all(), prompt_id)
    latest = changed.latest()
    begin = {name: getattr(latest, name) for name in ("strategy", "system", "template")}
    form = PromptForm(request.POST or None, named=False, initial=begin)
    if request.method == "POST" and form.is_valid():
        made = edit_prompt(changed, get_user_id(request), form.prompt())
        if made.pk == latest.pk:
            messages.info(request, f"Nothing was changed: it stays at version {latest.number}.")
        else:
            messages.success(request, f"Version {made.number} is used for models from now on.")
        return redirect("admin:prompt", changed.public_id)
    return _show_form(
        request, form, f"New version of {changed.name}", "Keep as a new version", changed
    )


def _show_form(
    request: HttpRequest,
    form: PromptForm,
    title: str,
    button: str,
    prompt: StoredPrompt | None = None,
) -> HttpResponse:
    """Return the page with the form of a prompt."""
    context: dict[str, Any] = {
        "title": title,
        "breadcrumbs": _build_breadcrumbs(),
        "form": form,
        "button": button,
        "prompt": prompt,
    }
    return TemplateResponse(
        request, "admin/prompts/form.html", context, status=400 if form.errors else 200
    )


def _find_first_question(sets: list[QuestionSet], wanted: str) -> Question | None:
    """Return the first question of the set with the id `wanted`, else of the first set with one."""
    chosen = [
        question_set for question_set in sets if str(question_set.public_id) == wanted
    ] or sets
    for question_set in chosen:
        version = question_set.latest_version()
        question = version and version.questions.order_by("position", "pk").first()
        if question:
            return question
    return None


def _build_breadcrumbs() -> list[tuple[str, str]]:
    """Return the links to the lists of language models and of prompts."""
    return [
        ("Language models", reverse("admin:models")),
        ("Prompts", reverse("admin:prompts")),
    ]
