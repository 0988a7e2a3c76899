"""Groups of participants that a panel keeps for the next study, with a record of who made them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction

from annotations.models import AuditEntry, QuestionSet
from annotations.panels.client import NotDoneError, PanelClient

KIND = "panel group"
"""What entries about groups are of; their id is that of the set whose people were invited."""
Action = AuditEntry.Action


@dataclass(frozen=True, slots=True)
class GroupAsked:
    """A group of which `n_people` were to be; `key` is the panel's id, "" where none came back."""

    name: str
    n_people: int
    key: str
    by: str
    at: datetime


class AskedBeforeError(ValueError):
    """A group of this name was asked for: it was made, or nobody knows whether it was.

    `earlier` is that group.
    """

    def __init__(self, message: str, earlier: GroupAsked) -> None:
        super().__init__(message)
        self.earlier = earlier


def make_group(
    question_set: QuestionSet,
    user: Any,
    client: PanelClient,
    workspace: str,
    name: str,
    participants: Sequence[str],
) -> str:
    """Have the panel make a group, and return its id there.

    That it is asked for is stored before the panel hears of it, so that after a kill, or where no
    answer came, the same name is not asked for again by itself: a second request would make a
    second group. What the panel refused may be asked for again. Raises AskedBeforeError,
    NotDoneError (nothing was made), UnsureError.
    """
    with transaction.atomic():
        # Two who press at once wait for each other.
        QuestionSet.objects.select_for_update(of=("self",), no_key=True).get(pk=question_set.pk)
        earlier = next((one for one in groups_of(question_set) if one.name == name), None)
        if earlier is not None:
            made = f"was made ({earlier.key})" if earlier.key else "was asked for without an answer"
            said = (
                f"a group {name!r} of {earlier.n_people:,} people {made} by {earlier.by} on "
                f"{earlier.at:%d %B %Y}: look on the panel, and take another name for another group"
            )
            raise AskedBeforeError(said, earlier)
        _enter(question_set, user, Action.GROUP_ASKED, name, len(participants))
    try:
        key = client.make_group(workspace, name, participants)
    except NotDoneError:
        _enter(question_set, user, Action.GROUP_REFUSED, name, len(participants))
        raise
    _enter(question_set, user, Action.GROUP_MADE, name, len(participants), key)
    return key


def groups_of(question_set: QuestionSet) -> list[GroupAsked]:
    """Return the groups of a set's people that stand, the newest first; not what was refused."""
    entries = AuditEntry.objects.filter(kind=KIND, object_id=question_set.public_id)
    found: dict[str, GroupAsked] = {}
    for one in entries.select_related("done_by").order_by("pk"):
        if one.action == Action.GROUP_REFUSED:
            found.pop(one.name, None)
            continue
        by = one.done_by.get_username() if one.done_by else ""
        people = one.counts["people"]
        found[one.name] = GroupAsked(one.name, people, one.reference, by, one.created_at)
    return sorted(found.values(), key=lambda one: one.at, reverse=True)


def _enter(
    question_set: QuestionSet, user: Any, action: str, name: str, people: int, key: str = ""
) -> None:
    AuditEntry.objects.create(
        owner_id=question_set.owner_id,
        done_by=user,
        action=action,
        kind=KIND,
        object_id=question_set.public_id,
        name=name,
        counts={"people": people},
        reference=key,
    )
