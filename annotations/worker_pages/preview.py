"""Preview of the worker pages for users who may see the question set; nothing is stored.

The templates are those of the worker pages, but there is no submission. Questions and order are
those of the first worker with the seed in the URL. No place is reserved, and typed text is
discarded.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from annotations.answering.finishing import resolve_max_characters
from annotations.answering.languages import find_language
from annotations.answering.practice import grade_practice_answer
from annotations.answering.progress import FEEDBACK, PAGE, REVIEW, TEXT
from annotations.answering.wording import wording
from annotations.languages import get_english_language_name, get_native_language_name
from annotations.models import (
    Collection,
    QuestionSet,
    QuestionSetVersion,
    is_counting_signals,
    rights,
)
from annotations.web.scope import get_visible_or_404
from annotations.worker_pages.consent import (
    ASSISTIVE_FIELD,
    LANGUAGE_FIELD,
    UNCOUNTED_FIELD,
    build_consent_context,
)
from annotations.worker_pages.outcomes import render_end_page
from annotations.worker_pages.preview_pages import (
    BEFORE,
    CONSENT,
    PreviewPage,
    PreviewPages,
    build_preview_pages,
)
from annotations.worker_pages.progress import ProgressSummary
from annotations.worker_pages.questions import LANGUAGE_ACTION, AnswerField
from annotations.worker_pages.rendering import disable_caching, render_worker_page, use_language
from annotations.worker_pages.visit import ANSWER

DATA, WITHDRAW = "data", "withdraw"
FAILED_CHECKS = "failed_checks"
OUTCOME_LABELS = {
    "no_consent": "did not agree",
    "screened_out": "did not pass the practice",
    FAILED_CHECKS: "failed the attention checks",
    "withdrawn": "withdrew",
    "excluded": "took part before",
    "not_listed": "not on the list",
    "not_chosen": "not admitted by their score",
    "full": "all places are taken",
    "paused": "paused",
    "closed": "closed",
}
"""Labels of the end pages in the preview, by outcome code; `FAILED_CHECKS` is the thanks page with
another code."""
PREVIEW_CODE = "PREVIEW"
"""Shown instead of a panel's code: a preview must not lead to a payment."""


@dataclass(frozen=True, slots=True)
class PreviewState:
    """The page of a preview that the URL's parameters name.

    Attributes
    ----------
    order : seed of the worker whose questions are shown.
    step : number of the page, from 1.
    is_whole : whether all questions are shown, not only those of one worker.
    side_page : a page outside the steps: `DATA`, `WITHDRAW` or a key of `OUTCOME_LABELS`, or "".
    choice : what the last form chose, which the page shows as done.
    language : of the texts, "" for a version in one language.
    """

    collection: Collection
    order: int = 1
    step: int = 1
    is_whole: bool = False
    side_page: str = ""
    choice: str = ""
    language: str = ""

    @property
    def address(self) -> str:
        """URL of this page of the preview."""
        version = self.collection.version
        parts = {
            "version": version.number,
            "protocol": self.collection.protocol,
            "order": self.order,
            "all": "yes" if self.is_whole else "",
            "step": self.step,
            "beside": self.side_page,
            "said": self.choice,
            "language": self.language,
        }
        path = reverse("admin:editor-preview", args=[version.question_set.public_id])
        return f"{path}?{urlencode({name: part for name, part in parts.items() if part})}"

    def go_to_step(self, step: int) -> PreviewState:
        """Return the preview's state at page number `step`."""
        return replace(self, step=step, side_page="", choice="")

    def open_side_page(self, side_page: str, choice: str = "") -> PreviewState:
        """Return the preview's state at a page outside the steps, such as withdrawal."""
        return replace(self, side_page=side_page, choice=choice)


# Without CSRF protection: no form of the preview changes anything.
@csrf_exempt
@require_http_methods(["GET", "HEAD", "POST"])
def show_preview(request: HttpRequest, set_id: UUID) -> HttpResponse:
    """Show a page of a version's preview; POST redirects to the following page.

    The query names the page as `step`, and the version as `version` (by default the latest).
    """
    question_set = get_visible_or_404(request, QuestionSet.objects.all(), set_id)
    may = rights(request.user, question_set)
    version = _find_version(question_set, request.GET.get("version", ""))
    if version is None or not version.questions.exists():
        return redirect("admin:editor" if may.edit else "admin:question-set", set_id)
    collection = _load_or_build_collection(version, request.GET.get("protocol", ""))
    order = _parse_number(request.GET.get("order", ""), 1)
    is_whole = bool(request.GET.get("all", ""))
    version.shown_in = (
        find_language(version, request.GET.get("language", "")) or version.text_language
    )
    preview = build_preview_pages(collection, order, every_question=is_whole)
    step = min(max(1, _parse_number(request.GET.get("step", ""), 1)), len(preview.pages))
    side_page = request.GET.get("beside", "")
    state = PreviewState(
        collection,
        order,
        step,
        is_whole,
        side_page if side_page in (DATA, WITHDRAW, *OUTCOME_LABELS) else "",
        # 9 characters: the longest choice is "assistive".
        request.GET.get("said", "")[:9],
        version.shown_in if version.languages else "",
    )
    if request.method == "POST":
        following = _build_following_state(request, state, preview)
        # Feedback is rendered at once: it shows the typed answers, which no URL contains.
        is_feedback = preview.pages[following.step - 1].kind == FEEDBACK and following.step != step
        if not is_feedback:
            return disable_caching(redirect(following.address))
        state = following
    with use_language(version, version.shown_in):
        context = {"preview": _build_banner_context(state, preview, edits=may.edit)}
        if state.side_page:
            return _render_side_page(request, state, context)
        return _render_step(request, state, preview, context)


def _build_following_state(
    request: HttpRequest, state: PreviewState, preview: PreviewPages
) -> PreviewState:
    """Return the preview's state after a posted form, where the worker pages would go on."""
    do = request.POST.get("do", "")
    preview_page = preview.pages[state.step - 1]
    button_tag = do.removeprefix(LANGUAGE_ACTION) if do.startswith(LANGUAGE_ACTION) else ""
    if tag := button_tag or ("" if do else request.POST.get(LANGUAGE_FIELD, "")):
        return replace(state, language=tag)
    if state.side_page == WITHDRAW:
        if "sure" in request.POST:
            return state.open_side_page("withdrawn")
        return state.open_side_page(WITHDRAW, "unsure")
    if state.side_page == DATA and do == ASSISTIVE_FIELD:
        is_used = ASSISTIVE_FIELD in request.POST
        return state.open_side_page(DATA, ASSISTIVE_FIELD if is_used else "not")
    if state.side_page == DATA:
        return state.open_side_page(DATA, "off" if UNCOUNTED_FIELD in request.POST else "on")
    if state.side_page:
        return state
    if preview_page.kind == CONSENT and do == "decline":
        return state.open_side_page("no_consent")
    if preview_page.kind == CONSENT and do == "agree" and "agree" not in request.POST:
        return replace(state, choice="untick")
    if preview_page.kind == PAGE and do == "save":
        return replace(state, choice="saved")
    if preview_page.kind == PAGE and do == "back":
        return state.go_to_step(preview.find_previous_question_step(state.step))
    return state.go_to_step(min(state.step + 1, len(preview.pages)))


def _build_banner_context(
    state: PreviewState, preview: PreviewPages, *, edits: bool
) -> dict[str, Any]:
    """Return the template context of the banner above each page of the preview."""
    collection, step, total = state.collection, state.step, len(preview.pages)
    question_set = collection.version.question_set
    protocol = Collection.Protocol
    other = protocol.OPEN if collection.protocol == protocol.RECALL else protocol.RECALL
    with_other = replace(
        state.go_to_step(1), collection=_load_or_build_collection(collection.version, other)
    )
    set_id = question_set.public_id
    return {
        "editor": reverse("admin:editor", args=[set_id]) if edits else "",
        "set": reverse("admin:question-set", args=[set_id]),
        "at": step,
        "total": total,
        "label": "Preview",
        "version": collection.version,
        "before": state.go_to_step(step - 1).address if step > 1 else "",
        "after": state.go_to_step(step + 1).address if step < total else "",
        "here": state.go_to_step(step).address,
        "beside": state.side_page,
        "is_review": not state.side_page and preview.pages[step - 1].kind == REVIEW,
        "data": state.open_side_page(DATA).address,
        "withdraw": state.open_side_page(WITHDRAW).address,
        "ends": [
            (words, state.open_side_page(code).address) for code, words in OUTCOME_LABELS.items()
        ],
        "other_order": replace(state.go_to_step(step), order=state.order + 1).address,
        "protocol": collection.protocol,
        "other_protocol": with_other.address,
        "languages": [
            (get_english_language_name(tag), replace(state.go_to_step(step), language=tag).address)
            for tag in collection.version.all_languages
            if tag != collection.version.shown_in
        ],
        "n_graded": preview.n_graded,
        "n_all": preview.n_all,
        "is_whole": state.is_whole,
        "whole": replace(state.go_to_step(1), is_whole=not state.is_whole).address,
    }


def _render_side_page(
    request: HttpRequest, state: PreviewState, context: dict[str, Any]
) -> HttpResponse:
    """Return a page outside the steps: data use, withdrawal, or an end page."""
    collection = state.collection
    if state.side_page == DATA:
        context |= {
            "before": wording.load_intro(collection.version, state.language),
            "is_uncounted": state.choice in ("off", ASSISTIVE_FIELD),
            "was_set": state.choice in ("on", "off"),
            "can_state": True,
            "is_assistive": state.choice == ASSISTIVE_FIELD,
            "was_stated": state.choice in (ASSISTIVE_FIELD, "not"),
        }
        return render_worker_page(request, "data.html", collection, context)
    if state.side_page == WITHDRAW:
        context |= {"is_unticked": state.choice == "unsure"}
        return render_worker_page(request, "withdraw.html", collection, context)
    if state.side_page == FAILED_CHECKS:
        context |= {
            "code": PREVIEW_CODE,
            "way_back": _build_return_url(collection, state),
            "failed_checks": True,
        }
        return render_worker_page(request, "thanks.html", collection, context)
    back = {"panel_code": PREVIEW_CODE, "way_back": _build_return_url(collection, state)}
    return render_end_page(request, state.side_page, collection, status=200, context=context | back)


def _render_step(
    request: HttpRequest, state: PreviewState, preview: PreviewPages, context: dict[str, Any]
) -> HttpResponse:
    """Return the page of a step, rendered as workers see it."""
    collection, preview_page = state.collection, preview.pages[state.step - 1]
    minutes = max(1, round(collection.reading_seconds / 60))
    pages = preview.question_pages
    if preview_page.kind == CONSENT:
        context |= build_consent_context(collection) | {"is_unticked": state.choice == "untick"}
        context["n_questions"] = preview.n_graded
        languages = collection.version.all_languages
        context["languages"] = len(languages) > 1 and [
            (tag, get_native_language_name(tag), replace(state, language=tag).address)
            for tag in languages
        ]
        return render_worker_page(request, "consent.html", collection, context)
    if preview_page.kind == REVIEW:
        context["progress"] = ProgressSummary(
            0, len(pages), len(pages), collection.reservation_minutes
        )
        context["pages"] = [
            (
                page,
                [(row.question, "") for row in page.assignments],
                state.go_to_step(preview.find_question_step(page)).address,
            )
            for page in pages
            if not page.is_practice
        ]
        return render_worker_page(request, "review.html", collection, context)
    if preview_page.page is None:
        context |= {"code": PREVIEW_CODE, "way_back": _build_return_url(collection, state)}
        return render_worker_page(request, "thanks.html", collection, context)
    context |= _build_question_page_context(request, state, preview_page, len(pages)) | {
        "reading_minutes": minutes
    }
    if preview_page.kind == BEFORE:
        return render_worker_page(request, "before_text.html", collection, context)
    passage = preview_page.page.passage
    if passage is not None and passage.image is not None:
        names = [collection.version.question_set.public_id, passage.image.public_id]
        context["picture"] = reverse("admin:image", args=names)
    if preview_page.kind == TEXT:
        context |= {"passage": passage, "minutes_left": minutes}
        context["seconds_left"] = collection.reading_seconds
        return render_worker_page(request, "text.html", collection, context)
    if preview_page.kind == FEEDBACK:
        return render_worker_page(request, "feedback.html", collection, context)
    is_recall = collection.protocol == Collection.Protocol.RECALL
    context["passage"] = None if is_recall else passage
    return render_worker_page(request, "questions.html", collection, context)


def _build_question_page_context(
    request: HttpRequest, state: PreviewState, preview_page: PreviewPage, n_pages: int
) -> dict[str, Any]:
    """Return the template context of a page of questions or of its feedback page."""
    collection, page = state.collection, preview_page.page
    assert page is not None
    answered = page.number - (0 if preview_page.kind == FEEDBACK else 1)
    results = []
    if preview_page.kind == FEEDBACK:
        results = [
            grade_practice_answer(
                row.question, request.POST.get(f"{ANSWER}{row.question.public_id}", "")
            )
            for row in page.assignments
        ]
    return {
        "page": page,
        "progress": ProgressSummary(page.number, answered, n_pages, collection.reservation_minutes),
        "fields": [
            AnswerField(row, number, resolve_max_characters(collection, row.question))
            for number, row in enumerate(page.assignments, 1)
        ],
        "results": results,
        "was_saved": state.choice == "saved",
    }


def _build_return_url(collection: Collection, state: PreviewState) -> str:
    """Return the URL of this preview page for the button to the panel; "" if the button is off."""
    return state.go_to_step(state.step).address if collection.return_url else ""


def _load_or_build_collection(version: QuestionSetVersion, protocol: str) -> Collection:
    """Return a version's collection, or an unsaved one with default settings.

    A valid `protocol` replaces the collection's own, without saving it.
    """
    stored = Collection.objects.filter(version=version).first()
    collection = stored or Collection(
        version=version, places=1, signals=is_counting_signals(version.question_set)
    )
    collection.version = version
    if protocol in Collection.Protocol.values:
        collection.protocol = Collection.Protocol(protocol)
    return collection


def _find_version(question_set: QuestionSet, number: str) -> QuestionSetVersion | None:
    """Return the version with this number, or raise `Http404`; without a number, latest or None."""
    if not number:
        return question_set.latest_version()
    version = question_set.versions.filter(number=_parse_number(number, 0)).first()
    if version is None:
        raise Http404
    return version


def _parse_number(text: str, default: int) -> int:
    """Return a URL parameter as a number; `default` unless it has 1 to 6 digits."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 7 else default
