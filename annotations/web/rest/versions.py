"""Choice of the version of a question set that an API request names."""

from __future__ import annotations

from django.http import Http404
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request

from annotations.models import QuestionSet, QuestionSetVersion
from annotations.web.query import parse_number

VERSION = OpenApiParameter(
    "version",
    {"type": "integer", "minimum": 1, "maximum": 2**31 - 1},
    description="Number of the version. If it is left out: the latest published one, for answers "
    "the latest published one that has any; a draft only where nothing is published. The header "
    "`X-Question-Set-Version` of the answer has the number.",
)


def find_requested_version(
    request: Request, question_set: QuestionSet, *, answered: bool = False
) -> QuestionSetVersion | None:
    """Return the version that the URL's query names, else the set's default one; None without any.

    A response header has its number. Raises Http404 for a number that the set does not have.
    """
    version_number = parse_number(
        request.query_params, "version", 1, 2**31 - 1, "write a whole number above 0"
    )
    if version_number is None:
        version = question_set.get_default_version(answered=answered)
    else:
        version = question_set.versions.filter(number=version_number).first()
        if version is None:
            raise Http404
    request.version_shown = version  # type: ignore[attr-defined]
    return version
