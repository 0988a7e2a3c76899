"""Pages behind a collection's link: identify the worker, check admission, ask for consent."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import translation
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from annotations.answering import devices
from annotations.answering.collecting import count_declined_consent
from annotations.answering.errors import AnsweringError, TooManyError
from annotations.answering.languages import choose_language, switch_language
from annotations.answering.links import (
    Visitor,
    build_submission_token,
    find_submission_by_token,
    read_visitor,
)
from annotations.answering.places import (
    compute_questions_per_worker,
    find_refusal,
    find_worker_submission,
    reserve_place,
    store_panel_session,
)
from annotations.answering.wording import wording
from annotations.editing import has_data_use_notice
from annotations.languages import get_native_language_name
from annotations.models import Collection, Submission
from annotations.worker_pages.not_found import render_not_found
from annotations.worker_pages.outcomes import format_duration, render_end_page
from annotations.worker_pages.rendering import disable_caching, render_worker_page, use_language
from annotations.worker_pages.visit import Visit, require_open_submission, require_submission

UNCOUNTED_FIELD = "uncounted"
"""Checkbox of the consent form: do not count writing signals."""
ASSISTIVE_FIELD = "assistive"
"""Checkbox of the consent form: the worker uses assistive technology."""
LANGUAGE_FIELD = "language"
"""Language parameter of a link. The form sends it too, so that the consent is in that language."""
COOKIE_SECONDS = 30 * 24 * 3600


# No CSRF check is needed: the address alone identifies the worker, and there is no session that
# another site could abuse.
@csrf_exempt
@require_http_methods(["GET", "HEAD", "POST"])
def enter_collection(request: HttpRequest, collection_id: UUID) -> HttpResponse:
    """Show the consent form, or why the worker may not take part; redirect a returning worker.

    Only the form reserves a place; opening the page does not.
    """
    collection = (
        Collection.objects.select_related("version__question_set__owner")
        .filter(public_id=collection_id)
        .first()
    )
    if collection is None:
        return render_not_found(request)
    tags = [request.POST.get(LANGUAGE_FIELD, ""), request.GET.get(LANGUAGE_FIELD, "")]
    language = choose_language(collection.version, tags, request.headers.get("Accept-Language", ""))
    with use_language(collection.version, language):
        try:
            visitor = read_visitor(collection, request.GET.dict())
            earlier = _find_earlier_submission(request, collection, visitor)
            if earlier is not None:
                return _redirect_returning_worker(earlier, visitor)
            if request.method == "POST":
                return _handle_consent_form(request, collection, visitor)
        except TooManyError as error:
            wait = format_duration(error.seconds)
            response = render_end_page(request, error.code, collection, context={"wait": wait})
            response["Retry-After"] = str(error.seconds)
            return response
        except AnsweringError as error:
            return render_end_page(request, error.code, collection)
        reason = find_refusal(collection, visitor.external_id)
        if reason:
            return render_end_page(request, reason, collection)
        return _render_consent(request, collection)


@require_open_submission
def continue_survey(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Redirect to the worker's next step; a POST renews an expired reservation first."""
    return visit.redirect_to_next_step()


@require_submission
def change_language(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Set the language of the worker's texts, and redirect to the next step."""
    if request.method == "POST":
        switch_language(visit.submission, request.POST.get(LANGUAGE_FIELD, ""))
    return disable_caching(redirect("worker:go-on", visit.token))


def _find_earlier_submission(
    request: HttpRequest, collection: Collection, visitor: Visitor
) -> Submission | None:
    """Return the worker's earlier submission, by panel id or cookie; None if there is none."""
    if visitor.external_id:
        return find_worker_submission(collection, visitor.external_id)
    submission = find_submission_by_token(request.COOKIES.get(_build_cookie_name(collection), ""))
    if submission is None or submission.version_id != collection.version_id:
        return None
    return submission


def _redirect_returning_worker(submission: Submission, visitor: Visitor) -> HttpResponse:
    """Redirect a returning worker to the next step; raise `AnsweringError` if it was imported."""
    if submission.source == Submission.Source.IMPORTED:
        raise AnsweringError("excluded")
    store_panel_session(submission, visitor)
    return disable_caching(redirect("worker:go-on", build_submission_token(submission)))


def _handle_consent_form(
    request: HttpRequest, collection: Collection, visitor: Visitor
) -> HttpResponse:
    """Process the consent form: decline, show it again, or reserve a place.

    An anonymous worker gets a cookie, by which the browser is recognised later.
    """
    if request.POST.get("do") == "decline":
        count_declined_consent(collection)
        return render_end_page(request, "no_consent", collection)
    if "agree" not in request.POST:
        reason = find_refusal(collection, visitor.external_id)
        if reason:
            raise AnsweringError(reason)
        ticked = {
            "is_uncounted": UNCOUNTED_FIELD in request.POST,
            "is_assistive": ASSISTIVE_FIELD in request.POST,
        }
        return _render_consent(request, collection, {"is_unticked": True, **ticked})
    submission = reserve_place(
        collection,
        visitor,
        collection.version.shown_in,
        translation.get_language(),
        devices.detect_device(request.headers),
        request.META.get("REMOTE_ADDR", ""),
        is_uncounted=UNCOUNTED_FIELD in request.POST,
        is_assistive=ASSISTIVE_FIELD in request.POST,
    )
    token = build_submission_token(submission)
    response = disable_caching(redirect("worker:go-on", token))
    if not visitor.external_id:
        response.set_cookie(
            _build_cookie_name(collection),
            token,
            max_age=COOKIE_SECONDS,
            httponly=True,
            samesite="Lax",
            secure=request.is_secure(),
            # Only for this collection: another one must not learn about it.
            path=request.path,
        )
    return response


def _render_consent(
    request: HttpRequest, collection: Collection, unticked: dict[str, bool] | None = None
) -> HttpResponse:
    """Return the consent page; `unticked` has the other boxes of a form sent without consent."""
    context = build_consent_context(collection) | (unticked or {})
    context["languages"] = _list_language_links(request, collection)
    return render_worker_page(
        request, "consent.html", collection, context, status=400 if unticked else 200
    )


def _list_language_links(
    request: HttpRequest, collection: Collection
) -> list[tuple[str, str, str]]:
    """Return (tag, own name, link) for each language; [] for a single language."""
    languages = collection.version.all_languages
    if len(languages) == 1:
        return []
    links = []
    for tag in languages:
        parameters = request.GET.copy()
        parameters[LANGUAGE_FIELD] = tag
        links.append((tag, get_native_language_name(tag), f"?{parameters.urlencode()}"))
    return links


def build_consent_context(collection: Collection) -> dict[str, Any]:
    """Return the template context of the consent page, also used by the preview."""
    version = collection.version
    outline = wording.load_question_counts(version)
    each, n = compute_questions_per_worker(collection), outline.n_graded
    before = wording.load_intro(version, version.shown_in)
    return {
        "before": before,
        "consent_has_data_use": has_data_use_notice(before.consent.text, collection.signals),
        "n_questions": n if each is None else min(each, n),
        "has_passages": outline.n_about_passages > 0,
        "has_practice": outline.n_practice > 0,
        "is_recall": collection.protocol == Collection.Protocol.RECALL,
        "reading_minutes": max(1, round(collection.reading_seconds / 60)),
    }


def _build_cookie_name(collection: Collection) -> str:
    """Return the name of the cookie that recognises an anonymous worker in a collection."""
    return f"answer-{collection.public_id.hex}"
