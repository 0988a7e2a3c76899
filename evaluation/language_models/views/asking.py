"""Page to ask models: choose them, preview requests and maximum cost, start."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import groupby
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse

from annotations.models import QuestionSet, QuestionSetVersion
from annotations.web.pages import build_breadcrumbs
from annotations.web.scope import get_editable, get_user_id
from annotations.web.texts import mark_code
from evaluation.core.options import OptionError
from evaluation.language_models.views.ask_form import AskForm
from evaluation.language_models.views.models import offers_packaged
from evaluation.runs.background import runs as lifecycle
from evaluation.runs.background.liveness import HOW_TO_START, is_any_running
from evaluation.runs.flow.asking.options import AskOptions
from evaluation.runs.forms.earlier_settings import like_of
from evaluation.runs.forms.options import hash_options
from evaluation.runs.forms.run_label import RunLabelForm
from evaluation.runs.run_types import get_kind
from evaluation.runs.steps.asking.preview import (
    Estimate,
    Preview,
    estimate_askings,
    preview_askings,
)

ASK = "ask"


@dataclass(frozen=True)
class SharedPreview:
    """Preview shared by several models: the prompt, the conversations, and the models' names."""

    prompt: str
    conversations: tuple[Any, ...]
    models: tuple[str, ...]


@dataclass(frozen=True)
class Takes:
    """Total cost, time and requests of asking all models; None if unknown."""

    to_ask: int
    stored: int
    prompt_tokens: int
    completion_tokens: int
    cost: float | None
    duration: timedelta | None

    @classmethod
    def of(cls, estimates: Sequence[Estimate]) -> Takes:
        """Add up the models' estimates.

        The time is that of the slowest, since they run in parallel.
        """
        asked = [one for one in estimates if not one.reason and one.to_ask]
        costs, durations = [one.cost for one in asked], [one.duration for one in asked]
        return cls(
            to_ask=sum(one.to_ask for one in asked),
            stored=sum(one.stored for one in estimates),
            prompt_tokens=sum(one.prompt_tokens for one in asked),
            completion_tokens=sum(one.completion_tokens for one in asked),
            cost=None if None in costs else sum(one for one in costs if one is not None),
            duration=None
            if None in durations
            else max((one for one in durations if one is not None), default=timedelta()),
        )


def ask_models(request: HttpRequest, set_id: UUID) -> HttpResponse:
    """Show the form and a preview of the requests; start only what was previewed."""
    question_set = get_editable(request, QuestionSet.objects.all(), set_id)
    version = lifecycle.find_version(question_set, request.GET.get("version"), answered=False)
    like = like_of(request, question_set, get_kind(ASK))
    form = AskForm(
        request.user,
        request.POST or None,
        like=like.parameters,
        preset={} if request.POST else request.GET.dict(),
    )
    label = RunLabelForm(request.POST or None)
    options, shown = _options(form), {}
    if options is not None and version is not None and not label.errors:
        try:
            has_seen = request.POST.get("seen") == hash_options(options)
            if request.POST.get("do") == "ask" and has_seen:
                run = lifecycle.queue_run(
                    version, get_user_id(request), options, ASK, **label.said()
                )
                return redirect("admin:run", run.public_id)
            shown = _preview(request, version, options)
        except OptionError as error:
            if form.is_bound:
                form.refuse(error)
            else:
                shown = {"why_not": form.sentences(error)}
    context = {
        "title": "Ask models",
        "subtitle": f"{question_set.name}, version {version.number}" if version else "",
        "breadcrumbs": build_breadcrumbs(question_set),
        "question_set": question_set,
        "version": version,
        "has_questions": version is not None and version.questions.exists(),
        "form": form,
        "label": label,
        "like": like,
        "offers_packaged": offers_packaged(request),
        "asked_unseen": request.POST.get("do") == "ask" and bool(shown),
        "waiting": "" if is_any_running() else mark_code(HOW_TO_START),
        **shown,
    }
    wrong = form.errors or label.errors
    return TemplateResponse(request, "admin/asking/ask.html", context, status=400 if wrong else 200)


def _options(form: AskForm) -> AskOptions | None:
    """Return the posted or the initial options; None if invalid."""
    if not form.is_bound:
        begun = form.begun_options()
        return begun if begun.models and not begun.problems() else None
    found: AskOptions | None = form.parameters() if form.is_valid() else None
    return found


def _preview(
    request: HttpRequest, version: QuestionSetVersion, options: AskOptions
) -> dict[str, Any]:
    check = get_kind(ASK).check
    problems = check(version, request.user, options) if check else ()
    if problems:
        raise OptionError(problems)
    estimates = estimate_askings(version, request.user, options)
    previews = preview_askings(version, request.user, options)
    return {
        "seen": hash_options(options),
        "estimates": estimates,
        "takes": Takes.of(estimates),
        "previews": list(_shared(previews)),
        "parameters": [(one.model, one.parameters) for one in previews],
        "samples": options.samples,
        "budget": options.budget,
        "nobody": all(one.reason for one in estimates),
    }


def _shared(previews: Sequence[Preview]) -> list[SharedPreview]:
    """Return each distinct preview once, in the order of the models."""

    def of_prompt(one: Preview) -> str:
        return one.prompt

    found = []
    for prompt, alike in groupby(sorted(previews, key=of_prompt), of_prompt):
        same = list(alike)
        names = tuple(one.model for one in same)
        found.append(SharedPreview(prompt, same[0].conversations, names))
    return found
