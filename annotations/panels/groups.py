"""Groups of participants on a panel, to invite them to the next study, and the log of requests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction

from annotations.models import AuditEntry, QuestionSet
from annotations.panels.client import NotDoneError, PanelClient

KIND = "panel group"
"""The kind of log entries about groups; their object id is that of the question set."""
Action = AuditEntry.Action


@dataclass(frozen=True, slots=True)
class RequestedGroup:
    """A group of participants requested from the panel; `key` is its id, "" without a reply.

    `n_people` is the number of its participants.
    """

    name: str
    n_people: int
    key: str
    by: str
    at: datetime


class RequestedBeforeError(ValueError):
    """Error: a group of this name was requested before and may exist.

    `earlier` is that earlier request.
    """

    def __init__(self, message: str, earlier: RequestedGroup) -> None:
        super().__init__(message)
        self.earlier = earlier


def create_panel_group(
    question_set: QuestionSet,
    user: Any,
    client: PanelClient,
    workspace: str,
    name: str,
    participants: Sequence[str],
) -> str:
    """Create a group of participants on the panel and log it; return the panel's id of it.

    The request is logged before the panel receives it. After a crash, or without an answer, the
    same name is therefore not requested again: a second request would create a second group. A
    refused group can be requested again. Raises RequestedBeforeError, NotDoneError (nothing was
    created), UnsureError.
    """
    with transaction.atomic():
        # Lock the set, so that two simultaneous requests see each other's log entry.
        QuestionSet.objects.select_for_update(of=("self",), no_key=True).get(pk=question_set.pk)
        earlier = next(
            (group for group in load_requested_groups(question_set) if group.name == name), None
        )
        if earlier is not None:
            state = (
                f"was made ({earlier.key})" if earlier.key else "was asked for without an answer"
            )
            message = (
                f"a group {name!r} of {earlier.n_people:,} people {state} by {earlier.by} on "
                f"{earlier.at:%d %B %Y}: look on the panel, and take another name for another group"
            )
            raise RequestedBeforeError(message, earlier)
        _log_group_request(question_set, user, Action.GROUP_ASKED, name, len(participants))
    try:
        key = client.create_group(workspace, name, participants)
    # An UnsureError is not logged: the open request then prevents a repetition.
    except NotDoneError:
        _log_group_request(question_set, user, Action.GROUP_REFUSED, name, len(participants))
        raise
    _log_group_request(question_set, user, Action.GROUP_MADE, name, len(participants), key)
    return key


def load_requested_groups(question_set: QuestionSet) -> list[RequestedGroup]:
    """Return the groups requested for a question set, newest first, without refused ones."""
    entries = AuditEntry.objects.filter(kind=KIND, object_id=question_set.public_id)
    groups: dict[str, RequestedGroup] = {}
    for entry in entries.select_related("done_by").order_by("pk"):
        if entry.action == Action.GROUP_REFUSED:
            groups.pop(entry.name, None)
            continue
        by = entry.done_by.get_username() if entry.done_by else ""
        people = entry.counts["people"]
        groups[entry.name] = RequestedGroup(
            entry.name, people, entry.reference, by, entry.created_at
        )
    return sorted(groups.values(), key=lambda group: group.at, reverse=True)


def _log_group_request(
    question_set: QuestionSet, user: Any, action: str, name: str, people: int, key: str = ""
) -> None:
    """Store a request for a group, or its result, in the audit log."""
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
