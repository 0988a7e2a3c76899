"""Pages of language models, and notes about them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from django import forms
from django.contrib import messages
from django.db import IntegrityError, transaction
from django.db.models import Count
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from annotations.models import QuestionSet, is_requester
from annotations.models.notes import may_write_notes
from annotations.web.notes import check_note_rights, create_note, delete_note
from annotations.web.pages import build_breadcrumbs, load_page
from annotations.web.paging import Keyset
from annotations.web.scope import (
    get_editable,
    get_user_id,
    get_visible_or_404,
    require_requester,
    select_visible,
)
from evaluation.core.backends.chat import smollm2
from evaluation.core.charts.chart import Chart, HistoryPoint, build_score_history_chart
from evaluation.deletion.storage.removals import MODEL
from evaluation.language_models.report import ModelHistory, build_model_history
from evaluation.language_models.views import model_form
from evaluation.language_models.views.model_form import (
    ModelForm,
    NoteForm,
    TrialForm,
    build_name_taken_error,
    prepare_trial,
)
from evaluation.model_overview.views import build_model_link
from evaluation.models import LanguageModel, LLMResponse, Removal
from evaluation.runs.flow.asking.options import LOCAL, parse_spec_url
from evaluation.runs.reports.across import list_notes
from evaluation.runs.reports.lists import ModelFilter, annotate_answer_counts
from evaluation.workers.views import build_chart_download

BY_QUESTION = Keyset(
    "questions",
    ("question__version__number", "question__position", "question__public_id", "pk"),
)
PACKAGED: dict[str, Any] = {
    "name": smollm2.MODEL,
    "family": "SmolLM2",
    "size": "135M",
    "tuning": "instruct",
    "price_in": 0.0,
    "price_out": 0.0,
    "notice": "A very small model that runs on this machine: good for trying things out, and "
    "often wrong.",
}
"""What is said of the packaged model when it is added by one click."""


@dataclass(frozen=True)
class ModelLocation:
    """Description of where a model runs; `can_be_asked` is whether requests are possible."""

    words: str
    can_be_asked: bool


LOOK_AGAIN = 2
"""Seconds until the page of a trial is asked for again."""
REFUSED = {
    "one_at_a_time": "You are asking a model already: wait for its reply, or try again in a "
    "minute.",
    "trials_busy": "Too many models are being asked at the moment: try again in a minute.",
}
UPLOADED = ModelLocation("only its uploaded answers", False)


def describe_location(model: LanguageModel, mine: bool = True) -> ModelLocation:
    """Return where a model runs; with the server's host only for users who may change it."""
    if not mine:
        return ModelLocation("by its owner", True) if model.spec else UPLOADED
    if model.spec == LOCAL:
        return ModelLocation("on this machine", True)
    if host := urlsplit(parse_spec_url(model.spec)).netloc:
        # Without what precedes an @, which may be a user name and a password.
        return ModelLocation(f"at {host.rpartition('@')[2]}", True)
    if model.spec:
        return ModelLocation("as an operator set it up", True)
    return UPLOADED


def show_models(request: HttpRequest) -> HttpResponse:
    """Show the language models that the user may see, newest first."""
    rows = select_visible(request, LanguageModel.objects.filter(archived_at=None))
    list_of = ModelFilter(
        request.GET, annotate_answer_counts(rows, request.user)
    ).build_list_context(request)
    page = list_of["page"]
    mine = set(
        LanguageModel.objects.editable_by(request.user)
        .filter(pk__in=[row.pk for row in page])
        .values_list("pk", flat=True)
    )
    context = {
        "title": "Language models",
        **list_of,
        "rows": [(row, describe_location(row, row.pk in mine)) for row in page],
        "may_make": is_requester(request.user),
        "offers_packaged": can_add_packaged_model(request),
        "packaged": smollm2.MODEL,
    }
    return TemplateResponse(request, "admin/models/list.html", context)


def show_model(request: HttpRequest, model_id: UUID) -> HttpResponse:
    """Show a model: description, connection, history, and a form for a trial question."""
    language_model = get_visible_or_404(request, LanguageModel.objects.all(), model_id)
    trial = model_form.load_trial(get_user_id(request), request.GET.get("trial", ""))
    if trial is None:
        return render_model_page(request, language_model)
    form = TrialForm(request.user, initial=dict(trial.asked))
    response = render_model_page(
        request, language_model, form, trial.result, asking=trial.is_pending
    )
    if trial.is_pending:
        # An address of its own for each look: a browser does not load the same one again where it
        # ends in a fragment, it only scrolls.
        looks = request.GET.get("look", "0")
        attempt = int(looks) + 1 if looks.isdecimal() and len(looks) < 6 else 1
        again = f"{build_trial_address(language_model, request.GET['trial'])}&look={attempt}"
        response.headers["Refresh"] = f"{LOOK_AGAIN}; url={again}#reply"
    return response


def build_trial_address(model: LanguageModel, trial: str) -> str:
    """Return the URL that shows a trial of a model."""
    return f"{reverse('admin:model', args=[model.public_id])}?trial={trial}"


@require_POST
def try_model(request: HttpRequest, model_id: UUID) -> HttpResponse:
    """Ask a model one question in the background, and redirect to its reply."""
    language_model = get_editable(request, LanguageModel.objects.all(), model_id)
    form = TrialForm(request.user, request.POST)
    if not form.is_valid():
        return render_model_page(request, language_model, form, status=400)
    try:
        name = model_form.start_trial(
            get_user_id(request), prepare_trial(language_model, form), form.cleaned_data
        )
    except model_form.TrialRefusedError as error:
        form.add_error(None, forms.ValidationError(REFUSED[error.code], error.code))
        return render_model_page(request, language_model, form, status=429)
    return redirect(f"{build_trial_address(language_model, name)}#reply")


def add_model(request: HttpRequest) -> HttpResponse:
    """Show the form to register a model; POST stores it for the user."""
    return _handle_model_form(
        request, LanguageModel(owner_id=require_requester(request)), "Register a model"
    )


def edit_model(request: HttpRequest, model_id: UUID) -> HttpResponse:
    """Show the form to change a model; POST stores the changes."""
    changed = get_editable(request, LanguageModel.objects.all(), model_id)
    return _handle_model_form(request, changed, f"Edit {changed.name}")


@require_http_methods(["POST"])
def add_packaged_model(request: HttpRequest) -> HttpResponse:
    """Register the packaged model for the user, unless the user has it already."""
    owner = require_requester(request)
    if not smollm2.is_installed():
        messages.error(request, "The packaged model is not installed on this machine.")
        return redirect("admin:models")
    language_model = LanguageModel.objects.filter(owner_id=owner, spec=LOCAL).first()
    if language_model is None:
        try:
            with transaction.atomic():
                language_model = LanguageModel.objects.create(
                    owner_id=owner, spec=LOCAL, **PACKAGED
                )
        except IntegrityError:
            messages.error(
                request,
                f"You have a model named {smollm2.MODEL} with answers from elsewhere: edit it, "
                "or register this one under another name.",
            )
            return redirect("admin:models")
        messages.success(request, f"{language_model.name} is registered. Ask it something below.")
    return redirect("admin:model", language_model.public_id)


def show_model_answers(request: HttpRequest, set_id: UUID, model_id: UUID) -> HttpResponse:
    """Show a model's answers to a set's questions."""
    question_set = get_visible_or_404(request, QuestionSet.objects.all(), set_id)
    model = get_visible_or_404(request, LanguageModel.objects.all(), model_id)
    answers = (
        select_visible(request, LLMResponse.objects.all())
        .filter(model=model, question__version__question_set=question_set)
        .select_related("question__version")
    )
    context = {
        "title": model.name,
        "subtitle": "Answers of a language model",
        "breadcrumbs": build_breadcrumbs(question_set),
        "notice": " ".join(filter(None, [question_set.notice, model.notice])),
        "question_set": question_set,
        "page": load_page(request, answers, BY_QUESTION),
        "all_views": build_model_link(question_set, model.name),
    }
    return TemplateResponse(request, "admin/models/answers.html", context)


def render_model_page(
    request: HttpRequest,
    model: LanguageModel,
    form: TrialForm | None = None,
    trial: Any = None,
    status: int = 200,
    note: NoteForm | None = None,
    asking: bool = False,
) -> HttpResponse:
    """Return the page of a model, with a trial's result or invalid forms if given."""
    mine = LanguageModel.objects.editable_by(request.user).filter(pk=model.pk).exists()
    answers = select_visible(request, LLMResponse.objects.all()).filter(model=model)
    sets = (
        select_visible(request, QuestionSet.objects.all())
        .filter(versions__questions__llm_responses__in=answers)
        .annotate(n_answers=Count("versions__questions__llm_responses"))
        .order_by("name")
    )
    place = describe_location(model, mine)
    history = build_model_history(request.user, model)
    context = {
        "title": model.name,
        "subtitle": "Language model",
        "breadcrumbs": _build_breadcrumbs(),
        "notice": model.notice,
        "model": model,
        "place": place,
        "mine": mine,
        "sets": sets,
        "history": history,
        "chart": build_history_chart(history, model),
        "form": form or TrialForm(request.user),
        "trial": trial,
        "asking": asking,
        "seconds": LOOK_AGAIN,
        "notes": list_notes(model, request.user),
        "note_form": (note or NoteForm())
        if may_write_notes(request.user, model, may_change=mine)
        else None,
        "going": Removal.objects.filter(kind=MODEL, target_id=model.public_id).exists(),
    }
    return TemplateResponse(request, "admin/models/model.html", context, status=status)


def send_model_chart(request: HttpRequest, model_id: UUID) -> HttpResponse:
    """Send the chart of a model's scores as SVG."""
    language_model = get_visible_or_404(request, LanguageModel.objects.all(), model_id)
    chart = build_history_chart(build_model_history(request.user, language_model), language_model)
    if chart is None:
        raise Http404("there is no such picture")
    return build_chart_download(
        chart,
        f"model-{language_model.name}",
        " ".join(filter(None, [language_model.name, language_model.notice])),
    )


def build_history_chart(history: ModelHistory, model: LanguageModel) -> Chart | None:
    """Return the chart of a model's scores; None for fewer than two."""
    occasions = [
        HistoryPoint(
            entry.set_name,
            f"{entry.when:%-d %b %Y}",
            entry.score,
            weak=not entry.on_scale,
            link=reverse("admin:results-models", args=[entry.run]),
        )
        for entry in history.sets
        if entry.score.value is not None
    ]
    if len(occasions) < 2:
        return None
    return build_score_history_chart(
        occasions, "similarity to the consensus", model.name, of_model=True
    )


def _handle_model_form(request: HttpRequest, model: LanguageModel, title: str) -> HttpResponse:
    """Return the page with the form of a model; save a valid form and redirect to the model."""
    form = ModelForm(request.user, model, request.POST or None)
    if request.method == "POST" and form.is_valid():
        is_new = model.pk is None
        try:
            with transaction.atomic():
                saved = form.save()
        except IntegrityError:  # another request took the name a moment ago
            form.add_error("name", build_name_taken_error())
        else:
            if is_new and describe_location(saved).can_be_asked:
                messages.success(request, "It is registered. Try it with one question.")
            return redirect("admin:model", saved.public_id)
    context = {
        "title": title,
        "breadcrumbs": _build_breadcrumbs(),
        "form": form,
        "button": "Save" if model.pk else "Register the model",
    }
    return TemplateResponse(
        request, "admin/models/form.html", context, status=400 if form.errors else 200
    )


def can_add_packaged_model(request: HttpRequest) -> bool:
    """Return whether the user may register the packaged model: installed, not registered yet."""
    if not (is_requester(request.user) and smollm2.is_installed()):
        return False
    return not select_visible(request, LanguageModel.objects.all()).filter(spec=LOCAL).exists()


def _build_breadcrumbs() -> list[tuple[str, str]]:
    """Return the link to the list of language models."""
    return [("Language models", reverse("admin:models"))]


@require_POST
def add_note(request: HttpRequest, model_id: UUID) -> HttpResponse:
    """Store a user's note about a model, and redirect to the notes."""
    noted = get_visible_or_404(request, LanguageModel.objects.all(), model_id)
    check_note_rights(request, noted)
    form = NoteForm(request.POST)
    if not form.is_valid():
        return render_model_page(request, noted, note=form, status=400)
    create_note(request, noted, form.cleaned_data["text"])
    messages.success(request, "The note is saved.")
    return _redirect_to_notes(model_id)


@require_POST
def remove_note(request: HttpRequest, model_id: UUID, model_note_id: UUID) -> HttpResponse:
    """Delete the user's own note about a model, and redirect to the notes."""
    noted = get_visible_or_404(request, LanguageModel.objects.all(), model_id)
    delete_note(request, noted, model_note_id)
    messages.success(request, "The note is gone.")
    return _redirect_to_notes(model_id)


def _redirect_to_notes(model_id: UUID) -> HttpResponse:
    """Return the redirect to the notes on a model's page."""
    return redirect(reverse("admin:model", args=[model_id]) + "#notes")
