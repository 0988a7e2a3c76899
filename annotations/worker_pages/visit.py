"""Whose page an address is, and whether anything can be done there now.

The address holds a signed name of the submission, and nothing else says who somebody is: there is
no session that could end and no token of a form that could expire while somebody types. A page of
another site cannot send a form here in somebody's name, for it cannot know the address.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import wraps
from typing import Concatenate, ParamSpec

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from annotations.answering import drafts
from annotations.answering.links import submission_of
from annotations.answering.places import holds_place, n_free, retake
from annotations.answering.refused import AnsweringError
from annotations.answering.way import FEEDBACK, PAGE, REVIEW, TEXT, Step, Way
from annotations.ledger.appealing import standing_of
from annotations.models import Collection, Submission
from annotations.worker_pages.nowhere import nowhere
from annotations.worker_pages.outcomes import outcome
from annotations.worker_pages.showing import not_kept, shown, speaking

P = ParamSpec("P")
ANSWER = "answer-"


@dataclass(slots=True)
class Visit:
    """One request of a worker for one of their own pages."""

    submission: Submission
    place: str
    way: Way = field(init=False)

    def __post_init__(self) -> None:
        self.way = Way(self.submission)

    @property
    def collection(self) -> Collection:
        """What they take part in."""
        return self.way.collection

    def to_next(self) -> HttpResponse:
        """Lead to what comes next, as it is now stored."""
        self.way = Way(self.submission)
        return self.to(self.way.next_step())

    def to(self, step: Step) -> HttpResponse:
        """Lead to a step."""
        names = {TEXT: "text", PAGE: "page", FEEDBACK: "feedback"}
        if step.kind == REVIEW:
            return not_kept(redirect("worker:review", self.place))
        return not_kept(redirect(f"worker:{names[step.kind]}", self.place, step.page))


View = Callable[Concatenate[HttpRequest, Visit, P], HttpResponse]


def own(view: View[P]) -> Callable[..., HttpResponse]:
    """Make a view one of a worker's own pages, whatever became of their place."""

    @csrf_exempt
    @require_http_methods(["GET", "HEAD", "POST"])
    @wraps(view)
    def wrapped(request: HttpRequest, seat: str, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        submission = submission_of(seat)
        if submission is None:
            return nowhere(request)
        with speaking(submission.version, submission.language):
            return view(request, Visit(submission, seat), *args, **kwargs)

    return wrapped


def answering(view: View[P]) -> Callable[..., HttpResponse]:
    """Make a view a page of the way, for who is still on it; else tell how it ended.

    A form that comes too late is kept as a draft where that is possible, and shown in any case.
    """

    @own
    def wrapped(
        request: HttpRequest, visit: Visit, /, *args: P.args, **kwargs: P.kwargs
    ) -> HttpResponse:
        refused = why_not(visit)
        if not refused and not holds_place(visit.submission):
            if request.method != "POST":
                return _ask_to_come_back(request, visit)
            try:
                visit.submission = retake(visit.submission)
                visit.way = Way(visit.submission)
            except AnsweringError as error:
                refused = error.code
        if refused:
            return ended(request, visit, refused)
        return view(request, visit, *args, **kwargs)

    return wrapped


def why_not(visit: Visit) -> str:
    """Return the code of how it ended; "" for who is still on the way."""
    submission = visit.submission
    if submission.withdrawn_at is not None:
        return "withdrawn"
    if submission.source == Submission.Source.IMPORTED:
        return "excluded"
    if submission.state == Submission.State.SUBMITTED:
        return "done"
    if submission.state == Submission.State.SCREENED_OUT:
        return "screened_out"
    if visit.collection.state == Collection.State.CLOSED:
        return "closed"
    return ""


def ended(request: HttpRequest, visit: Visit, code: str) -> HttpResponse:
    """Tell how it ended; what a form brought is kept as a draft and shown."""
    texts = posted_texts(request)
    if code == "done":
        stored = set(visit.submission.responses.values_list("text", flat=True))
        if stored.issuperset(texts.values()):  # a second click, or a form sent again
            return not_kept(redirect("worker:thanks", visit.place))
    if code in ("closed", "place_lost"):
        _keep(visit, request, texts)
    context = {
        "texts": [text for text in texts.values() if text],
        "place": visit.place,
        "go_on": code == "done",
    }
    if code in ("screened_out", "closed"):
        context["standing"] = standing_of(visit.submission)
    return outcome(request, code, visit.collection, context=context)


def posted_texts(request: HttpRequest) -> dict[str, str]:
    """Return the answers in a form by the names of their fields."""
    return {
        name: drafts.cleaned(str(text))
        for name, text in request.POST.items()
        if name.startswith(ANSWER)
    }


def _keep(visit: Visit, request: HttpRequest, texts: dict[str, str]) -> None:
    for page in visit.way.pages:
        for one in page.assignments:
            name = f"{ANSWER}{one.question.public_id}"
            is_open = visit.way.has_reached(page) and not page.answers_are_final
            if texts.get(name) and is_open:
                revision = revision_of(request, one.question.public_id)
                drafts.save(visit.submission, one.question, texts[name], revision)


def revision_of(request: HttpRequest, public_id: object) -> int | None:
    """Return the revision that a form was made from; None where it does not say."""
    return whole_number(request.POST.get(f"revision-{public_id}", ""))


def whole_number(value: str) -> int | None:
    """Return what a form says as a number; None for anything else."""
    return int(value) if value.isascii() and value.isdecimal() and len(value) < 10 else None


def _ask_to_come_back(request: HttpRequest, visit: Visit) -> HttpResponse:
    if not n_free(visit.collection):
        return outcome(request, "place_lost", visit.collection)
    return shown(request, "come_back.html", visit.collection, {"place": visit.place})
