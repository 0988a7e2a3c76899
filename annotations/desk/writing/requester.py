"""The requester's pages of a writing project: progress, settings, one problem, the export."""

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
from annotations.desk.writing.forms import NoteForm, WritingSettingsForm
from annotations.models import QuestionSet, WritingProject, WrittenProblem, rights
from annotations.web.downloads import build_attachment_headers
from annotations.web.lists import ProblemFilter
from annotations.web.pages import Breadcrumbs, build_breadcrumbs
from annotations.web.scope import (
    get_editable,
    get_editable_set_with_answers,
    get_set_with_answers,
    get_user_id,
    select_visible,
)

STATE_LABELS = dict(WrittenProblem.State.choices)


def show_writing_project(request: HttpRequest, set_id: UUID) -> HttpResponse:
    """Show a writing project's progress and problems; without a project, how to start one.

    The query parameter `state` filters the problems.
    """
    question_set = get_set_with_answers(request, set_id)
    project = find_writing_project(question_set)
    context = {
        "title": "Writing problems without an answer",
        "subtitle": question_set.name,
        "breadcrumbs": build_breadcrumbs(question_set),
        "notice": question_set.notice,
        "question_set": question_set,
        "rights": rights(request.user, question_set),
        "project": project,
        "categories": rules.CATEGORY_DESCRIPTIONS.items(),
    }
    if project is None:
        latest = question_set.latest_version()
        context["version"] = latest
        context["n_originals"] = rules.select_original_questions(latest).count() if latest else 0
        return TemplateResponse(request, "annotations/writing/begin.html", context)
    rows = select_visible(request, WrittenProblem.objects.all()).filter(project=project)
    problems = ProblemFilter(request.GET, rows.select_related("original", "author"))
    state = request.GET.get("state", "")
    context |= {
        "overview": rules.summarize_project(project),
        "state": state if state in STATE_LABELS else "",
        "state_name": STATE_LABELS.get(state, ""),
        **problems.build_list_context(request),
    }
    return TemplateResponse(request, "annotations/writing/overview.html", context)


@require_POST
def start_writing_project(request: HttpRequest, set_id: UUID) -> HttpResponse:
    """Start a writing project for the latest version of a question set."""
    question_set = get_editable_set_with_answers(request, set_id)
    latest = question_set.latest_version()
    try:
        if latest is None:
            raise rules.WritingError("no_originals")
        rules.start_project(latest)
    except rules.WritingError as error:
        messages.error(request, str(error), error.code)
        return redirect("admin:writing", question_set.public_id)
    messages.success(request, "It has begun. Invite those who write and those who check.")
    return redirect("admin:writing-people", question_set.public_id)


def edit_project_settings(request: HttpRequest, set_id: UUID) -> HttpResponse:
    """Show and save the project's settings; POST with `open` closes or reopens the project."""
    question_set, project = _load_editable_project(request, set_id)
    form = WritingSettingsForm(request.POST or None, instance=project)
    if request.method == "POST" and "open" in request.POST:
        rules.set_project_open(project, request.POST["open"] == "yes")
        text = "It is open again." if project.closed_at is None else "It is closed."
        messages.success(request, text)
        return redirect("admin:writing", question_set.public_id)
    if request.method == "POST" and form.is_valid():
        form.save()
        messages.success(request, "Saved.")
        return redirect("admin:writing", question_set.public_id)
    context = {
        "title": "Settings of the writing",
        "subtitle": question_set.name,
        "breadcrumbs": build_writing_breadcrumbs(question_set),
        "form": form,
        "project": project,
    }
    return TemplateResponse(
        request, "annotations/writing/settings.html", context, status=400 if form.errors else 200
    )


def review_problem(request: HttpRequest, set_id: UUID, problem_id: UUID) -> HttpResponse:
    """Show a problem with votes and history; POST returns it to its author or drops it."""
    question_set = get_set_with_answers(request, set_id)
    if request.method == "POST":
        # Viewers see a problem with its votes, but do not decide about it.
        get_editable(request, QuestionSet.objects.all(), set_id)
    problem = get_object_or_404(
        select_visible(request, WrittenProblem.objects.all())
        .filter(project__version__question_set=question_set)
        .select_related("original", "author", "project"),
        public_id=problem_id,
    )
    form = NoteForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        decide = rules.discard_problem if request.POST.get("do") == "drop" else rules.return_problem
        try:
            decide(problem, get_user_id(request), form.cleaned_data["note"])
        except rules.WritingError as error:
            form.add_error("note" if error.field == "note" else None, str(error))
        else:
            is_dropped = decide is rules.discard_problem
            text = "It is left out." if is_dropped else "It is its author's again."
            messages.success(request, text)
            return redirect("admin:writing-problem", question_set.public_id, problem_id)
    state = WrittenProblem.State(problem.state)
    context = {
        "title": f"Problem {problem.external_id}",
        "breadcrumbs": build_writing_breadcrumbs(question_set),
        "notice": question_set.notice,
        "question_set": question_set,
        "problem": problem,
        "state": state,
        "rights": rights(request.user, question_set),
        "votes": list(
            problem.votes.select_related("validator").order_by("-revision", "validator__username")
        ),
        "events": list(problem.events.select_related("by").order_by("-pk")),
        "form": form,
        "may_send_back": state in (state.CHECKING, state.ACCEPTED),
        "may_drop": state not in (state.WITHDRAWN, state.DROPPED),
    }
    return TemplateResponse(
        request, "annotations/writing/problem.html", context, status=400 if form.errors else 200
    )


@require_GET
def export_problems(request: HttpRequest, set_id: UUID) -> HttpResponseBase:
    """Stream the accepted problems and their original questions in UMWP's JSON Lines format."""
    question_set = get_set_with_answers(request, set_id)
    project = find_writing_project(question_set)
    if project is None:
        raise Http404("it has no writing of problems")
    return StreamingHttpResponse(
        _format_export_lines(project),
        content_type="application/x-ndjson",
        headers=build_attachment_headers(f"{question_set.name} - without an answer.jsonl"),
    )


def find_writing_project(question_set: QuestionSet) -> WritingProject | None:
    """Return the writing project of the newest version that has one; None if no version has one."""
    return (
        WritingProject.objects.filter(version__question_set=question_set)
        .select_related("version")
        .order_by("-version__number")
        .first()
    )


def build_writing_breadcrumbs(question_set: QuestionSet) -> Breadcrumbs:
    """Return the breadcrumb links for the pages below a project's overview page."""
    url = reverse("admin:writing", args=[question_set.public_id])
    return [*build_breadcrumbs(question_set), ("Writing", url)]


def _load_editable_project(
    request: HttpRequest, set_id: UUID
) -> tuple[QuestionSet, WritingProject]:
    """Return a question set and its writing project, if the user may change them.

    Else `Http404` or `RefusedError` is raised.
    """
    question_set = get_editable_set_with_answers(request, set_id)
    project = find_writing_project(question_set)
    if project is None:
        raise Http404("it has no writing of problems")
    return question_set, project


def _format_export_lines(project: WritingProject) -> Iterator[bytes]:
    """Yield the accepted problems as JSON Lines in UTF-8."""
    for row in rules.export_accepted_problems(project):
        yield (json.dumps(row, ensure_ascii=False) + "\n").encode()
