"""The link of a collection: who comes, whether they may take part, and their consent."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import translation
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from annotations.answering import assistive, devices, signals
from annotations.answering.collecting import note_declined
from annotations.answering.languages import fitting, switch
from annotations.answering.links import Visitor, submission_of, token_of, visitor
from annotations.answering.places import (
    GRADED,
    note_session,
    questions_each,
    reason_against,
    reserve,
    submission_of_worker,
)
from annotations.answering.refused import AnsweringError, TooManyError
from annotations.answering.wording import wording
from annotations.languages import own_name
from annotations.models import Collection, Submission
from annotations.worker_pages.nowhere import nowhere
from annotations.worker_pages.outcomes import outcome
from annotations.worker_pages.showing import not_kept, shown, speaking
from annotations.worker_pages.visit import Visit, answering, own

UNCOUNTED = "uncounted"
"""The box of who uses assistive technology, or does not want to be counted."""
ASSISTIVE = "assistive"
"""The box of who wants to say that they use assistive technology."""
LANGUAGE = "language"
"""What the switch adds to a link; the form says it too, so that one agrees to what one saw."""
MONTH = 30 * 24 * 3600


# Who sends the form is said by the address alone, as anybody could type it: there is no session
# in whose name another site could send it.
@csrf_exempt
@require_http_methods(["GET", "HEAD", "POST"])
def enter(request: HttpRequest, collection_id: UUID) -> HttpResponse:
    """Ask for consent, or tell why not; who was here before goes on where they were.

    Looking at it takes no place: only the form does.
    """
    collection = (
        Collection.objects.select_related("version__question_set__owner")
        .filter(public_id=collection_id)
        .first()
    )
    if collection is None:
        return nowhere(request)
    said = [request.POST.get(LANGUAGE, ""), request.GET.get(LANGUAGE, "")]
    language = fitting(collection.version, said, request.headers.get("Accept-Language", ""))
    with speaking(collection.version, language):
        try:
            who = visitor(collection, request.GET.dict())
            before = _before(request, collection, who)
            if before is not None:
                return _resume(before, who)
            if request.method == "POST":
                return _answered(request, collection, who)
        except TooManyError as error:
            refused = outcome(request, error.code, collection)
            refused["Retry-After"] = str(error.seconds)
            return refused
        except AnsweringError as error:
            return outcome(request, error.code, collection)
        reason = reason_against(collection, who.external_id)
        if reason:
            return outcome(request, reason, collection)
        return _consent_page(request, collection)


@answering
def go_on(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Lead to what comes next; by a form for who takes their place again."""
    return visit.to_next()


@own
def language(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Show the texts in another language from now on, and go on where one was."""
    if request.method == "POST":
        switch(visit.submission, request.POST.get(LANGUAGE, ""))
    return not_kept(redirect("worker:go-on", visit.place))


def _before(request: HttpRequest, collection: Collection, who: Visitor) -> Submission | None:
    """Return what somebody began here; who has no id is known by the browser alone."""
    if who.external_id:
        return submission_of_worker(collection, who.external_id)
    found = submission_of(request.COOKIES.get(_cookie(collection), ""))
    return found if found is not None and found.version_id == collection.version_id else None


def _resume(submission: Submission, who: Visitor) -> HttpResponse:
    if submission.source == Submission.Source.IMPORTED:
        raise AnsweringError("excluded")
    note_session(submission, who)
    return not_kept(redirect("worker:go-on", token_of(submission)))


def _answered(request: HttpRequest, collection: Collection, who: Visitor) -> HttpResponse:
    if request.POST.get("do") == "decline":
        note_declined(collection)
        return outcome(request, "no_consent", collection)
    if "agree" not in request.POST:
        reason = reason_against(collection, who.external_id)
        if reason:
            raise AnsweringError(reason)
        ticked = {
            "is_uncounted": UNCOUNTED in request.POST,
            "is_assistive": ASSISTIVE in request.POST,
        }
        return _consent_page(request, collection, {"is_unticked": True, **ticked})
    with transaction.atomic():
        submission = reserve(
            collection,
            who,
            collection.version.shown_in,
            translation.get_language(),
            devices.kind_of(request.headers),
            request.META.get("REMOTE_ADDR", ""),
        )
        if UNCOUNTED in request.POST:
            signals.switch(submission, off=True)
        if ASSISTIVE in request.POST:
            assistive.note(submission, used=True)
    place = token_of(submission)
    response = not_kept(redirect("worker:go-on", place))
    if not who.external_id:
        response.set_cookie(
            _cookie(collection),
            place,
            max_age=MONTH,
            httponly=True,
            samesite="Lax",
            secure=request.is_secure(),
            path=request.path,
        )
    return response


def _consent_page(
    request: HttpRequest, collection: Collection, unticked: dict[str, bool] | None = None
) -> HttpResponse:
    """Return the page; with `unticked`, what was ticked, that of who forgot to agree."""
    context = consent_context(collection) | (unticked or {})
    context["languages"] = _switch(request, collection)
    return shown(request, "consent.html", collection, context, status=400 if unticked else 200)


def _switch(request: HttpRequest, collection: Collection) -> list[tuple[str, str, str]]:
    """Return the languages to choose from with their own names and the same link in each."""
    known = collection.version.every_language
    if len(known) == 1:
        return []
    links = []
    for tag in known:
        parameters = request.GET.copy()
        parameters[LANGUAGE] = tag
        links.append((tag, own_name(tag), f"?{parameters.urlencode()}"))
    return links


def consent_context(collection: Collection) -> dict[str, Any]:
    """Return what the page of the consent tells, also in a preview."""
    version = collection.version
    graded = version.questions.filter(GRADED)
    each, n = questions_each(collection), graded.count()
    return {
        "before": wording.before(version, version.shown_in),
        "n_questions": n if each is None else min(each, n),
        "has_passages": graded.filter(passage__isnull=False).exists(),
        "has_practice": version.questions.filter(role="practice").exists(),
        "is_recall": collection.protocol == Collection.Protocol.RECALL,
        "reading_minutes": max(1, round(collection.reading_seconds / 60)),
    }


def _cookie(collection: Collection) -> str:
    return f"answer-{collection.public_id.hex}"
