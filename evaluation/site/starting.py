"""Starting a run of any kind: the form of its options."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.defaultfilters import filesizeformat
from django.template.response import TemplateResponse
from django.urls import reverse

from annotations.exchange import InputError, Problem
from annotations.exchange.reading.source import bytes_source
from annotations.models import QuestionSet, QuestionSetVersion
from annotations.web.pages import breadcrumbs
from annotations.web.scope import editable, user_id
from annotations.web.texts import with_code
from evaluation.background import runs as lifecycle
from evaluation.background.liveness import HOW_TO_START, somebody_listens
from evaluation.kinds import Kind, StartFile, UnknownKindError, kind_named, run_kinds
from evaluation.models import Run
from evaluation.models.runs import GRADING
from evaluation.options import OptionError, Parameters
from evaluation.site.option_form import OptionForm, form_for
from evaluation.steps.asking.foreseen import Foreseen

# Problems of a file that are told one by one.
SHOWN = 5


@dataclass(frozen=True)
class StartLink:
    """A way to start a run of a kind; `words` say what it does."""

    label: str
    words: str
    link: str
    needs_answers: bool


def starts_of(question_set: QuestionSet, query: str = "") -> list[StartLink]:
    """Return the ways to start a run over a set, a kind each, in the order of the settings."""
    return [
        StartLink(kind.verb, kind.words, start_link(kind, question_set) + query, kind.needs_answers)
        for kind in run_kinds().values()
    ]


def start_link(kind: Kind, question_set: QuestionSet) -> str:
    """Return the address at which a run of a kind is started."""
    key = {"set_id": question_set.public_id}
    if kind.start.address:
        return reverse(f"admin:{kind.start.address}", kwargs=key)
    if kind.name == GRADING:
        return reverse("admin:grade", kwargs=key)
    return reverse("admin:start", kwargs={**key, "name": kind.name})


def start(request: HttpRequest, set_id: UUID, name: str = GRADING) -> HttpResponse:
    """Ask how, then start a run over a version (`version` in the address, else the latest).

    `like` in the address names a run of the set whose parameters the form begins with. What else
    stands on the page, and which files it takes, is what the kind declares.
    """
    kind = _startable(name)
    question_set = editable(request, QuestionSet.objects.all(), set_id)
    for file in kind.start.files:
        if request.POST.get("file") == file.name or file.name in request.FILES:
            _take(request, question_set, file)
            return redirect(request.get_full_path())
    version = lifecycle.version_to_grade(
        question_set, request.GET.get("version"), answered=kind.needs_answers
    )
    form = form_for(kind.options)(
        request.user,
        request.POST or None,
        like=parameters_like(request, question_set, kind),
        preset={} if request.POST else request.GET.dict(),
    )
    if request.method == "POST" and version is not None and form.is_valid():
        try:
            if kind.start.foreseen and request.POST.get("do") == "foresee":
                foreseen = _foreseen(request, version, kind, form.parameters())
                return _page(request, question_set, version, kind, form, foreseen)
            run = lifecycle.queue(version, user_id(request), form.parameters(), kind.name)
            return redirect("admin:run", run.public_id)
        except OptionError as error:
            form.refuse(error)
    return _page(request, question_set, version, kind, form)


def _page(
    request: HttpRequest,
    question_set: QuestionSet,
    version: QuestionSetVersion | None,
    kind: Kind,
    form: OptionForm,
    foreseen: Foreseen | None = None,
) -> HttpResponse:
    context = {
        "title": kind.verb,
        "subtitle": f"{question_set.name}, version {version.number}" if version else "",
        "breadcrumbs": breadcrumbs(question_set),
        "question_set": question_set,
        "version": version,
        "kind": kind,
        "form": form,
        "before": kind.start.before(version) if kind.start.before else None,
        # A template would call the function itself.
        "foresees": kind.start.foreseen is not None,
        "foreseen": foreseen,
        "budget": getattr(form.parameters(), "budget", None) if foreseen else None,
        "waiting": "" if somebody_listens() else with_code(HOW_TO_START),
    }
    return TemplateResponse(
        request, "admin/runs/start.html", context, status=400 if form.errors else 200
    )


def _foreseen(
    request: HttpRequest, version: QuestionSetVersion, kind: Kind, options: Parameters
) -> Foreseen:
    """Return what a run would ask. Raises `OptionError` where it could not be started."""
    problems = kind.check(version, request.user, options) if kind.check else ()
    if problems:
        raise OptionError(problems)
    assert kind.start.foreseen is not None
    return kind.start.foreseen(version, request.user, options)


def _take(request: HttpRequest, question_set: QuestionSet, file: StartFile) -> None:
    """Take a file into the set, or say line by line what is wrong with it."""
    sent: Any = request.FILES.get(file.name)
    if sent is None:
        messages.error(request, "Choose a file.")
        return
    if sent.size is None or sent.size > file.most_bytes:
        messages.error(request, f"The file is larger than {filesizeformat(file.most_bytes)}.")
        return
    source = bytes_source(sent.name or file.name, sent.read())
    try:
        lines = file.take(question_set, source, {one: one in request.POST for one in file.switches})
    except InputError as error:
        for problem in error.problems[:SHOWN]:
            messages.error(request, _told(problem))
        if error.total > SHOWN:
            messages.error(request, f"And {error.total - SHOWN} more problems.")
    else:
        for line in lines:
            messages.success(request, line)


def _told(problem: Problem) -> str:
    """Return what is wrong in the words of the page: no switches of the command line."""
    place = [f"Line {problem.line}"] if problem.line is not None else []
    place += [f"column {problem.column}"] if problem.column is not None else []
    where = f"{', '.join(place)}: " if place else ""
    return f"{where}{problem.reason}. {problem.remedy}".strip()


def parameters_like(request: HttpRequest, question_set: QuestionSet, kind: Kind) -> Parameters:
    """Return the parameters of the run of the set that `like` in the address names, or defaults."""
    try:
        asked = UUID(request.GET.get("like", ""))
    except ValueError:
        return kind.options()
    runs = Run.objects.visible_to(request.user).filter(
        version__question_set=question_set, kind=kind.name
    )
    run = runs.filter(public_id=asked).first()
    try:
        return kind.options() if run is None else kind.options.of_dict(run.parameters)
    except KeyError:  # it is of another version of the platform
        return kind.options()


def _startable(name: str) -> Kind:
    """Return a kind that is started by the form of its options; 404 for any other."""
    try:
        kind = kind_named(name)
    except UnknownKindError as error:
        raise Http404(str(error)) from error
    if kind.start.address:
        raise Http404("this kind of run has a page of its own to start it")
    return kind
