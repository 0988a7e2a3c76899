"""Look-up of a submission by the token in the URL, and whether its worker can still answer.

The address holds a signed token of the submission and is the only identification. There is no
session and no form token that could expire while a worker types. Another site cannot forge a
worker's form, because it cannot know the address.
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
from annotations.answering.errors import AnsweringError
from annotations.answering.links import find_submission_by_token
from annotations.answering.places import count_free_places, has_place, reserve_place_again
from annotations.answering.progress import FEEDBACK, PAGE, REVIEW, TEXT, NextStep, SurveyProgress
from annotations.ledger.appeals import find_newest_rejection
from annotations.models import Collection, Submission
from annotations.worker_pages.not_found import render_not_found
from annotations.worker_pages.outcomes import render_end_page
from annotations.worker_pages.rendering import disable_caching, render_worker_page, use_language

P = ParamSpec("P")
ANSWER = "answer-"
"""Prefix of the form field of an answer; the question's id follows."""


@dataclass(slots=True)
class Visit:
    """A worker's request for a page of a submission; `token` comes from the URL."""

    submission: Submission
    token: str
    progress: SurveyProgress = field(init=False)

    def __post_init__(self) -> None:
        self.progress = SurveyProgress(self.submission)

    @property
    def collection(self) -> Collection:
        """Collection to which the submission belongs."""
        return self.progress.collection

    def redirect_to_next_step(self) -> HttpResponse:
        """Redirect to the worker's next step, loaded again from the database."""
        self.progress = SurveyProgress(self.submission)
        return self.redirect_to_step(self.progress.find_next_step())

    def redirect_to_step(self, step: NextStep) -> HttpResponse:
        """Redirect to the page of a worker's step."""
        names = {TEXT: "text", PAGE: "page", FEEDBACK: "feedback"}
        if step.kind == REVIEW:
            return disable_caching(redirect("worker:review", self.token))
        return disable_caching(redirect(f"worker:{names[step.kind]}", self.token, step.page))


View = Callable[Concatenate[HttpRequest, Visit, P], HttpResponse]


def require_submission(view: View[P]) -> Callable[..., HttpResponse]:
    """Return a view that finds the submission by its token, in any state.

    The view answers 404 for a forged token, and runs in the language of the submission.
    """

    # No CSRF token: it would expire while the worker types. The address itself is the secret.
    @csrf_exempt
    @require_http_methods(["GET", "HEAD", "POST"])
    @wraps(view)
    def run_view(
        request: HttpRequest, seat: str, *args: P.args, **kwargs: P.kwargs
    ) -> HttpResponse:
        """Find the submission of the token, then run the view."""
        submission = find_submission_by_token(seat)
        if submission is None:
            return render_not_found(request)
        with use_language(submission.version, submission.language):
            visit = Visit(submission, seat)
            try:
                return view(request, visit, *args, **kwargs)
            except AnsweringError as error:
                # Another request withdrew the answers after this one had read the submission.
                if error.code != "withdrawn":
                    raise
                return render_ended_submission(request, visit, error.code)

    return run_view


def require_open_submission(view: View[P]) -> Callable[..., HttpResponse]:
    """Return a view for open submissions only; others see how they ended.

    If the reservation expired, a form reserves a place again. The texts of a form that comes too
    late are stored as drafts if possible, and shown in any case.
    """

    @require_submission
    def run_view(
        request: HttpRequest, visit: Visit, /, *args: P.args, **kwargs: P.kwargs
    ) -> HttpResponse:
        """Run the view if the worker can still answer; else show how it ended."""
        refused = find_end_code(visit)
        if not refused and not has_place(visit.submission):
            if request.method != "POST":
                return _render_reservation_offer(request, visit)
            try:
                visit.submission = reserve_place_again(visit.submission)
                visit.progress = SurveyProgress(visit.submission)
            except AnsweringError as error:
                refused = error.code
        if refused:
            return render_ended_submission(request, visit, refused)
        return view(request, visit, *args, **kwargs)

    return run_view


def find_end_code(visit: Visit) -> str:
    """Return the code for how a submission ended; "" if it is open."""
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


def render_ended_submission(request: HttpRequest, visit: Visit, code: str) -> HttpResponse:
    """Return the page on how a submission ended, showing the texts that were posted too late.

    The texts are stored as drafts after closed and place_lost.
    """
    texts = read_posted_texts(request)
    if code == "done":
        stored = set(visit.submission.responses.values_list("text", flat=True))
        if stored.issuperset(texts.values()):  # a second click, or the form sent again: no loss
            return disable_caching(redirect("worker:thanks", visit.token))
    if code in ("closed", "place_lost"):
        _save_late_drafts(visit, request, texts)
    context = {
        "texts": [text for text in texts.values() if text],
        "place": visit.token,
        "go_on": code == "done",
    }
    if code in ("screened_out", "closed"):
        context["standing"] = find_newest_rejection(visit.submission)
    return render_end_page(request, code, visit.collection, context=context)


def read_posted_texts(request: HttpRequest) -> dict[str, str]:
    """Return the posted answers, cleaned, by name of the form field."""
    return {
        name: drafts.clean_text(str(text))
        for name, text in request.POST.items()
        if name.startswith(ANSWER)
    }


def _save_late_drafts(visit: Visit, request: HttpRequest, texts: dict[str, str]) -> None:
    """Store posted texts as drafts, where the worker may still change the answer."""
    for page in visit.progress.pages:
        for assignment in page.assignments:
            name = f"{ANSWER}{assignment.question.public_id}"
            is_open = visit.progress.may_show_page(page) and not page.answers_are_final
            if texts.get(name) and is_open:
                revision = read_posted_revision(request, assignment.question.public_id)
                drafts.save_draft(visit.submission, assignment.question, texts[name], revision)


def read_posted_revision(request: HttpRequest, public_id: object) -> int | None:
    """Return the posted revision of the displayed text; None if missing."""
    return parse_form_number(request.POST.get(f"revision-{public_id}", ""))


def parse_form_number(value: str) -> int | None:
    """Return a form value as a number; None unless it has 1 to 9 digits."""
    # 9 digits fit every integer column: larger numbers would be a database error.
    return int(value) if value.isascii() and value.isdecimal() and len(value) < 10 else None


def _render_reservation_offer(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Return the page that offers to reserve a place again, or shows that none is free."""
    # Only a form reserves a place: a link preview must not.
    if not count_free_places(visit.collection):
        return render_end_page(request, "place_lost", visit.collection)
    return render_worker_page(request, "come_back.html", visit.collection, {"place": visit.token})
