"""What a request needs to succeed, and rows that several operations need."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from django.contrib.auth.models import User
from django.utils import timezone

from evaluation.deletion.storage import removals
from tests.annotations.world import version as draft_of


@dataclass(frozen=True)
class Sent:
    """A request that succeeds: its body, its query, what stands in its address, and whose it is."""

    body: dict[str, Any] | None = None
    query: dict[str, str] = field(default_factory=dict)
    ids: dict[str, Any] = field(default_factory=dict)
    by: User | None = None


Ready = Callable[[SimpleNamespace], Sent]
SUCCESSES: dict[str, Ready] = {}


def succeeds(operation: str) -> Callable[[Ready], Ready]:
    """Say how the operation of that id succeeds."""

    def keep(ready: Ready) -> Ready:
        assert operation not in SUCCESSES
        SUCCESSES[operation] = ready
        return ready

    return keep


def draft(world: SimpleNamespace) -> dict[str, Any]:
    """A set of Rana's with a draft of two questions and a passage, by the names in addresses."""
    version = draft_of(world.rana, "a draft")
    passage = version.passages.create(external_id="p1", text="It rises in Wales.", position=1)
    question = version.questions.order_by("position").first()
    of_set = version.question_set
    return {
        "set_id": of_set.public_id,
        "question_id": question.public_id,
        "passage_id": passage.public_id,
    }


def person(name: str) -> User:
    """Somebody who has signed in before, and so takes part at once."""
    return User.objects.create_user(name, last_login=timezone.now())


def archived(world: SimpleNamespace, thing: Any) -> Any:
    removals.archive_object(thing, world.rana.pk)
    return thing
