"""Pages that list, create and delete teams, and add or remove their members."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import reverse

from annotations.desk.people import PENDING_NOTICE, TeamMemberForm, TeamNameForm
from annotations.models import QuestionSet, Team
from annotations.web.lists import TeamFilter, annotate_team_counts
from annotations.web.pages import Breadcrumbs
from annotations.web.scope import (
    get_editable,
    get_manageable,
    get_user_id,
    get_visible_or_404,
    require_requester,
    select_visible,
)


def list_teams(request: HttpRequest) -> HttpResponse:
    """List the teams that the user may see; users who are not requesters are refused."""
    require_requester(request)
    rows = TeamFilter(
        request.GET, select_visible(request, Team.objects.all()).select_related("owner")
    )
    context = {"title": "Teams", **rows.build_list_context(request, add=annotate_team_counts)}
    return TemplateResponse(request, "annotations/teams/list.html", context)


def create_team(request: HttpRequest) -> HttpResponse:
    """Show the form of a new team; POST creates it, owned by the user."""
    form = TeamNameForm(request.POST or None, instance=Team(owner_id=require_requester(request)))
    if request.method == "POST" and form.is_valid():
        try:
            # A savepoint, so that the page can be rendered after an IntegrityError.
            with transaction.atomic():
                team = form.save()
        except IntegrityError:
            text = "You have a team of this name."
            form.add_error("name", ValidationError(text, "name_taken"))
        else:
            return redirect("admin:team", team.public_id)
    context = {
        "title": "New team",
        "breadcrumbs": [("Teams", reverse("admin:teams"))],
        "form": form,
        "button": "Make the team",
    }
    return TemplateResponse(
        request, "annotations/question_set_form.html", context, status=400 if form.errors else 200
    )


def show_team(request: HttpRequest, team_id: UUID) -> HttpResponse:
    """Show a team's members and question sets; POST by its owner adds a member."""
    if request.method == "POST":
        # Members see the page, but only the owner adds people.
        team = get_editable(request, Team.objects.all(), team_id)
    else:
        team = get_visible_or_404(request, Team.objects.all(), team_id)
    form = TeamMemberForm(team, request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        added = form.save()
        name = form.person.get_username()
        text = (
            f"{name} is invited. {PENDING_NOTICE}" if added.pending else f"{name} is in the team."
        )
        messages.success(request, text, "invited" if added.pending else "member_added")
        return redirect("admin:team", team.public_id)
    context = {
        "title": team.name,
        "subtitle": f"A team of {team.owner.get_username()}",
        "breadcrumbs": [("Teams", reverse("admin:teams"))],
        "team": team,
        "form": form,
        "members": list(team.memberships.select_related("user").order_by("user__username")),
        "sets": _list_team_sets(request, team),
        "manages": Team.objects.manageable_by(request.user).filter(pk=team.pk).exists(),
        "is_member": team.memberships.filter(user=get_user_id(request)).exists(),
    }
    return TemplateResponse(
        request, "annotations/teams/team.html", context, status=400 if form.errors else 200
    )


def remove_member(request: HttpRequest, team_id: UUID, membership_id: UUID) -> HttpResponse:
    """Ask for confirmation; POST by the team's owner ends a membership."""
    team = get_manageable(request, Team.objects.all(), team_id)
    membership = get_object_or_404(team.memberships.select_related("user"), public_id=membership_id)
    name = membership.user.get_username()
    if request.method == "POST":
        membership.remove_member()
        messages.success(request, f"{name} is no longer in the team.", "member_removed")
        return redirect("admin:team", team.public_id)
    context = {
        "title": f"Remove {name}?",
        "breadcrumbs": _build_team_breadcrumbs(team),
        "text": f"{name} will no longer see what others share with {team.name}. Question sets "
        f"that {name} owns and shared with it are {name}'s alone again.",
        "button": f"Remove {name}",
        "back": reverse("admin:team", args=[team.public_id]),
    }
    return TemplateResponse(request, "annotations/confirm.html", context)


def leave_team(request: HttpRequest, team_id: UUID) -> HttpResponse:
    """Ask for confirmation; POST ends the user's own membership of a team."""
    team = get_visible_or_404(request, Team.objects.all(), team_id)
    membership = get_object_or_404(team.memberships.all(), user=get_user_id(request))
    if request.method == "POST":
        membership.remove_member()
        messages.success(request, f"You have left {team.name}.")
        return redirect("admin:teams")
    context = {
        "title": f"Leave {team.name}?",
        "breadcrumbs": _build_team_breadcrumbs(team),
        "text": "You will no longer see what others share with it; question sets of your own are "
        "yours alone again. Only its owner can take you back.",
        "button": "Leave the team",
        "back": reverse("admin:team", args=[team.public_id]),
    }
    return TemplateResponse(request, "annotations/confirm.html", context)


def delete_team(request: HttpRequest, team_id: UUID) -> HttpResponse:
    """Ask for confirmation; POST deletes a team. Its question sets stay with their owners."""
    team = get_manageable(request, Team.objects.all(), team_id)
    if request.method == "POST":
        team.delete()
        messages.success(request, f"The team {team.name} is no more.")
        return redirect("admin:teams")
    context = {
        "title": f"End {team.name}?",
        "breadcrumbs": _build_team_breadcrumbs(team),
        "text": "Its question sets are their owners' alone again; nothing in them is lost.",
        "button": "End the team",
        "back": reverse("admin:team", args=[team.public_id]),
    }
    return TemplateResponse(request, "annotations/confirm.html", context)


def _list_team_sets(request: HttpRequest, team: Team) -> list[QuestionSet]:
    """Return the team's question sets that the user may see, sorted by name."""
    rows = select_visible(request, QuestionSet.objects.all()).filter(team=team)
    return list(rows.select_related("owner").only("public_id", "name", "owner").order_by("name"))


def _build_team_breadcrumbs(team: Team) -> Breadcrumbs:
    """Return the breadcrumb links (list of teams, team) for pages about one team."""
    return [
        ("Teams", reverse("admin:teams")),
        (team.name, reverse("admin:team", args=[team.public_id])),
    ]
