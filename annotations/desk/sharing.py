"""Pages on which an owner shares a question set with a team, viewers and experts."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.views.decorators.http import require_POST

from annotations.desk.people import PENDING_NOTICE, ShareForm, SharingTeamForm
from annotations.models import QuestionSet, Team
from annotations.web.pages import build_breadcrumbs
from annotations.web.scope import get_manageable, select_visible


def manage_sharing(request: HttpRequest, set_id: UUID) -> HttpResponse:
    """Show the team and the shares of a question set; POST shares it with one more account."""
    question_set = get_manageable(request, QuestionSet.objects.all(), set_id)
    form = ShareForm(question_set, request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        share = form.save()
        name = form.person.get_username()
        role = share.get_role_display()
        if share.pending:
            messages.success(request, f"{name} is invited as {role}. {PENDING_NOTICE}", "invited")
        else:
            messages.success(request, f"Shared with {name}, as {role}.", "shared")
        return redirect("admin:sharing", question_set.public_id)
    team = question_set.team
    teams = select_visible(request, Team.objects.all()).order_by("name")
    context = {
        "title": "Sharing",
        "subtitle": question_set.name,
        "breadcrumbs": build_breadcrumbs(question_set),
        "question_set": question_set,
        "form": form,
        "teams": teams.exists(),
        "team_form": SharingTeamForm(teams, initial={"team": team and team.public_id}),
        "shares": list(question_set.shares.select_related("user").order_by("user__username")),
    }
    return TemplateResponse(
        request, "annotations/sharing.html", context, status=400 if form.errors else 200
    )


@require_POST
def set_sharing_team(request: HttpRequest, set_id: UUID) -> HttpResponse:
    """Set the team whose members edit the question set, or remove it."""
    question_set = get_manageable(request, QuestionSet.objects.all(), set_id)
    form = SharingTeamForm(select_visible(request, Team.objects.all()), request.POST)
    if form.is_valid():
        question_set.team = form.cleaned_data["team"]
        question_set.save(update_fields=["team", "updated_at"])
        team = question_set.team
        messages.success(
            request,
            f"{team.name} works on it now." if team else "Only its owner edits it now.",
            "team_set" if team else "team_removed",
        )
    else:
        text = "Nothing was changed. Choose a team that you are in."
        messages.error(request, text, "unknown_team")
    return redirect("admin:sharing", question_set.public_id)


def remove_share(request: HttpRequest, set_id: UUID, share_id: UUID) -> HttpResponse:
    """Ask for confirmation; POST ends the sharing of a question set with one account."""
    question_set = get_manageable(request, QuestionSet.objects.all(), set_id)
    share = get_object_or_404(question_set.shares.select_related("user"), public_id=share_id)
    name = share.user.get_username()
    back = reverse("admin:sharing", args=[question_set.public_id])
    if request.method == "POST":
        share.delete()
        messages.success(request, f"It is no longer shared with {name}.", "share_removed")
        return redirect(back)
    context = {
        "title": f"Stop sharing with {name}?",
        "breadcrumbs": [*build_breadcrumbs(question_set), ("Sharing", back)],
        "text": f"{name} will no longer see {question_set.name}. What {name} saved from it before "
        "stays with them.",
        "button": "Stop sharing",
        "back": back,
    }
    return TemplateResponse(request, "annotations/confirm.html", context)
