"""Which version of a question set is meant."""

from __future__ import annotations

from django.http import Http404
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request

from annotations.models import QuestionSet, QuestionSetVersion
from annotations.web.query import number

VERSION = OpenApiParameter(
    "version",
    {"type": "integer", "minimum": 1, "maximum": 2**31 - 1},
    description="Number of the version; the latest, if it is left out.",
)


def version_shown(request: Request, question_set: QuestionSet) -> QuestionSetVersion | None:
    """Return the version that `version` in the query names, else the latest; None without any.

    Raises Http404 for a number that the set does not have.
    """
    asked = number(request.query_params, "version", 1, 2**31 - 1, "write a whole number above 0")
    if asked is None:
        return question_set.latest_version()
    found = question_set.versions.filter(number=asked).first()
    if found is None:
        raise Http404
    return found
