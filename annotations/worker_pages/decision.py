"""Page of a rejected worker: the reason, one appeal, and the requester's answer."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.formats import number_format
from django.utils.translation import gettext as _

from annotations.ledger.appeals import LONGEST, AppealError, create_appeal, find_newest_rejection
from annotations.ledger.decisions import WithdrawnError
from annotations.models import Submission
from annotations.worker_pages.outcomes import render_end_page
from annotations.worker_pages.rendering import (
    disable_caching,
    format_length_error,
    render_worker_page,
)
from annotations.worker_pages.visit import Visit, require_submission

FIELD = "appeal"


@require_submission
def show_rejection(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Show a rejection and its appeal; POST sends the worker's appeal."""
    if visit.submission.withdrawn_at is not None:
        return render_end_page(request, "withdrawn", visit.collection)
    if visit.submission.source == Submission.Source.IMPORTED:
        return render_end_page(request, "excluded", visit.collection)
    if request.method != "POST":
        return _render_rejection(request, visit)
    text = request.POST.get(FIELD, "")
    try:
        create_appeal(visit.submission, text)
    except WithdrawnError:
        return render_end_page(request, "withdrawn", visit.collection)
    except AppealError as error:
        return _render_rejection(request, visit, text.strip(), error.code)
    response = redirect("worker:decision", visit.token)
    response["Location"] += "?sent=yes"
    return disable_caching(response)


def _render_rejection(
    request: HttpRequest, visit: Visit, text: str = "", wrong: str = ""
) -> HttpResponse:
    """Return a rejection's page; `wrong` is the code for why the appeal was refused."""
    standing = find_newest_rejection(visit.submission)
    if standing is None:
        return disable_caching(redirect("worker:go-on", visit.token))
    errors = {
        "empty": _("Please write something, then send it."),
        "too_long": format_length_error(text, LONGEST),
    }
    context = {
        "standing": standing,
        "error": errors.get(wrong, "") if standing.may_appeal else "",
        "error_code": wrong,
        "is_refused": bool(wrong) and not standing.may_appeal,
        "text": text,
        "texts": [text] if wrong and text and not standing.may_appeal else [],
        "was_sent": "sent" in request.GET and standing.appeal is not None,
        "limit": LONGEST,
        "formatted_most": number_format(LONGEST, force_grouping=True),
        "place": visit.token,
    }
    status = 200 if not wrong else 400 if standing.may_appeal else 409
    return render_worker_page(request, "decided.html", visit.collection, context, status=status)
