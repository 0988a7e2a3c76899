"""The requester's pages: how far the writing is, its settings, one problem with all about it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from annotations import writing as rules
from annotations.desk.writing.forms import NoteForm, SettingsForm
from annotations.models import QuestionSet, WritingProject, WrittenProblem, rights
from annotations.web.downloads import attached
from annotations.web.lists import ProblemFilter
from annotations.web.pages import Breadcrumbs, breadcrumbs
from annotations.web.scope import answered_set, editable, user_id, visible

STATES = dict(WrittenProblem.State.choices)


def writing(request: HttpRequest, set_id: UUID) -> HttpResponse:
    """Show how far it is; `state` picks problems. Before it began, say what it needs."""
    question_set = answered_set(request, set_id)
    may = rights(request.user, question_set)
    project = project_of(question_set)
    context = {
        "title": "Writing problems without an answer",
        "subtitle": question_set.name,
        "breadcrumbs": breadcrumbs(question_set),
        "notice": question_set.notice,
        "question_set": question_set,
        "rights": may,
        "project": project,
        "categories": rules.WHAT_CATEGORIES_MEAN.items(),
    }
    if project is None:
        latest = question_set.latest_version()
        context["version"] = latest
        context["n_originals"] = rules.originals(latest).count() if latest else 0
        return TemplateResponse(request, "annotations/writing/begin.html", context)
    rows = visible(request, WrittenProblem.objects.all()).filter(project=project)
    asked = ProblemFilter(request.GET, rows.select_related("original", "author"))
    state = request.GET.get("state", "")
    context |= {
        "overview": rules.overview(project),
        "state": state if state in STATES else "",
        "state_name": STATES.get(state, ""),
        **asked.listing(request),
    }
    return TemplateResponse(request, "annotations/writing/overview.html", context)


@require_POST
def start(request: HttpRequest, set_id: UUID) -> HttpResponse:
    """Begin the writing for the latest version."""
    answered_set(request, set_id)
    question_set = editable(request, QuestionSet.objects.all(), set_id)
    latest = question_set.latest_version()
    try:
        if latest is None:
            raise rules.WritingError("no_originals")
        rules.start(latest)
    except rules.WritingError as error:
        messages.error(request, str(error), error.code)
        return redirect("admin:writing", question_set.public_id)
    messages.success(request, "It has begun. Invite those who write and those who check.")
    return redirect("admin:writing-people", question_set.public_id)


def settings(request: HttpRequest, set_id: UUID) -> HttpResponse:
    """Change how much is wanted and what people are told; close it or open it again."""
    question_set, project = _editable(request, set_id)
    form = SettingsForm(request.POST or None, instance=project)
    if request.method == "POST" and "open" in request.POST:
        rules.set_open(project, request.POST["open"] == "yes")
        said = "It is open again." if project.closed_at is None else "It is closed."
        messages.success(request, said)
        return redirect("admin:writing", question_set.public_id)
    if request.method == "POST" and form.is_valid():
        form.save()
        messages.success(request, "Saved.")
        return redirect("admin:writing", question_set.public_id)
    context = {
        "title": "Settings of the writing",
        "subtitle": question_set.name,
        "breadcrumbs": way_here(question_set),
        "form": form,
        "project": project,
    }
    return TemplateResponse(
        request, "annotations/writing/settings.html", context, status=400 if form.errors else 200
    )


def problem(request: HttpRequest, set_id: UUID, problem_id: UUID) -> HttpResponse:
    """Show a problem, what was said of it and what happened to it; the requester decides by it."""
    question_set = answered_set(request, set_id)
    if request.method == "POST":
        editable(request, QuestionSet.objects.all(), set_id)
    shown = get_object_or_404(
        visible(request, WrittenProblem.objects.all())
        .filter(project__version__question_set=question_set)
        .select_related("original", "author", "project"),
        public_id=problem_id,
    )
    form = NoteForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        act = rules.drop if request.POST.get("do") == "drop" else rules.send_back
        try:
            act(shown, user_id(request), form.cleaned_data["note"])
        except rules.WritingError as error:
            form.add_error("note" if error.field == "note" else None, str(error))
        else:
            done = "It is left out." if act is rules.drop else "It is its author's again."
            messages.success(request, done)
            return redirect("admin:writing-problem", question_set.public_id, problem_id)
    state = WrittenProblem.State(shown.state)
    context = {
        "title": f"Problem {shown.external_id}",
        "breadcrumbs": way_here(question_set),
        "notice": question_set.notice,
        "question_set": question_set,
        "problem": shown,
        "state": state,
        "rights": rights(request.user, question_set),
        "votes": list(
            shown.votes.select_related("validator").order_by("-revision", "validator__username")
        ),
        "events": list(shown.events.select_related("by").order_by("-pk")),
        "form": form,
        "may_send_back": state in (state.CHECKING, state.ACCEPTED),
        "may_drop": state not in (state.WITHDRAWN, state.DROPPED),
    }
    return TemplateResponse(
        request, "annotations/writing/problem.html", context, status=400 if form.errors else 200
    )


@require_GET
def export(request: HttpRequest, set_id: UUID) -> HttpResponseBase:
    """Send what was accepted, with the questions it was made of, as JSON Lines of UMWP."""
    question_set = answered_set(request, set_id)
    project = project_of(question_set)
    if project is None:
        raise Http404("nobody writes problems for it")
    return StreamingHttpResponse(
        _lines(project),
        content_type="application/x-ndjson",
        headers=attached(f"{question_set.name} - without an answer.jsonl"),
    )


def project_of(question_set: QuestionSet) -> WritingProject | None:
    """Return the writing of the set's newest version that has one."""
    return (
        WritingProject.objects.filter(version__question_set=question_set)
        .select_related("version")
        .order_by("-version__number")
        .first()
    )


def way_here(question_set: QuestionSet) -> Breadcrumbs:
    """Return the way to the overview."""
    here = reverse("admin:writing", args=[question_set.public_id])
    return [*breadcrumbs(question_set), ("Writing", here)]


def _editable(request: HttpRequest, set_id: UUID) -> tuple[QuestionSet, WritingProject]:
    answered_set(request, set_id)
    question_set = editable(request, QuestionSet.objects.all(), set_id)
    project = project_of(question_set)
    if project is None:
        raise Http404("nobody writes problems for it")
    return question_set, project


def _lines(project: WritingProject) -> Iterator[bytes]:
    for one in rules.accepted(project):
        yield (json.dumps(one, ensure_ascii=False) + "\n").encode()
