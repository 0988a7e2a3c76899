"""Find the question set and version of a payment page, and check the user's rights."""

from __future__ import annotations

from uuid import UUID

from django.http import Http404, HttpRequest

from annotations.ledger.decisions import answered_among
from annotations.models import QuestionSet, QuestionSetVersion, rights
from annotations.web.query import parse_number
from annotations.web.scope import RefusedError, UserRequest, answered_editable, select_visible

LARGEST_VERSION = 1_000_000
"""Largest version number in a query; a larger one is refused without a database query."""


def get_payable_set(request: UserRequest, set_id: UUID) -> QuestionSet:
    """Return a question set that the user may edit, and whose workers may thus be paid.

    Raises Http404 if the user may not see the set, `RefusedError` if the user may only view it.
    Viewers see no decisions and payments.
    """
    return answered_editable(request, set_id)


def get_payable_version(request: HttpRequest, set_id: UUID) -> QuestionSetVersion:
    """Return the version requested in the URL query, else the newest one with answers.

    Raises Http404, also for an unknown version, and the errors of `get_payable_set`.
    """
    number_in_query = parse_number(request.GET, "version", 1, LARGEST_VERSION, blank=True)
    versions = select_visible(request, QuestionSetVersion.objects.all(), of_one_row=True)
    version = answered_among(versions.filter(question_set__public_id=set_id), number_in_query)
    if version is None:
        get_payable_set(request, set_id)
        raise Http404("there is no such version")
    # The usual case needs one query for version, question set and rights.
    user_rights = rights(request.user, version.question_set)
    if not user_rights.answers:
        raise Http404
    if not user_rights.edit:
        raise RefusedError("change")
    return version
