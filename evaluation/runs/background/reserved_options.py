"""Check which options of a run are reserved for operators."""

from __future__ import annotations

from django.conf import settings

from annotations.models import is_operator
from annotations.models.access import AnyUser
from evaluation.core.options import Parameters, Problem


def find_reserved_options(user: AnyUser, options: Parameters) -> list[Problem]:
    """Return a problem for each option reserved for operators; none for an operator.

    Others name no file and no server, and of models that are loaded by a hub's name or from a
    folder those that the installation offers (CROWDGRADE_MODELS).
    """
    return [] if is_operator(user) else options.reserved(settings.OFFERED_MODELS)
