"""Teams: the list, making one, who is in it, leaving it."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import reverse

from annotations.desk.people import WAITS, MemberForm, TeamForm
from annotations.models import QuestionSet, Team
from annotations.web.lists import TeamFilter, counted_teams
from annotations.web.pages import Breadcrumbs
from annotations.web.scope import (
    editable,
    maker,
    manageable,
    user_id,
    visible,
    visible_or_404,
)


def teams(request: HttpRequest) -> HttpResponse:
    """List the teams that one is in."""
    maker(request)
    asked = TeamFilter(request.GET, visible(request, Team.objects.all()).select_related("owner"))
    context = {"title": "Teams", **asked.listing(request, add=counted_teams)}
    return TemplateResponse(request, "annotations/teams/list.html", context)


def new_team(request: HttpRequest) -> HttpResponse:
    """Make a team."""
    form = TeamForm(request.POST or None, instance=Team(owner_id=maker(request)))
    if request.method == "POST" and form.is_valid():
        try:
            with transaction.atomic():
                made = form.save()
        except IntegrityError:
            said = "You have a team of this name."
            form.add_error("name", ValidationError(said, "name_taken"))
        else:
            return redirect("admin:team", made.public_id)
    context = {
        "title": "New team",
        "breadcrumbs": [("Teams", reverse("admin:teams"))],
        "form": form,
        "button": "Make the team",
    }
    return TemplateResponse(
        request, "annotations/question_set_form.html", context, status=400 if form.errors else 200
    )


def team(request: HttpRequest, team_id: UUID) -> HttpResponse:
    """Show who is in a team and what it works on; its owner adds a member by posting here."""
    if request.method == "POST":
        shown = editable(request, Team.objects.all(), team_id)
    else:
        shown = visible_or_404(request, Team.objects.all(), team_id)
    form = MemberForm(shown, request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        added = form.save()
        name = form.person.get_username()
        said = f"{name} is invited. {WAITS}" if added.pending else f"{name} is in the team."
        messages.success(request, said, "invited" if added.pending else "member_added")
        return redirect("admin:team", shown.public_id)
    one = user_id(request)
    context = {
        "title": shown.name,
        "subtitle": f"A team of {shown.owner.get_username()}",
        "breadcrumbs": [("Teams", reverse("admin:teams"))],
        "team": shown,
        "form": form,
        "members": list(shown.memberships.select_related("user").order_by("user__username")),
        "sets": _sets_of(request, shown),
        "manages": Team.objects.manageable_by(request.user).filter(pk=shown.pk).exists(),
        "is_member": shown.memberships.filter(user=one).exists(),
    }
    return TemplateResponse(
        request, "annotations/teams/team.html", context, status=400 if form.errors else 200
    )


def remove_member(request: HttpRequest, team_id: UUID, membership_id: UUID) -> HttpResponse:
    """Ask, then take somebody out of a team."""
    shown = manageable(request, Team.objects.all(), team_id)
    gone = get_object_or_404(shown.memberships.select_related("user"), public_id=membership_id)
    name = gone.user.get_username()
    if request.method == "POST":
        gone.end()
        messages.success(request, f"{name} is no longer in the team.", "member_removed")
        return redirect("admin:team", shown.public_id)
    context = {
        "title": f"Remove {name}?",
        "breadcrumbs": _trail(shown),
        "text": f"{name} will no longer see what others share with {shown.name}. Question sets "
        f"that {name} owns and shared with it are {name}'s alone again.",
        "button": f"Remove {name}",
        "back": reverse("admin:team", args=[shown.public_id]),
    }
    return TemplateResponse(request, "annotations/confirm.html", context)


def leave_team(request: HttpRequest, team_id: UUID) -> HttpResponse:
    """Ask, then leave a team."""
    shown = visible_or_404(request, Team.objects.all(), team_id)
    own = get_object_or_404(shown.memberships.all(), user=user_id(request))
    if request.method == "POST":
        own.end()
        messages.success(request, f"You have left {shown.name}.")
        return redirect("admin:teams")
    context = {
        "title": f"Leave {shown.name}?",
        "breadcrumbs": _trail(shown),
        "text": "You will no longer see what others share with it; question sets of your own are "
        "yours alone again. Only its owner can take you back.",
        "button": "Leave the team",
        "back": reverse("admin:team", args=[shown.public_id]),
    }
    return TemplateResponse(request, "annotations/confirm.html", context)


def delete_team(request: HttpRequest, team_id: UUID) -> HttpResponse:
    """Ask, then end a team; the question sets stay with their owners."""
    shown = manageable(request, Team.objects.all(), team_id)
    if request.method == "POST":
        shown.delete()
        messages.success(request, f"The team {shown.name} is no more.")
        return redirect("admin:teams")
    context = {
        "title": f"End {shown.name}?",
        "breadcrumbs": _trail(shown),
        "text": "Its question sets are their owners' alone again; nothing in them is lost.",
        "button": "End the team",
        "back": reverse("admin:team", args=[shown.public_id]),
    }
    return TemplateResponse(request, "annotations/confirm.html", context)


def _sets_of(request: HttpRequest, shown: Team) -> list[QuestionSet]:
    rows = visible(request, QuestionSet.objects.all()).filter(team=shown)
    return list(rows.select_related("owner").only("public_id", "name", "owner").order_by("name"))


def _trail(shown: Team) -> Breadcrumbs:
    return [
        ("Teams", reverse("admin:teams")),
        (shown.name, reverse("admin:team", args=[shown.public_id])),
    ]
