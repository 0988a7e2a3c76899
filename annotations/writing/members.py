"""Who writes and who checks."""

from __future__ import annotations

from uuid import UUID

from django.contrib.auth.models import User
from django.db.models import Q

from annotations.models import (
    QuestionSet,
    Team,
    WritingMember,
    WritingProject,
    is_only_invited,
    rights,
)
from annotations.models.access import Anybody

Role = WritingMember.Role


def project_of(user: Anybody, project: UUID) -> WritingMember | None:
    """Return the membership that a user accepted, with project and set; None without one."""
    if not user.is_authenticated or not user.is_active:
        return None
    return (
        WritingMember.objects.accepted()
        .filter(user=user.pk, project__public_id=project)
        .select_related("project__version__question_set")
        .first()
    )


def member_of(user: Anybody) -> list[WritingMember]:
    """Return all memberships that a user accepted, newest first."""
    if not user.is_authenticated or not user.is_active:
        return []
    return list(
        WritingMember.objects.accepted()
        .filter(user=user.pk)
        .select_related("project__version__question_set")
        .order_by("-pk")
    )


def sees_votes(user: Anybody, question_set: QuestionSet) -> bool:
    """Whether somebody sees by another role what validators say."""
    return rights(user, question_set).answers


def why_not(project: WritingProject, person: User, role: str) -> str:
    """Return why somebody cannot be invited, for the one who invites; "" if they can."""
    before = project.members.filter(user=person).first()
    name = person.get_username()
    if before is not None and before.role == role:
        invited = "is invited as" if before.pending else "is"
        return f"“{name}” {invited} a {before.get_role_display()} already."
    if before is not None and _did_something(project, person):
        return (
            f"“{name}” is a {before.get_role_display()} and has begun: who writes cannot check, "
            "nor the other way round."
        )
    if role == Role.VALIDATOR and sees_votes(person, project.version.question_set):
        return (
            f"“{name}” sees everything of this question set, what others say of a problem too, so "
            "cannot check blindly."
        )
    return ""


def invite(project: WritingProject, person: User, role: str) -> WritingMember:
    """Let somebody write or check, once they accept it if they have never signed in.

    Call `why_not` first.
    """
    return WritingMember.objects.update_or_create(
        project=project,
        user=person,
        defaults={"role": role},
        create_defaults={"role": role, "pending": is_only_invited(person)},
    )[0]


def invite_team(project: WritingProject, team: Team, role: str) -> tuple[list[str], list[str]]:
    """Invite everybody of a team, its owner too; return who was, and why others were not."""
    people = (
        User.objects.filter(is_active=True)
        .filter(Q(pk=team.owner_id) | Q(memberships__team=team, memberships__pending=False))
        .distinct()
        .order_by("username")
    )
    invited, refused = [], []
    for person in people:
        reason = why_not(project, person, role)
        if reason:
            refused.append(reason)
        else:
            invite(project, person, role)
            invited.append(person.get_username())
    return invited, refused


def _did_something(project: WritingProject, person: User) -> bool:
    return (
        project.problems.filter(author=person).exists()
        or project.problems.filter(votes__validator=person).exists()
    )
