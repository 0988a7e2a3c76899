"""Starting a run."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse

from annotations.models import QuestionSet
from annotations.web.pages import breadcrumbs
from annotations.web.scope import editable, user_id
from annotations.web.texts import with_code
from evaluation.background import runs as lifecycle
from evaluation.background.liveness import HOW_TO_START, somebody_listens
from evaluation.flow.parameters import AqerParameters
from evaluation.models import Run
from evaluation.site.option_form import form_for
from evaluation.steps.checkpoints import RunInputError
from evaluation.steps.load import parameters_of

GradeForm = form_for(AqerParameters)


def grade(request: HttpRequest, set_id: UUID) -> HttpResponse:
    """Ask how, then start a run over a version (`version` in the address, else the latest)."""
    question_set = editable(request, QuestionSet.objects.all(), set_id)
    version = lifecycle.version_to_grade(question_set, request.GET.get("version"))
    form = GradeForm(
        request.user,
        request.POST or None,
        like=parameters_like(request, question_set),
        preset={} if request.POST else request.GET.dict(),
    )
    if request.method == "POST" and version is not None and form.is_valid():
        run = lifecycle.queue(version, user_id(request), form.parameters())
        return redirect("admin:run", run.public_id)
    context = {
        "title": "Grade",
        "subtitle": f"{question_set.name}, version {version.number}" if version else "",
        "breadcrumbs": breadcrumbs(question_set),
        "question_set": question_set,
        "version": version,
        "form": form,
        "waiting": "" if somebody_listens() else with_code(HOW_TO_START),
    }
    return TemplateResponse(
        request, "admin/grade.html", context, status=400 if form.errors else 200
    )


def parameters_like(request: HttpRequest, question_set: QuestionSet) -> AqerParameters:
    """Return the parameters of the run of the set that `like` in the address names, or defaults."""
    try:
        asked = UUID(request.GET.get("like", ""))
    except ValueError:
        return AqerParameters()
    runs = Run.objects.visible_to(request.user).filter(version__question_set=question_set)
    run = runs.filter(public_id=asked).first()
    try:
        return AqerParameters() if run is None else parameters_of(run.parameters)
    except RunInputError:  # it is of another version of the platform
        return AqerParameters()
