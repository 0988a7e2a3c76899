"""The pages of workers as they will see them, for who may see the set: nothing is stored.

The templates are the workers' own. There is no submission: questions and order are those of the
first worker with the seed in the address, no place is taken, and what is typed goes nowhere.
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

from annotations.answering.finishing import longest
from annotations.answering.languages import among
from annotations.answering.practice import Told
from annotations.answering.way import FEEDBACK, PAGE, REVIEW, TEXT
from annotations.answering.wording import wording
from annotations.languages import name_of, own_name
from annotations.models import (
    Collection,
    QuestionSet,
    QuestionSetVersion,
    counts_signals,
    rights,
)
from annotations.web.scope import visible_or_404
from annotations.worker_pages.entering import (
    ASSISTIVE,
    LANGUAGE,
    UNCOUNTED,
    consent_context,
)
from annotations.worker_pages.leaves import BEFORE, CONSENT, Leaf, Leaves, leaves_of
from annotations.worker_pages.outcomes import outcome
from annotations.worker_pages.progress import Progress
from annotations.worker_pages.questions import IN_LANGUAGE, Field
from annotations.worker_pages.showing import not_kept, shown, speaking
from annotations.worker_pages.visit import ANSWER

DATA, WITHDRAW = "data", "withdraw"
FAILED_CHECKS = "failed_checks"
ENDS = {
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
"""Ends that a preview shows beside the thanks, in a few words: by the code of the outcome, but for
thanks with another code."""
CODE = "PREVIEW"
"""Stands where workers read the code of their panel: nobody is paid for a preview."""


@dataclass(frozen=True, slots=True)
class Look:
    """What is looked at: step, order and all else that stands in the address of a preview.

    `beside` names a page that stands beside the steps: `DATA`, `WITHDRAW` or one of `ENDS`.
    """

    collection: Collection
    order: int = 1
    step: int = 1
    is_whole: bool = False
    beside: str = ""
    said: str = ""
    language: str = ""

    @property
    def address(self) -> str:
        """Where it stands."""
        version = self.collection.version
        parts = {
            "version": version.number,
            "protocol": self.collection.protocol,
            "order": self.order,
            "all": "yes" if self.is_whole else "",
            "step": self.step,
            "beside": self.beside,
            "said": self.said,
            "language": self.language,
        }
        there = reverse("admin:editor-preview", args=[version.question_set.public_id])
        return f"{there}?{urlencode({name: part for name, part in parts.items() if part})}"

    def at(self, step: int) -> Look:
        """Return a look at another step."""
        return replace(self, step=step, beside="", said="")

    def aside(self, beside: str, said: str = "") -> Look:
        """Return a look at a page beside the steps."""
        return replace(self, beside=beside, said=said)


# Nothing is changed by a form, so nobody can be made to change anything.
@csrf_exempt
@require_http_methods(["GET", "HEAD", "POST"])
def preview(request: HttpRequest, set_id: UUID) -> HttpResponse:
    """Show page `step` of the latest version, or of `version`; a form leads to the next one."""
    question_set = visible_or_404(request, QuestionSet.objects.all(), set_id)
    may = rights(request.user, question_set)
    version = _version(question_set, request.GET.get("version", ""))
    if version is None or not version.questions.exists():
        return redirect("admin:editor" if may.edit else "admin:question-set", set_id)
    collection = _collection(version, request.GET.get("protocol", ""))
    order = _number(request.GET.get("order", ""), 1)
    is_whole = bool(request.GET.get("all", ""))
    version.shown_in = among(version, request.GET.get("language", "")) or version.spoken
    leaves = leaves_of(collection, order, every_question=is_whole)
    at = min(max(1, _number(request.GET.get("step", ""), 1)), len(leaves.pages))
    beside = request.GET.get("beside", "")
    look = Look(
        collection,
        order,
        at,
        is_whole,
        beside if beside in (DATA, WITHDRAW, *ENDS) else "",
        request.GET.get("said", "")[:9],
        version.shown_in if version.languages else "",
    )
    is_told = False
    if request.method == "POST":
        then = _after(request, look, leaves)
        is_told = leaves.pages[then.step - 1].kind == FEEDBACK and then.step != at
        if not is_told:
            return not_kept(redirect(then.address))
        look = then  # practice is told of what was just typed, which no address holds
    with speaking(version, version.shown_in):
        context = {"preview": _banner(look, leaves, edits=may.edit)}
        if look.beside:
            return _shown_beside(request, look, context)
        return _shown(request, look, leaves, context)


def _after(request: HttpRequest, look: Look, leaves: Leaves) -> Look:
    """Return what follows a form, as it does for workers."""
    do = request.POST.get("do", "")
    leaf = leaves.pages[look.step - 1]
    asked = do.removeprefix(IN_LANGUAGE) if do.startswith(IN_LANGUAGE) else ""
    if tag := asked or ("" if do else request.POST.get(LANGUAGE, "")):
        return replace(look, language=tag)
    if look.beside == WITHDRAW:
        return look.aside("withdrawn") if "sure" in request.POST else look.aside(WITHDRAW, "unsure")
    if look.beside == DATA and do == ASSISTIVE:
        return look.aside(DATA, ASSISTIVE if ASSISTIVE in request.POST else "not")
    if look.beside == DATA:
        return look.aside(DATA, "off" if UNCOUNTED in request.POST else "on")
    if look.beside:
        return look
    if leaf.kind == CONSENT and do == "decline":
        return look.aside("no_consent")
    if leaf.kind == CONSENT and do == "agree" and "agree" not in request.POST:
        return replace(look, said="untick")
    if leaf.kind == PAGE and do == "save":
        return replace(look, said="saved")
    if leaf.kind == PAGE and do == "back":
        return look.at(leaves.page_before(look.step))
    return look.at(min(look.step + 1, len(leaves.pages)))


def _banner(look: Look, leaves: Leaves, *, edits: bool) -> dict[str, Any]:
    collection, at, total = look.collection, look.step, len(leaves.pages)
    question_set = collection.version.question_set
    protocol = Collection.Protocol
    other = protocol.OPEN if collection.protocol == protocol.RECALL else protocol.RECALL
    with_other = replace(look.at(1), collection=_collection(collection.version, other))
    set_id = question_set.public_id
    return {
        "editor": reverse("admin:editor", args=[set_id]) if edits else "",
        "set": reverse("admin:question-set", args=[set_id]),
        "at": at,
        "total": total,
        "called": "Preview",
        "version": collection.version,
        "before": look.at(at - 1).address if at > 1 else "",
        "after": look.at(at + 1).address if at < total else "",
        "here": look.at(at).address,
        "beside": look.beside,
        "is_review": not look.beside and leaves.pages[at - 1].kind == REVIEW,
        "data": look.aside(DATA).address,
        "withdraw": look.aside(WITHDRAW).address,
        "ends": [(words, look.aside(code).address) for code, words in ENDS.items()],
        "other_order": replace(look.at(at), order=look.order + 1).address,
        "protocol": collection.protocol,
        "other_protocol": with_other.address,
        "languages": [
            (name_of(tag), replace(look.at(at), language=tag).address)
            for tag in collection.version.every_language
            if tag != collection.version.shown_in
        ],
        "n_graded": leaves.n_graded,
        "n_all": leaves.n_all,
        "is_whole": look.is_whole,
        "whole": replace(look.at(1), is_whole=not look.is_whole).address,
    }


def _shown_beside(request: HttpRequest, look: Look, context: dict[str, Any]) -> HttpResponse:
    collection = look.collection
    if look.beside == DATA:
        context |= {
            "before": wording.before(collection.version, look.language),
            "is_uncounted": look.said in ("off", ASSISTIVE),
            "was_set": look.said in ("on", "off"),
            "can_say": True,
            "is_assistive": look.said == ASSISTIVE,
            "was_said": look.said in (ASSISTIVE, "not"),
        }
        return shown(request, "data.html", collection, context)
    if look.beside == WITHDRAW:
        context |= {"is_unticked": look.said == "unsure"}
        return shown(request, "withdraw.html", collection, context)
    if look.beside == FAILED_CHECKS:
        context |= {"code": CODE, "way_back": _way_back(collection, look), "failed_checks": True}
        return shown(request, "thanks.html", collection, context)
    back = {"panel_code": CODE, "way_back": _way_back(collection, look)}
    return outcome(request, look.beside, collection, status=200, context=context | back)


def _shown(
    request: HttpRequest, look: Look, leaves: Leaves, context: dict[str, Any]
) -> HttpResponse:
    collection, leaf = look.collection, leaves.pages[look.step - 1]
    minutes = max(1, round(collection.reading_seconds / 60))
    pages = leaves.asked
    if leaf.kind == CONSENT:
        context |= consent_context(collection) | {"is_unticked": look.said == "untick"}
        context["n_questions"] = leaves.n_graded
        known = collection.version.every_language
        context["languages"] = len(known) > 1 and [
            (tag, own_name(tag), replace(look, language=tag).address) for tag in known
        ]
        return shown(request, "consent.html", collection, context)
    if leaf.kind == REVIEW:
        context["progress"] = Progress(0, len(pages), len(pages), collection.reservation_minutes)
        context["pages"] = [
            (
                page,
                [(one.question, "") for one in page.assignments],
                look.at(leaves.step_of(page)).address,
            )
            for page in pages
            if not page.is_practice
        ]
        return shown(request, "review.html", collection, context)
    if leaf.page is None:
        context |= {"code": CODE, "way_back": _way_back(collection, look)}
        return shown(request, "thanks.html", collection, context)
    context |= _of_page(request, look, leaf, len(pages)) | {"reading_minutes": minutes}
    if leaf.kind == BEFORE:
        return shown(request, "before_text.html", collection, context)
    passage = leaf.page.passage
    if passage is not None and passage.image is not None:
        names = [collection.version.question_set.public_id, passage.image.public_id]
        context["picture"] = reverse("admin:image", args=names)
    if leaf.kind == TEXT:
        context |= {"passage": passage, "minutes_left": minutes}
        context["seconds_left"] = collection.reading_seconds
        return shown(request, "text.html", collection, context)
    if leaf.kind == FEEDBACK:
        return shown(request, "feedback.html", collection, context)
    is_recall = collection.protocol == Collection.Protocol.RECALL
    context["passage"] = None if is_recall else passage
    return shown(request, "questions.html", collection, context)


def _of_page(request: HttpRequest, look: Look, leaf: Leaf, n_pages: int) -> dict[str, Any]:
    """Return what a page of questions shows, and the page that tells what was right there."""
    collection, page = look.collection, leaf.page
    assert page is not None
    answered = page.number - (0 if leaf.kind == FEEDBACK else 1)
    told = []
    if leaf.kind == FEEDBACK:
        told = [
            Told(one.question, text, one.question.accepts(text))
            for one in page.assignments
            for text in (request.POST.get(f"{ANSWER}{one.question.public_id}", ""),)
        ]
    return {
        "page": page,
        "progress": Progress(page.number, answered, n_pages, collection.reservation_minutes),
        "fields": [
            Field(one, number, longest(collection, one.question))
            for number, one in enumerate(page.assignments, 1)
        ],
        "told": told,
        "was_saved": look.said == "saved",
    }


def _way_back(collection: Collection, look: Look) -> str:
    """Return where the button to the panel leads here: nowhere else, for nobody is to be paid."""
    return look.at(look.step).address if collection.return_url else ""


def _collection(version: QuestionSetVersion, protocol: str) -> Collection:
    """Return the settings of a version that is collected, else those it would have; not stored."""
    found = Collection.objects.filter(version=version).first()
    collection = found or Collection(
        version=version, places=1, signals=counts_signals(version.question_set)
    )
    collection.version = version
    if protocol in Collection.Protocol.values:
        collection.protocol = Collection.Protocol(protocol)
    return collection


def _version(question_set: QuestionSet, number: str) -> QuestionSetVersion | None:
    if not number:
        return question_set.latest_version()
    found = question_set.versions.filter(number=_number(number, 0)).first()
    if found is None:
        raise Http404
    return found


def _number(text: str, otherwise: int) -> int:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 7 else otherwise
