"""Locking of a question set's draft, so that only one editor changes it at a time."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from django.db import transaction

from annotations.exchange.importing.target import lock_question_set
from annotations.models import QuestionSet, QuestionSetVersion


class PublishedError(Exception):
    """Error: the version is published, so that its texts cannot change."""


class StaleError(Exception):
    """Error: another user changed the row since it was read; nothing is stored."""


@contextmanager
def lock_draft(question_set: QuestionSet, *, anew: bool = False) -> Iterator[QuestionSetVersion]:
    """Yield the draft of a question set, locked in a transaction.

    A set without a version gets its first one. If the latest version is published, raises
    `PublishedError`; with `anew`, a copy of it becomes the next version instead.
    """
    with transaction.atomic():
        locked_set = lock_question_set(question_set)
        latest = locked_set.latest_version()
        if latest is not None and latest.is_published and not anew:
            raise PublishedError
        yield locked_set.draft()


def hash_fields(row: Any, fields: Iterable[str]) -> str:
    """Return a short hash of a row's fields, by which changes of other editors are detected.

    A form carries the hash and sends it back.
    """
    values = {name: getattr(row, name) for name in fields}
    # `default` covers dates, decimals and related objects.
    text = json.dumps(values, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def find_free_id(used_ids: Iterable[str], letter: str) -> str:
    """Return an unused id made of the letter and a number, such as q7."""
    ids = set(used_ids)
    number = len(ids) + 1
    while f"{letter}{number}" in ids:
        number += 1
    return f"{letter}{number}"
