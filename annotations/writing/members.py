"""Members of a writing project: writers and validators."""

from __future__ import annotations

from uuid import UUID

from django.contrib.auth.models import User
from django.db.models import Q

from annotations.models import (
    QuestionSet,
    Team,
    WritingMember,
    WritingProject,
    has_never_signed_in,
    rights,
)
from annotations.models.access import AnyUser

Role = WritingMember.Role


def find_membership(user: AnyUser, project: UUID) -> WritingMember | None:
    """Return a user's accepted membership of a project, with its question set; None without one."""
    if not user.is_authenticated or not user.is_active:
        return None
    return (
        WritingMember.objects.filter_accepted()
        .filter(user=user.pk, project__public_id=project)
        .select_related("project__version__question_set")
        .first()
    )


def list_memberships(user: AnyUser) -> list[WritingMember]:
    """Return all accepted memberships of a user in writing projects, newest first."""
    if not user.is_authenticated or not user.is_active:
        return []
    return list(
        WritingMember.objects.filter_accepted()
        .filter(user=user.pk)
        .select_related("project__version__question_set")
        .order_by("-pk")
    )


def can_see_votes(user: AnyUser, question_set: QuestionSet) -> bool:
    """Return whether a user can see the votes because of another role in the question set."""
    return rights(user, question_set).answers


def find_invitation_error(project: WritingProject, person: User, role: str) -> str:
    """Return the reason why a user cannot be invited in a role; "" if it is possible."""
    member = project.members.filter(user=person).first()
    name = person.get_username()
    if member is not None and member.role == role:
        invited = "is invited as" if member.pending else "is"
        return f"“{name}” {invited} a {member.get_role_display()} already."
    if member is not None and _has_contributed(project, person):
        return (
            f"“{name}” is a {member.get_role_display()} and has begun: who writes cannot check, "
            "nor the other way round."
        )
    # Votes are independent only if validators vote before they see other votes.
    if role == Role.VALIDATOR and can_see_votes(person, project.version.question_set):
        return (
            f"“{name}” sees everything of this question set, including others' votes, so cannot "
            f"check blindly."
        )
    return ""


def invite_user(project: WritingProject, person: User, role: str) -> WritingMember:
    """Add a user to a project in a role, or change the role of a member; return the member.

    A user who has never signed in must accept the invitation first. The caller has checked that the
    user can be invited.
    """
    return WritingMember.objects.update_or_create(
        project=project,
        user=person,
        defaults={"role": role},
        # Only a new member is pending: a changed role needs no new invitation.
        create_defaults={"role": role, "pending": has_never_signed_in(person)},
    )[0]


def invite_team(project: WritingProject, team: Team, role: str) -> tuple[list[str], list[str]]:
    """Invite a team's active members and owner in a role; return (invited names, refusals).

    The refusals are sentences, one for each user who cannot be invited.
    """
    people = (
        User.objects.filter(is_active=True)
        .filter(Q(pk=team.owner_id) | Q(memberships__team=team, memberships__pending=False))
        # The owner may also be a member, and joins over memberships repeat accounts.
        .distinct()
        .order_by("username")
    )
    invited, refused = [], []
    for person in people:
        reason = find_invitation_error(project, person, role)
        if reason:
            refused.append(reason)
        else:
            invite_user(project, person, role)
            invited.append(person.get_username())
    return invited, refused


def _has_contributed(project: WritingProject, person: User) -> bool:
    """Return whether a user has written a problem or voted in a project."""
    return (
        project.problems.filter(author=person).exists()
        or project.problems.filter(votes__validator=person).exists()
    )
