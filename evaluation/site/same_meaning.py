"""The page that starts a comparison of replies to prompts of the same meaning."""

from __future__ import annotations

from typing import Any, cast
from uuid import UUID

from django import forms
from django.contrib import messages
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse

from annotations.exchange import InputError, Problem
from annotations.exchange.importing import import_prompts
from annotations.exchange.reading.source import bytes_source
from annotations.models import QuestionSet
from annotations.web.pages import breadcrumbs
from annotations.web.scope import editable, user_id
from annotations.web.texts import with_code
from evaluation.background import runs as lifecycle
from evaluation.background.liveness import HOW_TO_START, somebody_listens
from evaluation.kinds import Kind, kind_named
from evaluation.models import LanguageModel
from evaluation.options import OptionError
from evaluation.site.option_form import OptionForm, form_for
from evaluation.site.starting import parameters_like
from evaluation.steps.eloquent.wordings import can_be_compared, items_of

KIND = "eloquent"
MOST_BYTES = 20_000_000
CHOSEN = ("models", "judges")


def start(request: HttpRequest, set_id: UUID) -> HttpResponse:
    """Ask which models reply and judge, then start; or take a file of prompts."""
    question_set = editable(request, QuestionSet.objects.all(), set_id)
    if request.method == "POST" and "prompts" in request.FILES:
        return _upload(request, question_set)
    kind = kind_named(KIND)
    version = lifecycle.version_to_grade(question_set, request.GET.get("version"), answered=False)
    items = () if version is None else items_of(version)
    form = _form(request, question_set, kind)
    if request.method == "POST" and version is not None and form.is_valid():
        try:
            run = lifecycle.queue(version, user_id(request), form.parameters(), kind.name)
            return redirect("admin:run", run.public_id)
        except OptionError as error:
            form.refuse(error)
    context = {
        "title": kind.verb,
        "subtitle": f"{question_set.name}, version {version.number}" if version else "",
        "breadcrumbs": breadcrumbs(question_set),
        "question_set": question_set,
        "kind": kind,
        "form": form,
        "items": items,
        "n_prompts": sum(len(item.variants) for item in items),
        "languages": dict.fromkeys(one for item in items for one in item.languages),
        "ready": can_be_compared(items),
        "has_models": bool(form.fields["models"].choices),  # type: ignore[attr-defined]
        "ticked": CHOSEN,
        "waiting": "" if somebody_listens() else with_code(HOW_TO_START),
    }
    status = 400 if form.errors else 200
    return TemplateResponse(request, "admin/runs/same_meaning.html", context, status=status)


def _form(request: HttpRequest, question_set: QuestionSet, kind: Kind) -> OptionForm:
    """Return the form of the options, with boxes to tick for the models."""
    is_upload = request.method == "POST" and "start" not in request.POST
    form = form_for(kind.options)(
        request.user,
        None if is_upload or not request.POST else request.POST,
        like=parameters_like(request, question_set, kind),
    )
    rows = LanguageModel.objects.editable_by(request.user).exclude(spec="").order_by("name")
    choices = [(str(row.public_id), row.name) for row in rows]
    for name in CHOSEN:
        old = form.fields[name]
        form.fields[name] = forms.MultipleChoiceField(
            label=old.label,
            choices=choices,
            required=name == "models",
            widget=forms.CheckboxSelectMultiple,
            help_text=HELP[name],
            error_messages={"required": "Choose a model whose replies are compared."},
        )
    return form


HELP: dict[str, Any] = {
    "models": "Each question is put to them in all its wordings.",
    "judges": "They say how alike the replies are. Without one, replies are only compared as "
    "vectors.",
}


def _upload(request: HttpRequest, question_set: QuestionSet) -> HttpResponse:
    """Take a file of prompts into the set, or say line by line what is wrong with it."""
    file = cast("UploadedFile[Any]", request.FILES["prompts"])
    if file.size is None or file.size > MOST_BYTES:
        messages.error(request, f"The file is larger than {MOST_BYTES // 1_000_000} MB.")
        return redirect(request.path)
    source = bytes_source(file.name or "prompts.json", file.read())
    try:
        report = import_prompts(question_set, source, repair="repair" in request.POST)
    except InputError as error:
        for problem in error.problems[:5]:
            messages.error(request, _told(problem))
        if error.total > 5:
            messages.error(request, f"And {error.total - 5} more problems.")
    else:
        for line in report.lines():
            messages.success(request, line)
    return redirect(request.path)


def _told(problem: Problem) -> str:
    """Return what is wrong in the words of the page: no switches of the command line."""
    place = [f"Line {problem.line}"] if problem.line is not None else []
    place += [f"column {problem.column}"] if problem.column is not None else []
    where = f"{', '.join(place)}: " if place else ""
    return f"{where}{problem.reason}. {problem.remedy}".strip()
