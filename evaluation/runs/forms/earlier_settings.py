"""Start the form of a new run with the settings of an earlier run."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from django.http import HttpRequest

from annotations.models import QuestionSet
from evaluation.core.options import Parameters
from evaluation.models import Run
from evaluation.runs.reports.run_titles import build_title
from evaluation.runs.run_types import Kind


@dataclass(frozen=True)
class Like:
    """The settings with which a form starts: those of an earlier run, or the defaults.

    Attributes
    ----------
    called : the run whose settings these are, "" for the defaults. unreadable : a run whose
        settings this version of the platform does not know, so that these are the defaults.
    """

    parameters: Parameters
    called: str = ""
    unreadable: str = ""


def run_like(request: HttpRequest, question_set: QuestionSet, kind: Kind) -> Run | None:
    """Return the set's run that the query parameter `like` names; None without one."""
    try:
        asked = UUID(request.GET.get("like", ""))
    except ValueError:
        return None
    runs = Run.objects.visible_to(request.user).filter(
        version__question_set=question_set, kind=kind.name
    )
    return runs.filter(public_id=asked).first()


def like_of(request: HttpRequest, question_set: QuestionSet, kind: Kind) -> Like:
    """Return the settings of the run that the query parameter `like` names, or the defaults."""
    run = run_like(request, question_set, kind)
    if run is None:
        return Like(kind.options())
    title = build_title(run, kind.options).title
    try:
        return Like(kind.options.of_dict(run.parameters), title)
    except KeyError:  # it is of another version of the platform
        return Like(kind.options(), unreadable=title)
