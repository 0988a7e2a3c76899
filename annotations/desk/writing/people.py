"""Who writes and who checks: invited by name, or a team at once, by the owner of the set."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.views.decorators.http import require_POST

from annotations import writing as rules
from annotations.desk.people import WAITS
from annotations.desk.writing.forms import MemberForm, TeamForm
from annotations.desk.writing.requester import project_of, way_here
from annotations.models import QuestionSet, Team, WritingProject
from annotations.web.scope import answered_set, manageable, visible


def people(request: HttpRequest, set_id: UUID) -> HttpResponse:
    """List them; one is invited by posting here."""
    question_set, project = _managed(request, set_id)
    form = MemberForm(project, request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        member = rules.invite(project, form.person, form.cleaned_data["role"])
        name, role = form.person.get_username(), member.get_role_display()
        said = (
            f"{name} is invited as {role}. {WAITS}"
            if member.pending
            else f"{name} is a {role} now."
        )
        messages.success(request, said, "invited" if member.pending else "member_added")
        return redirect("admin:writing-people", question_set.public_id)
    teams = visible(request, Team.objects.all()).order_by("name")
    context = {
        "title": "Who writes and who checks",
        "subtitle": question_set.name,
        "breadcrumbs": way_here(question_set),
        "question_set": question_set,
        "project": project,
        "members": list(project.members.select_related("user").order_by("-role", "user__username")),
        "form": form,
        "team_form": TeamForm(teams) if teams.exists() else None,
    }
    return TemplateResponse(
        request, "annotations/writing/people.html", context, status=400 if form.errors else 200
    )


@require_POST
def invite_team(request: HttpRequest, set_id: UUID) -> HttpResponse:
    """Invite everybody of a team who can be."""
    question_set, project = _managed(request, set_id)
    form = TeamForm(visible(request, Team.objects.all()), request.POST)
    if form.is_valid():
        role = form.cleaned_data["role"]
        invited, refused = rules.invite_team(project, form.cleaned_data["team"], role)
        if invited:
            messages.success(request, f"Invited: {', '.join(invited)}.")
        for reason in refused:
            messages.warning(request, reason)
    else:
        messages.error(
            request, "Nobody was invited. Choose a team that you are in, and what it does."
        )
    return redirect("admin:writing-people", question_set.public_id)


def remove(request: HttpRequest, set_id: UUID, member_id: UUID) -> HttpResponse:
    """Ask, then let somebody take part no longer; what they did stays."""
    question_set, project = _managed(request, set_id)
    member = get_object_or_404(project.members.select_related("user"), public_id=member_id)
    name = member.user.get_username()
    back = reverse("admin:writing-people", args=[question_set.public_id])
    if request.method == "POST":
        member.delete()
        messages.success(request, f"{name} takes part no longer.")
        return redirect(back)
    context = {
        "title": f"Without {name}?",
        "breadcrumbs": [*way_here(question_set), ("Who writes and who checks", back)],
        "text": f"{name} will no longer see the problems. What {name} wrote or said so far stays "
        "and counts; problems that are being written stay with nobody until you leave them out.",
        "button": "Remove",
        "back": back,
    }
    return TemplateResponse(request, "annotations/confirm.html", context)


def _managed(request: HttpRequest, set_id: UUID) -> tuple[QuestionSet, WritingProject]:
    answered_set(request, set_id)
    question_set = manageable(request, QuestionSet.objects.all(), set_id)
    project = project_of(question_set)
    if project is None:
        raise Http404("nobody writes problems for it")
    return question_set, project
