"""What one is invited to: accepted or declined, whatever it is."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from annotations.models import Membership, Share, invitations


@require_POST
def answer_invitation(request: HttpRequest, invitation_id: UUID) -> HttpResponse:
    """Accept an invitation, or decline it; of one's own only."""
    mine = {row.public_id: row for row in invitations(request.user)}
    invited = mine.get(invitation_id)
    if invited is None:
        raise Http404("there is no such invitation")
    if request.POST.get("do") == "accept":
        if not invited.accept():
            raise Http404("it was taken back meanwhile")
        messages.success(request, f"You accepted to {invited.asked_to} “{invited.named}”.")
        return redirect(*_way_to(invited))
    invited.delete()
    messages.success(request, f"You declined to {invited.asked_to} “{invited.named}”.")
    return redirect("admin:index")


def _way_to(accepted: Any) -> tuple[Any, ...]:
    """Return the name and the values of the page that an invitation opens."""
    if isinstance(accepted, Share):
        return "admin:question-set", accepted.question_set.public_id
    if isinstance(accepted, Membership):
        return "admin:team", accepted.team.public_id
    return "admin:writing-desk", accepted.project.public_id
