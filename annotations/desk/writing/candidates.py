"""Pages of candidate questions with several right answers: progress, checking, new set, file."""

from __future__ import annotations

import json
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.views.decorators.http import require_GET

from annotations import writing as rules
from annotations.desk.writing.forms import CandidateVerdictForm, NewQuestionSetForm
from annotations.desk.writing.participants import build_participant_context, load_membership
from annotations.desk.writing.requester import build_writing_breadcrumbs, find_writing_project
from annotations.models import CandidateQuestion, QuestionSet, WritingMember, WritingProject, rights
from annotations.web.downloads import build_attachment_headers
from annotations.web.lists import CandidateFilter
from annotations.web.pages import Breadcrumbs
from annotations.web.scope import (
    get_editable_set_with_answers,
    get_set_with_answers,
    get_user_id,
    select_visible,
)

PREVIEWED = 20
"""Candidates that the preview of a new set shows in full."""


def show_candidates(request: HttpRequest, set_id: UUID) -> HttpResponse:
    """Show progress and list of a set's candidate questions, or how to generate them."""
    question_set = get_set_with_answers(request, set_id)
    project = find_writing_project(question_set)
    context = {
        "title": "Questions with several answers",
        "subtitle": question_set.name,
        "breadcrumbs": build_writing_breadcrumbs(question_set),
        "notice": question_set.notice,
        "question_set": question_set,
        "rights": rights(request.user, question_set),
        "project": project,
    }
    if project is not None:
        rows = select_visible(request, CandidateQuestion.objects.all()).filter(project=project)
        context |= {
            "summary": rules.summarize_candidates(project),
            "n_validators": project.members.filter_accepted()
            .filter(role=WritingMember.Role.VALIDATOR)
            .count(),
            **CandidateFilter(request.GET, rows).build_list_context(request),
        }
    return TemplateResponse(request, "annotations/writing/candidates.html", context)


def show_candidate(request: HttpRequest, set_id: UUID, candidate_id: UUID) -> HttpResponse:
    """Show a candidate with the model's verdicts, the votes and its origin."""
    question_set = get_set_with_answers(request, set_id)
    row = get_object_or_404(
        select_visible(request, CandidateQuestion.objects.all()).filter(
            project__version__question_set=question_set
        ),
        public_id=candidate_id,
    )
    context = {
        "title": f"Candidate {row.number}",
        "breadcrumbs": _build_candidate_breadcrumbs(question_set),
        "notice": question_set.notice,
        "question_set": question_set,
        "candidate": row,
        "reason": rules.describe_reason(row.reason),
        "verdict": rules.describe_reason(row.verdict),
        "votes": row.votes.select_related("validator").order_by("-revision", "validator__username"),
    }
    return TemplateResponse(request, "annotations/writing/candidate.html", context)


def create_candidate_set(request: HttpRequest, set_id: UUID) -> HttpResponse:
    """Preview a new question set with the accepted candidates; POST creates it."""
    question_set = get_editable_set_with_answers(request, set_id)
    project = _load_project(question_set)
    rows = list(rules.select_addable_candidates(project).prefetch_related("votes__validator"))
    signed = rules.hash_preview(rows)
    name = f"{question_set.name}: several answers"
    form = NewQuestionSetForm(request.POST or None, initial={"name": name, "preview": signed})
    if request.method == "POST" and form.is_valid():
        values = form.cleaned_data
        try:
            made = rules.create_set_of_candidates(
                project, get_user_id(request), values["name"], values["preview"]
            )
        except rules.WritingError as error:
            form.add_error("name" if error.field == "name" else None, str(error))
        else:
            messages.success(request, f"{len(rows)} questions are in the draft of the new set.")
            return redirect("admin:question-set", made.public_id)
    context = {
        "title": "New question set of accepted candidates",
        "subtitle": question_set.name,
        "breadcrumbs": _build_candidate_breadcrumbs(question_set),
        "question_set": question_set,
        "form": form,
        "signed": signed,
        "n": len(rows),
        "more": max(0, len(rows) - PREVIEWED),
        "rows": [(row, rules.build_provenance(row)) for row in rows[:PREVIEWED]],
    }
    return TemplateResponse(
        request,
        "annotations/writing/candidates_add.html",
        context,
        status=400 if form.errors else 200,
    )


@require_GET
def export_candidates(request: HttpRequest, set_id: UUID) -> HttpResponseBase:
    """Return all accepted candidates as JSON for ``evaluate maqa``, with their origin."""
    question_set = get_set_with_answers(request, set_id)
    project = _load_project(question_set)
    rows = select_visible(request, CandidateQuestion.objects.all()).filter(project=project)
    listed = list(rules.export_candidates(rows))
    return HttpResponse(
        json.dumps(listed, ensure_ascii=False, indent=1) + "\n",
        content_type="application/json",
        headers=build_attachment_headers(f"{question_set.name} - several answers.json"),
    )


def verify_candidate(request: HttpRequest, project_id: UUID, verify_id: UUID) -> HttpResponse:
    """Show a candidate to a validator; POST stores the vote and opens the next candidate."""
    member = load_membership(request, project_id, WritingMember.Role.VALIDATOR)
    user = get_user_id(request)
    task = rules.find_candidate_task(member.project, user, verify_id)
    if task is None:
        # The other votes decided it while this validator was reading.
        if request.method == "POST":
            messages.warning(request, rules.MESSAGES["candidate_decided"], "candidate_decided")
            return redirect("admin:writing-desk", project_id)
        raise Http404("there is no such candidate to check")
    initial = {
        "verdict": task.verdict,
        "text": task.text,
        "answers": rules.format_answers(task.answers),
        "reason": task.reason,
        "note": task.note,
        "revision": task.revision,
    }
    form = CandidateVerdictForm(request.POST if request.method == "POST" else None, initial=initial)
    if request.method == "POST" and form.is_valid():
        try:
            following = rules.vote_on_candidate(
                member.project, user, verify_id, form.read_verdict()
            )
        except rules.WritingError as error:
            if error.code == "candidate_changed":
                # A fresh form: the typed one is about the text before the other edit.
                messages.warning(request, str(error), error.code)
                return redirect("admin:writing-verify", project_id, verify_id)
            form.add_rule_error(error)
        else:
            messages.success(request, "Saved.")
            if following is None:
                return redirect("admin:writing-desk", project_id)
            return redirect("admin:writing-verify", project_id, following)
    context = {
        **build_participant_context(member, "A candidate question to check", deeper=True),
        "task": task,
        "form": form,
    }
    return TemplateResponse(
        request, "annotations/writing/verify.html", context, status=400 if form.errors else 200
    )


def _load_project(question_set: QuestionSet) -> WritingProject:
    """Return the writing project of a question set; raise `Http404` without one."""
    project = find_writing_project(question_set)
    if project is None:
        raise Http404("nothing was generated for this set")
    return project


def _build_candidate_breadcrumbs(question_set: QuestionSet) -> Breadcrumbs:
    """Return the breadcrumb links for the pages below the list of candidates."""
    url = reverse("admin:writing-candidates", args=[question_set.public_id])
    return [*build_writing_breadcrumbs(question_set), ("Several answers", url)]
