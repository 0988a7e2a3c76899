"""The draft of a set, for one editor at a time."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from django.db import transaction

from annotations.exchange.importing.target import locked
from annotations.models import QuestionSet, QuestionSetVersion


class PublishedError(Exception):
    """The version was published, perhaps a moment ago: it keeps its words."""


class StaleError(Exception):
    """Somebody else changed it since it was read; nothing was stored."""


@contextmanager
def draft_of(question_set: QuestionSet, *, anew: bool = False) -> Iterator[QuestionSetVersion]:
    """Yield the draft inside a transaction that holds the lock of the set.

    A set without any version gets its first one. Where the latest version is published,
    `PublishedError` is raised, unless `anew` asks for the next version, as its copy.
    """
    with transaction.atomic():
        mine = locked(question_set)
        latest = mine.latest_version()
        if latest is not None and latest.is_published and not anew:
            raise PublishedError
        yield mine.draft()


def seen(row: Any, fields: Iterable[str]) -> str:
    """Return a mark of what some fields of a row hold: it changes when one of them does."""
    values = {name: getattr(row, name) for name in fields}
    text = json.dumps(values, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def free_id(taken: Iterable[str], letter: str) -> str:
    """Return an id that no file and no answer of the version uses, such as q7."""
    used = set(taken)
    number = len(used) + 1
    while f"{letter}{number}" in used:
        number += 1
    return f"{letter}{number}"
