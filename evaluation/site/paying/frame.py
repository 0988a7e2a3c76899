"""What the pages of the payment desk share: whose set it is, which version, the way back."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest
from django.urls import reverse

from annotations.ledger.deciding import answered_version
from annotations.models import QuestionSet, QuestionSetVersion
from annotations.web.pages import breadcrumbs
from annotations.web.query import number
from annotations.web.scope import Asked, answered_set, editable

MOST = 1_000_000


def paid_set(request: Asked, set_id: UUID) -> QuestionSet:
    """Return a set whose people the one who asks may decide about: who may change the set.

    Raises Http404 where it may not be seen, `RefusedError` where it may only be looked at: what
    is decided of people and paid to them is for nobody else's eyes.
    """
    answered_set(request, set_id)
    return editable(request, QuestionSet.objects.all(), set_id)


def paid_version(request: HttpRequest, set_id: UUID) -> QuestionSetVersion:
    """Return the version that the address names, else the newest in which somebody took part."""
    question_set = paid_set(request, set_id)
    asked = number(request.GET, "version", 1, MOST, blank=True)
    found = answered_version(question_set, asked)
    if found is None:
        raise Http404("there is no such version")
    return found


def frame(version: QuestionSetVersion, title: str, *, inside: bool = True) -> dict[str, Any]:
    """Return what every page of the desk says; `inside` pages lead back to the list of people."""
    question_set = version.question_set
    newest = answered_version(question_set)
    kept = "" if newest is not None and newest.pk == version.pk else f"?version={version.number}"
    way = breadcrumbs(question_set)
    if inside:
        way.append(("Pay people", reverse("admin:paying", args=[question_set.public_id]) + kept))
    return {
        "title": title,
        "subtitle": f"{question_set.name}, version {version.number}",
        "breadcrumbs": way,
        "notice": question_set.notice,
        "question_set": question_set,
        "version": version,
        # Stands behind every address of the desk where another version is looked at.
        "kept": kept,
    }
