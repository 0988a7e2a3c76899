"""The passage of who answers from memory: served from its opening to "I have read it"."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse

from annotations.answering.places import keep_place
from annotations.answering.reading import have_read, open_passage
from annotations.answering.refused import AnsweringError
from annotations.answering.way import TEXT, AnswerPage, Step
from annotations.models import Image
from annotations.web.images import image_response
from annotations.worker_pages.nowhere import nowhere
from annotations.worker_pages.outcomes import outcome
from annotations.worker_pages.progress import progress
from annotations.worker_pages.showing import not_kept, shown
from annotations.worker_pages.visit import Visit, answering


@answering
def text(request: HttpRequest, visit: Visit, page_number: int) -> HttpResponse:
    """Announce the passage, show it while it is read, and afterwards say that it is gone (410)."""
    page = visit.way.page(page_number)
    if page is None or page.passage is None or not visit.way.is_recall():
        return nowhere(request)
    if request.method == "POST":
        keep_place(visit.submission)
        try:
            return _sent(request, visit, page)
        except AnsweringError as error:
            return outcome(request, error.code, visit.collection, context=_go_on(visit))
    if visit.way.was_read(page):
        return outcome(request, "gone", visit.collection, status=410, context=_go_on(visit))
    if visit.way.may_read(page):
        return _reading(request, visit, page)
    if visit.way.next_step() != Step(TEXT, page.number):
        return visit.to_next()
    context = {
        "progress": progress(visit.way, page),
        "page": page,
        "reading_minutes": max(1, round(visit.collection.reading_seconds / 60)),
        "place": visit.place,
    }
    return shown(request, "before_text.html", visit.collection, context)


@answering
def image(request: HttpRequest, visit: Visit, page_number: int) -> HttpResponse:
    """Serve the picture of a passage while the passage itself may be seen."""
    page = visit.way.page(page_number)
    if page is None or page.passage is None or page.passage.image_id is None:
        return nowhere(request)
    way = visit.way
    if way.is_recall() and way.was_read(page):
        return not_kept(HttpResponse(status=410))
    if not (way.may_read(page) if way.is_recall() else way.has_reached(page)):
        return nowhere(request)
    # Read anew: the one that the way holds is shared, and without its content.
    return image_response(Image.objects.get(pk=page.passage.image_id), "private, no-store")


def _sent(request: HttpRequest, visit: Visit, page: AnswerPage) -> HttpResponse:
    if request.POST.get("do") == "read":
        have_read(visit.way, page)
        return visit.to_next()
    open_passage(visit.way, page)
    return visit.to(Step(TEXT, page.number))


def _reading(request: HttpRequest, visit: Visit, page: AnswerPage) -> HttpResponse:
    assert page.passage is not None
    reading = visit.way.reading_of(page)
    assert reading is not None
    left = (visit.way.deadline(reading) - visit.way.now).total_seconds()
    context = {
        "progress": progress(visit.way, page),
        "page": page,
        "passage": page.passage,
        "minutes_left": max(1, round(left / 60)),
        "seconds_left": int(left),
        "place": visit.place,
    }
    return shown(request, "text.html", visit.collection, context)


def _go_on(visit: Visit) -> dict[str, object]:
    return {"go_on": True, "place": visit.place}
