"""Page to ask models: form, preview, start; progress and results of such a run.

Form to ask models: checkboxes of models, a list of prompts, and the options. Page parts of a run
that asks models: progress, results and errors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import groupby
from typing import Any
from uuid import UUID

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse

from annotations.models import QuestionSet, QuestionSetVersion
from annotations.models.access import AnyUser
from annotations.web.pages import build_breadcrumbs
from annotations.web.scope import get_editable, get_user_id
from annotations.web.texts import mark_code
from evaluation.core.messages.reasons import FaultWords, get_fault_words
from evaluation.core.options import OptionError
from evaluation.language_models.views.models import Place, get_place, offers_packaged
from evaluation.models import LanguageModel, Run
from evaluation.runs.background import runs as lifecycle
from evaluation.runs.background.progress import HOW_TO_START, is_any_process_running
from evaluation.runs.flow.asking.options import AskOptions
from evaluation.runs.flow.asking.summary import (
    BUDGET,
    DONE,
    ENDS,
    FAILED,
    GIVEN_UP,
    AskSummary,
    ModelOutcome,
)
from evaluation.runs.forms import RunLabelForm, get_initial_settings, get_option_form, hash_options
from evaluation.runs.run_types import get_kind
from evaluation.runs.run_types.kind import Page
from evaluation.runs.run_types.run_list import build_model_progress_context, list_priced_model_ids
from evaluation.runs.steps.asking.preview import (
    AskingEstimate,
    Preview,
    estimate_askings,
    preview_askings,
)
from evaluation.runs.steps.asking.registration import UnknownPromptError, find_prompt, list_prompts

MOST_CHOSEN = 5
"""Models that are chosen beforehand; where there are more, people choose."""
FITTING = "The prompt that suits each model: closed book, or with its passage"


@dataclass(frozen=True)
class ModelBox:
    """A model with its checkbox in the form, and the server it runs on."""

    box: Any
    model: LanguageModel
    place: Place

    @property
    def has_prices(self) -> bool:
        """Whether the model's prices are known."""
        return self.model.price_in is not None


class AskForm(get_option_form(AskOptions)):  # type: ignore[misc]
    """Form of `AskOptions` in which models and prompts are chosen by name, not id."""

    def __init__(self, user: AnyUser, *args: Any, **kwargs: Any) -> None:
        super().__init__(user, *args, **kwargs)
        few = self.askable if len(self.askable) <= MOST_CHOSEN else []
        begun = [str(model_id) for model_id in self.initial.get("models") or ()]
        self.initial["models"] = begun or [str(row.public_id) for row in few]
        self.fields["prompt"] = forms.ChoiceField(
            label="Prompt",
            required=False,
            choices=[("", FITTING), *((prompt.id, prompt.name) for prompt in list_prompts(user))],
            help_text="The instruction to models and the wording of each question. It is shown "
            "below.",
        )

    def boxes(self) -> list[ModelBox]:
        """Return the models with their checkboxes."""
        boxes = zip(self["models"], self.askable, strict=True)
        return [ModelBox(box, model, get_place(model)) for box, model in boxes]

    def others(self) -> list[forms.BoundField]:
        """Return the fields of the form's first part except the models."""
        return [field for field in self.list_basic_fields() if field.name != "models"]

    def begun_options(self) -> AskOptions:
        """Return the options of the form's initial values."""
        known = {name: self.initial.get(name) for name in AskOptions.options()}
        return AskOptions(**{**known, "prompt": known["prompt"] or None})


ASK = "ask"


@dataclass(frozen=True)
class SharedPreview:
    """Preview shared by several models: the prompt, the conversations, and the models' names."""

    prompt: str
    conversations: tuple[Any, ...]
    models: tuple[str, ...]


@dataclass(frozen=True)
class RequestTotals:
    """Total requests, cost and time of asking all models; None where unknown."""

    to_ask: int
    stored: int
    prompt_tokens: int
    completion_tokens: int
    cost: float | None
    duration: timedelta | None

    @classmethod
    def from_estimates(cls, estimates: Sequence[AskingEstimate]) -> RequestTotals:
        """Return the totals of the models' estimates.

        The time is that of the slowest model, because the models are asked in parallel.
        """
        pending = [estimate for estimate in estimates if not estimate.reason and estimate.to_ask]
        costs, durations = (
            [estimate.cost for estimate in pending],
            [estimate.duration for estimate in pending],
        )
        return cls(
            to_ask=sum(estimate.to_ask for estimate in pending),
            stored=sum(estimate.stored for estimate in estimates),
            prompt_tokens=sum(estimate.prompt_tokens for estimate in pending),
            completion_tokens=sum(estimate.completion_tokens for estimate in pending),
            # Unknown if one part is unknown: the sum and the slowest of the others would be too
            # low.
            cost=None if None in costs else sum(cost for cost in costs if cost is not None),
            duration=None
            if None in durations
            else max(
                (duration for duration in durations if duration is not None), default=timedelta()
            ),
        )


def ask_models(request: HttpRequest, set_id: UUID) -> HttpResponse:
    """Show the form and a preview of the requests; start only what was previewed."""
    question_set = get_editable(request, QuestionSet.objects.all(), set_id)
    version = lifecycle.find_gradable_version(
        question_set, request.GET.get("version"), answered=False
    )
    like = get_initial_settings(request, question_set, get_kind(ASK))
    form = AskForm(
        request.user,
        request.POST or None,
        like=like.parameters,
        preset={} if request.POST else request.GET.dict(),
    )
    label = RunLabelForm(request.POST or None)
    options, extra = _get_options(form), {}
    if options is not None and version is not None and not label.errors:
        try:
            # A hash of the previewed options: what was changed after the preview must be previewed
            # again.
            has_seen = request.POST.get("seen") == hash_options(options)
            if request.POST.get("do") == "ask" and has_seen:
                run = lifecycle.queue_run(
                    version, get_user_id(request), options, ASK, **label.get_labels()
                )
                return redirect("admin:run", run.public_id)
            extra = _build_preview_context(request, version, options)
        except OptionError as error:
            if form.is_bound:
                form.add_problems(error)
            else:
                extra = {"why_not": form.format_problems(error)}
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
        "asked_unseen": request.POST.get("do") == "ask" and bool(extra),
        "waiting": "" if is_any_process_running() else mark_code(HOW_TO_START),
        **extra,
    }
    wrong = form.errors or label.errors
    return TemplateResponse(request, "admin/asking/ask.html", context, status=400 if wrong else 200)


def _get_options(form: AskForm) -> AskOptions | None:
    """Return the posted options, else the initial ones; None if they are invalid."""
    if not form.is_bound:
        begun = form.begun_options()
        return begun if begun.models and not begun.problems() else None
    options: AskOptions | None = form.get_parameters() if form.is_valid() else None
    return options


def _build_preview_context(
    request: HttpRequest, version: QuestionSetVersion, options: AskOptions
) -> dict[str, Any]:
    """Return the template context of the preview: estimates, conversations and totals."""
    check = get_kind(ASK).check
    problems = check(version, request.user, options) if check else ()
    if problems:
        raise OptionError(problems)
    estimates = estimate_askings(version, request.user, options)
    previews = preview_askings(version, request.user, options)
    return {
        "seen": hash_options(options),
        "estimates": estimates,
        "takes": RequestTotals.from_estimates(estimates),
        "previews": list(_merge_previews(previews)),
        "parameters": [(preview.model, preview.parameters) for preview in previews],
        "samples": options.samples,
        "budget": options.budget,
        "nobody": all(estimate.reason for estimate in estimates),
    }


def _merge_previews(previews: Sequence[Preview]) -> list[SharedPreview]:
    """Return the previews without duplicates, each with the names of the models it is for."""

    def of_prompt(preview: Preview) -> str:
        return preview.prompt

    result = []
    # groupby joins neighbours only, hence the sorting.
    for prompt, alike in groupby(sorted(previews, key=of_prompt), of_prompt):
        same = list(alike)
        names = tuple(preview.model for preview in same)
        result.append(SharedPreview(prompt, same[0].conversations, names))
    return result


@dataclass(frozen=True)
class Errors:
    """Errors of one kind: their number and description, and a server's message as example."""

    count: int
    words: FaultWords
    message: str


@dataclass(frozen=True)
class ModelOutcomeRow:
    """A model that was asked, with explanations of its counts.

    Attributes
    ----------
    came : counts of the model. has_prices : whether `came.cost` is known.
    end : why its requests ended, in words; "" if all were sent. remedy : advice on this.
    errors : errors by kind, most frequent first.
    """

    came: ModelOutcome
    has_prices: bool
    end: str
    remedy: str
    errors: tuple[Errors, ...]

    @property
    def model_id(self) -> UUID:
        """Public id of the model."""
        return UUID(self.came.id)


REMEDIES = {
    BUDGET: "Ask again with a higher budget: what is there is not asked, or paid for, twice.",
    GIVEN_UP: "Fix the error shown, try the model on its page, then run it again: finished "
    "requests are not repeated.",
    FAILED: "Check address and key on the model's page. Then run it again.",
}
"""What to do about a model that was not asked to the end."""

GONE = "one that is not there any more"


def build_standing_context(run: Run) -> Mapping[str, Any]:
    """Return template values on each model's progress; for a finished run, its reply counts."""
    if run.state == Run.State.DONE:
        return build_results_context(run)
    return build_model_progress_context(run)


def build_results_context(run: Run) -> Mapping[str, Any]:
    """Return template values: each model's reply counts, and advice on missing replies."""
    summary = AskSummary.from_json(run.summary)
    known = list_priced_model_ids([model.id for model in summary.models])
    return {
        "asked": [_build_outcome_row(model, model.id in known) for model in summary.models],
        "spent": summary.cost if len(known) == len(summary.models) else None,
        "complete": summary.complete,
        "samples": summary.samples,
        "question_set_id": run.version.question_set.public_id,
    }


def load_names(run: Run) -> Mapping[str, str]:
    """Return the display names of the models and prompts whose ids the options contain."""
    ids = [str(model_id) for model_id in run.parameters.get("models", ())]
    rows = LanguageModel.objects.filter(public_id__in=ids).values_list("public_id", "name")
    names = {str(public_id): name for public_id, name in rows}
    result = {
        "models": ", ".join(names.get(name, "a model that is not there any more") for name in ids)
    }
    if prompt := run.parameters.get("prompt"):
        try:
            result["prompt"] = find_prompt(str(prompt)).name
        except UnknownPromptError:
            result["prompt"] = GONE
    return result


def _build_outcome_row(came: ModelOutcome, has_prices: bool) -> ModelOutcomeRow:
    """Return a model's row on the page of results, with its errors explained."""
    errors = [
        Errors(count, get_fault_words(code), came.error_messages.get(code, ""))
        for code, count in came.errors.items()
    ]
    return ModelOutcomeRow(
        came,
        has_prices,
        "" if came.end == DONE else ENDS.get(came.end, came.end),
        REMEDIES.get(came.end, ""),
        tuple(sorted(errors, key=lambda one: -one.count)),
    )


STANDING = Page(
    "standing", "Model by model", "evaluation/ask/standing.html", build_standing_context
)
RESULTS = Page("", "Result", "evaluation/ask/results.html", build_results_context)
