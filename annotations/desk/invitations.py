"""View that accepts or declines an invitation to a shared set, a team or a writing project."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from annotations.models import Membership, Share, list_invitations


@require_POST
def answer_invitation(request: HttpRequest, invitation_id: UUID) -> HttpResponse:
    """Accept one of the user's pending invitations (`do=accept`), or decline it."""
    pending = {row.public_id: row for row in list_invitations(request.user)}
    invitation = pending.get(invitation_id)
    if invitation is None:
        raise Http404("there is no such invitation")
    if request.POST.get("do") == "accept":
        # The owner may have withdrawn it since it was loaded.
        if not invitation.accept():
            raise Http404("it was taken back meanwhile")
        messages.success(
            request, f"You accepted to {invitation.request_phrase} “{invitation.subject_name}”."
        )
        return redirect(*_find_accepted_page(invitation))
    invitation.delete()
    messages.success(
        request, f"You declined to {invitation.request_phrase} “{invitation.subject_name}”."
    )
    return redirect("admin:index")


def _find_accepted_page(accepted: Any) -> tuple[Any, ...]:
    """Return URL name and id of the page to open after an invitation was accepted."""
    if isinstance(accepted, Share):
        return "admin:question-set", accepted.question_set.public_id
    if isinstance(accepted, Membership):
        return "admin:team", accepted.team.public_id
    return "admin:writing-desk", accepted.project.public_id
