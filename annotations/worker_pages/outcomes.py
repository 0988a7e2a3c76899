"""End pages: why a worker cannot take part or continue, with the panel's code for that case."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from annotations.models import Collection
from annotations.worker_pages.rendering import build_return_url, render_worker_page


@dataclass(frozen=True, slots=True)
class EndPage:
    """Title and text of an end page, such as that of a full collection.

    `status` is the HTTP status after a form. An opened link gets 200, unless the link itself is
    wrong (`is_error`). `code` names the field of the collection whose code is shown, "" for none.
    """

    title: Promise | str
    words: Promise | str
    status: int = 409
    code: str = ""
    is_error: bool = False


OUTCOMES = {
    "id_missing": EndPage(
        _("This link has no participant id"),
        _("Open the study from the page of your panel. If you copied the address, copy all of it."),
        400,
        is_error=True,
    ),
    "id_not_filled_in": EndPage(
        _("This link has no participant id"),
        _(
            "Where your id should stand in the address, there is still a placeholder. Open the "
            "study from the page of your panel."
        ),
        400,
        is_error=True,
    ),
    "id_bad": EndPage(
        _("This link is damaged"),
        _("The id in the address cannot be one. Open the study from the page of your panel."),
        400,
        is_error=True,
    ),
    "forged": EndPage(
        _("This link is not valid"),
        _(
            "It was changed, or it belongs to another study. Open the study from the page of your "
            "panel, or ask who sent you the link."
        ),
        403,
        is_error=True,
    ),
    "unknown": EndPage(
        _("There is no such page"),
        _("The address may be incomplete, or the study may be gone. Nothing was lost here."),
        404,
        is_error=True,
    ),
    "closed": EndPage(
        _("This study is closed"),
        _("Nothing more is taken. Thank you for coming."),
        410,
        "code_too_late",
    ),
    "paused": EndPage(
        _("This study is paused"),
        _("No one new can begin now. You can try the same link again later."),
        409,
        "code_too_late",
    ),
    "archived": EndPage(
        _("This study is not running any more"),
        _("The people who asked these questions have put them away. Thank you for coming."),
        410,
        "code_too_late",
    ),
    "full": EndPage(
        _("All places are taken"),
        _(
            "Enough people are taking part already. Thank you for coming. Sometimes a place "
            "becomes free: you can try the same link again later."
        ),
        409,
        "code_too_late",
    ),
    "too_many": EndPage(
        _("Please try again in a moment"),
        _(
            "Many people have just begun from your network. Your place is not taken yet: wait for "
            "the time below, then send the form again."
        ),
        429,
    ),
    "excluded": EndPage(
        _("You have taken part before"),
        _(
            "You answered these questions, or ones that would give the answers away. Thank you: "
            "there is nothing more to do here."
        ),
        409,
        "code_screened_out",
    ),
    "not_listed": EndPage(
        _("This study is for other people"),
        _("It is open to some people only, and your id is not among them."),
        403,
        "code_screened_out",
    ),
    "not_chosen": EndPage(
        _("This study continues an earlier one"),
        _(
            "It is open to some of the people who took part in that one, and your id is not among "
            "them. There is nothing to do here. Thank you for coming."
        ),
        403,
        "code_for_low_scores",
    ),
    "screened_out": EndPage(
        _("This is the end of the practice"),
        _(
            "Thank you for trying. The study needs more right answers in the practice than you "
            "gave, so it does not go on from here."
        ),
        409,
        "code_screened_out",
    ),
    "no_consent": EndPage(
        _("You did not agree"),
        _("That is fine: nothing was stored. If you change your mind, open the same link again."),
        200,
        "code_no_consent",
    ),
    "withdrawn": EndPage(
        _("Your answers are deleted"),
        _("You took your answers back. What you wrote is no longer stored here."),
        409,
        "code_no_consent",
    ),
    "place_lost": EndPage(
        _("Your place was given to someone else"),
        _(
            "The time for which it was reserved for you is over, and no other place is free. What "
            "you wrote is still stored; if a place becomes free, the same link takes you back to "
            "it."
        ),
        410,
        "code_too_late",
    ),
    "not_yet": EndPage(
        _("This page comes later"),
        _("Its questions were not shown to you yet, so no answers are taken for them."),
        409,
    ),
    "not_shown": EndPage(
        _("This answer belongs to another page"),
        _("It was not stored."),
        400,
    ),
    "gone": EndPage(
        _("The text is gone"),
        _("You have read it, or the time for reading it is over. Answer from memory."),
        410,
    ),
    "done": EndPage(
        _("You have handed in your answers"),
        _("They cannot be changed any more."),
        409,
    ),
}


def format_duration(seconds: int) -> str:
    """Return a duration as hours, minutes and seconds: "0:01:30"."""
    minutes, seconds = divmod(seconds, 60)
    return f"{minutes // 60}:{minutes % 60:02}:{seconds:02}"


def render_end_page(
    request: HttpRequest,
    code: str,
    collection: Collection,
    *,
    status: int | None = None,
    context: dict[str, Any] | None = None,
) -> HttpResponse:
    """Return the end page for a code, such as that of a full collection.

    `context` is added to the template context; `status` replaces the outcome's own.
    """
    outcome = OUTCOMES[code]
    if status is None:
        status = outcome.status if outcome.is_error or request.method == "POST" else 200
    panel_code = getattr(collection, outcome.code) if outcome.code else ""
    base = {
        "outcome": code,
        "outcome_text": outcome,
        "panel_code": panel_code,
        "way_back": build_return_url(collection, panel_code) if panel_code else "",
    }
    return render_worker_page(
        request, "outcome.html", collection, base | (context or {}), status=status
    )
