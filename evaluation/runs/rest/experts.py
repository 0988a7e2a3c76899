"""Find the users that a request names as experts."""

from __future__ import annotations

from rest_framework.request import Request

from annotations.models import Share
from annotations.web.rest.problems import build_field_problem
from annotations.web.scope import get_user_id
from evaluation.models import Run


def find_experts(request: Request, run: Run, names: list[str], field: str = "") -> list[int]:
    """Return the primary keys of a set's experts with these names. Raises `ApiProblem`.

    `field` is the one that holds a single name.
    """
    shares = Share.objects.of_experts(run.version.question_set)
    known = dict(shares.filter(user__username__in=names).values_list("user__username", "user"))
    known[request.user.get_username()] = get_user_id(request)
    for at, name in enumerate(names):
        if name not in known:
            raise build_field_problem(
                field or f"experts/{at}", "The set is not shared with an expert of this name."
            )
    return [known[name] for name in names]
