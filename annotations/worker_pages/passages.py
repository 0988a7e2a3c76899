"""Pages on which a worker reads a passage before its questions (recall protocol)."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse

from annotations.answering.errors import AnsweringError
from annotations.answering.places import extend_reservation
from annotations.answering.progress import TEXT, AnswerPage, NextStep
from annotations.answering.reading import finish_reading, open_passage
from annotations.models import Image
from annotations.web.images import build_image_response
from annotations.worker_pages.not_found import render_not_found
from annotations.worker_pages.outcomes import render_end_page
from annotations.worker_pages.progress import summarize_progress
from annotations.worker_pages.rendering import disable_caching, render_worker_page
from annotations.worker_pages.visit import Visit, require_open_submission


@require_open_submission
def show_passage(request: HttpRequest, visit: Visit, page_number: int) -> HttpResponse:
    """Show the passage of a page (recall protocol); POST opens it or ends the reading.

    GET announces the passage, shows it while it is read, and then answers 410. A form opens it or
    ends the reading.
    """
    page = visit.progress.find_page(page_number)
    if page is None or page.passage is None or not visit.progress.is_recall():
        return render_not_found(request)
    if request.method == "POST":
        extend_reservation(visit.submission)
        try:
            return _handle_reading_form(request, visit, page)
        except AnsweringError as error:
            return render_end_page(
                request, error.code, visit.collection, context=_build_continue_context(visit)
            )
    if visit.progress.may_show_questions(page):
        return render_end_page(
            request, "gone", visit.collection, status=410, context=_build_continue_context(visit)
        )
    if visit.progress.is_being_read(page):
        return _render_passage(request, visit, page)
    if visit.progress.find_next_step() != NextStep(TEXT, page.number):
        return visit.redirect_to_next_step()
    context = {
        "progress": summarize_progress(visit.progress, page),
        "page": page,
        "reading_minutes": max(1, round(visit.collection.reading_seconds / 60)),
        "place": visit.token,
    }
    return render_worker_page(request, "before_text.html", visit.collection, context)


@require_open_submission
def serve_passage_image(request: HttpRequest, visit: Visit, page_number: int) -> HttpResponse:
    """Return the image of a passage while the passage itself may be shown."""
    page = visit.progress.find_page(page_number)
    if page is None or page.passage is None or page.passage.image_id is None:
        return render_not_found(request)
    progress = visit.progress
    if progress.is_recall() and progress.may_show_questions(page):
        return disable_caching(HttpResponse(status=410))
    if not (progress.is_being_read(page) if progress.is_recall() else progress.may_show_page(page)):
        return render_not_found(request)
    # The cached passage has the image without its content.
    return build_image_response(Image.objects.get(pk=page.passage.image_id), "private, no-store")


def _handle_reading_form(request: HttpRequest, visit: Visit, page: AnswerPage) -> HttpResponse:
    """End the reading, or open the passage; redirect to the page that follows."""
    if request.POST.get("do") == "read":
        finish_reading(visit.progress, page)
        return visit.redirect_to_next_step()
    open_passage(visit.progress, page)
    return visit.redirect_to_step(NextStep(TEXT, page.number))


def _render_passage(request: HttpRequest, visit: Visit, page: AnswerPage) -> HttpResponse:
    """Return the page with the passage and the remaining time."""
    assert page.passage is not None
    reading = visit.progress.find_reading(page)
    assert reading is not None
    left = (visit.progress.compute_reading_deadline(reading) - visit.progress.now).total_seconds()
    context = {
        "progress": summarize_progress(visit.progress, page),
        "page": page,
        "passage": page.passage,
        "minutes_left": max(1, round(left / 60)),
        "seconds_left": int(left),
        "place": visit.token,
    }
    return render_worker_page(request, "text.html", visit.collection, context)


def _build_continue_context(visit: Visit) -> dict[str, object]:
    """Return the template context of an end page with a button to continue."""
    return {"go_on": True, "place": visit.token}
