"""A rejection as the worker reads it: the reason, what they write back once, and the answer."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.formats import number_format
from django.utils.translation import gettext as _

from annotations.ledger.appealing import LONGEST, AppealError, appeal, standing_of
from annotations.ledger.deciding import WithdrawnError
from annotations.models import Submission
from annotations.worker_pages.outcomes import outcome
from annotations.worker_pages.showing import not_kept, shown, too_long
from annotations.worker_pages.visit import Visit, own

FIELD = "appeal"


@own
def decision(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Show a rejection and what became of it; the form sends what the worker says against it."""
    if visit.submission.withdrawn_at is not None:
        return outcome(request, "withdrawn", visit.collection)
    if visit.submission.source == Submission.Source.IMPORTED:
        return outcome(request, "excluded", visit.collection)
    if request.method != "POST":
        return _page(request, visit)
    text = request.POST.get(FIELD, "")
    try:
        appeal(visit.submission, text)
    except WithdrawnError:
        return outcome(request, "withdrawn", visit.collection)
    except AppealError as error:
        return _page(request, visit, text.strip(), error.code)
    response = redirect("worker:decision", visit.place)
    response["Location"] += "?sent=yes"
    return not_kept(response)


def _page(request: HttpRequest, visit: Visit, text: str = "", wrong: str = "") -> HttpResponse:
    """Return the page; `wrong` is why a text was not kept, which is shown then all the same."""
    standing = standing_of(visit.submission)
    if standing is None:
        return not_kept(redirect("worker:go-on", visit.place))
    errors = {
        "empty": _("Please write something, then send it."),
        "too_long": too_long(text, LONGEST),
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
        "most_said": number_format(LONGEST, force_grouping=True),
        "place": visit.place,
    }
    status = 200 if not wrong else 400 if standing.may_appeal else 409
    return shown(request, "decided.html", visit.collection, context, status=status)
