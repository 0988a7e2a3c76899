"""Pages on which a question set's owner invites and removes writers and validators."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.views.decorators.http import require_POST

from annotations import writing as rules
from annotations.desk.people import PENDING_NOTICE
from annotations.desk.writing.forms import ProjectMemberForm, TeamInvitationForm
from annotations.desk.writing.requester import build_writing_breadcrumbs, find_writing_project
from annotations.models import QuestionSet, Team, WritingProject
from annotations.web.scope import get_manageable, get_set_with_answers, select_visible


def manage_members(request: HttpRequest, set_id: UUID) -> HttpResponse:
    """List the members of a question set's writing project; POST invites an account."""
    question_set, project = _load_managed_project(request, set_id)
    form = ProjectMemberForm(project, request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        member = rules.invite_user(project, form.person, form.cleaned_data["role"])
        name, role = form.person.get_username(), member.get_role_display()
        text = (
            f"{name} is invited as {role}. {PENDING_NOTICE}"
            if member.pending
            else f"{name} is a {role} now."
        )
        messages.success(request, text, "invited" if member.pending else "member_added")
        return redirect("admin:writing-people", question_set.public_id)
    teams = select_visible(request, Team.objects.all()).order_by("name")
    context = {
        "title": "Who writes and who checks",
        "subtitle": question_set.name,
        "breadcrumbs": build_writing_breadcrumbs(question_set),
        "question_set": question_set,
        "project": project,
        "members": list(project.members.select_related("user").order_by("-role", "user__username")),
        "form": form,
        "team_form": TeamInvitationForm(teams) if teams.exists() else None,
    }
    return TemplateResponse(
        request, "annotations/writing/people.html", context, status=400 if form.errors else 200
    )


@require_POST
def invite_team(request: HttpRequest, set_id: UUID) -> HttpResponse:
    """Invite all members of a team in one role; warn about members who may not have it."""
    question_set, project = _load_managed_project(request, set_id)
    form = TeamInvitationForm(select_visible(request, Team.objects.all()), request.POST)
    if form.is_valid():
        role = form.cleaned_data["role"]
        invited, refused = rules.invite_team(project, form.cleaned_data["team"], role)
        if invited:
            messages.success(request, f"Invited: {', '.join(invited)}.")
        for reason in refused:
            messages.warning(request, reason)
    else:
        messages.error(request, "No invitation was sent. Choose one of your teams and its role.")
    return redirect("admin:writing-people", question_set.public_id)


def remove_member(request: HttpRequest, set_id: UUID, member_id: UUID) -> HttpResponse:
    """Ask for confirmation; POST removes a writer or validator, whose problems and votes stay."""
    question_set, project = _load_managed_project(request, set_id)
    member = get_object_or_404(project.members.select_related("user"), public_id=member_id)
    name = member.user.get_username()
    back = reverse("admin:writing-people", args=[question_set.public_id])
    if request.method == "POST":
        member.delete()
        messages.success(request, f"{name} takes part no longer.")
        return redirect(back)
    context = {
        "title": f"Without {name}?",
        "breadcrumbs": [
            *build_writing_breadcrumbs(question_set),
            ("Who writes and who checks", back),
        ],
        "text": f"{name} will no longer see the problems. What {name} wrote and every vote so "
        f"far stay and count; unfinished problems have no writer until you leave them out.",
        "button": "Remove",
        "back": back,
    }
    return TemplateResponse(request, "annotations/confirm.html", context)


def _load_managed_project(request: HttpRequest, set_id: UUID) -> tuple[QuestionSet, WritingProject]:
    """Return a question set and its writing project, if the user manages them.

    Else `Http404` or `RefusedError` is raised.
    """
    get_set_with_answers(request, set_id)
    question_set = get_manageable(request, QuestionSet.objects.all(), set_id)
    project = find_writing_project(question_set)
    if project is None:
        raise Http404("it has no writing of problems")
    return question_set, project
