"""From an address to the people who are paid: whose set it is, and which version."""

from __future__ import annotations

from uuid import UUID

from django.http import Http404, HttpRequest

from annotations.ledger.deciding import answered_version
from annotations.models import QuestionSet, QuestionSetVersion
from annotations.web.query import number
from annotations.web.scope import Asked, answered_set, editable

LARGEST_VERSION = 1_000_000
"""Numbers of versions beyond it are refused before anything is looked for."""


def paid_set(request: Asked, set_id: UUID) -> QuestionSet:
    """Return a set whose people the one who asks may decide about: who may change the set.

    Raises Http404 where it may not be seen, `RefusedError` where it may only be looked at: what
    is decided of people and paid to them is for nobody else's eyes.
    """
    answered_set(request, set_id)
    return editable(request, QuestionSet.objects.all(), set_id)


def paid_version(request: HttpRequest, set_id: UUID) -> QuestionSetVersion:
    """Return the version that the address names, else the newest in which somebody took part.

    Raises Http404, also where there is no such version, and what `paid_set` does.
    """
    question_set = paid_set(request, set_id)
    asked = number(request.GET, "version", 1, LARGEST_VERSION, blank=True)
    found = answered_version(question_set, asked)
    if found is None:
        raise Http404("there is no such version")
    return found
