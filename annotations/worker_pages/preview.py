"""The pages of workers as they will see them, for who may see the set: nothing is stored.

The templates are the workers' own. There is no submission: the order is that of a worker with the
seed in the address, no place is taken, and what is typed goes nowhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from annotations.answering.finishing import longest
from annotations.answering.order import Asked, in_order
from annotations.answering.practice import Told
from annotations.answering.way import FEEDBACK, PAGE, TEXT, AnswerPage
from annotations.models import (
    Assignment,
    Collection,
    QuestionSet,
    QuestionSetVersion,
    counts_signals,
    rights,
)
from annotations.web.scope import visible_or_404
from annotations.worker_pages.entering import consent_context
from annotations.worker_pages.progress import Progress
from annotations.worker_pages.questions import Field
from annotations.worker_pages.showing import shown, speaking
from annotations.worker_pages.visit import ANSWER

CONSENT, BEFORE, THANKS = "consent", "before", "thanks"


@dataclass(frozen=True, slots=True)
class Leaf:
    """One page of the preview: what it is, and its page of questions where it has one."""

    kind: str
    page: AnswerPage | None = None


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
    seed = _number(request.GET.get("order", ""), 1)
    leaves = _leaves(collection, seed)
    at = min(max(1, _number(request.GET.get("step", ""), 1)), len(leaves))
    told = request.method == "POST" and at < len(leaves) and leaves[at].kind == FEEDBACK
    if request.method == "POST":
        at = min(at + 1, len(leaves))
        if not told:
            return redirect(_address(collection, seed, at))
    banner = {
        "editor": reverse("admin:editor", args=[set_id]) if may.edit else "",
        "set": reverse("admin:question-set", args=[set_id]),
        "at": at,
        "total": len(leaves),
        "version": version,
        "before": _address(collection, seed, at - 1) if at > 1 else "",
        "after": _address(collection, seed, at + 1) if at < len(leaves) else "",
        "other_order": _address(collection, seed + 1, at),
        "protocol": collection.protocol,
        "other_protocol": _address(_collection(version, _other(collection)), seed, 1),
    }
    with speaking(version):
        n_pages = sum(leaf.kind == PAGE for leaf in leaves)
        return _shown(request, collection, leaves[at - 1], n_pages, {"preview": banner})


def _shown(
    request: HttpRequest, collection: Collection, leaf: Leaf, n_pages: int, context: dict[str, Any]
) -> HttpResponse:
    if leaf.kind == CONSENT:
        return shown(request, "consent.html", collection, context | consent_context(collection))
    if leaf.kind == THANKS or leaf.page is None:
        return shown(request, "thanks.html", collection, context | {"code": "PREVIEW"})
    page = leaf.page
    progress = Progress(page.number, page.number - 1, n_pages, collection.reservation_minutes)
    minutes = max(1, round(collection.reading_seconds / 60))
    context |= {"page": page, "progress": progress, "reading_minutes": minutes}
    if leaf.kind == BEFORE:
        return shown(request, "before_text.html", collection, context)
    passage = page.passage
    if passage is not None and passage.image is not None:
        names = [collection.version.question_set.public_id, passage.image.public_id]
        context["picture"] = reverse("admin:image", args=names)
    if leaf.kind == TEXT:
        context |= {"passage": passage, "minutes_left": minutes}
        context["seconds_left"] = collection.reading_seconds
        return shown(request, "text.html", collection, context)
    if leaf.kind == FEEDBACK:
        context["told"] = [
            Told(one.question, text, one.question.accepts(text))
            for one in page.assignments
            for text in (request.POST.get(f"{ANSWER}{one.question.public_id}", ""),)
        ]
        return shown(request, "feedback.html", collection, context)
    is_recall = collection.protocol == Collection.Protocol.RECALL
    context |= {
        "passage": None if is_recall else passage,
        "fields": [
            Field(one, number, longest(collection, one.question))
            for number, one in enumerate(page.assignments, 1)
        ],
    }
    return shown(request, "questions.html", collection, context)


def _leaves(collection: Collection, seed: int) -> list[Leaf]:
    """Return all pages that a worker comes to who gets every question."""
    rows = collection.version.questions.select_related("passage__image")
    questions = {one.pk: one for one in rows.defer("passage__image__content").order_by("position")}
    asked = [Asked(one.pk, one.passage_id, one.role) for one in questions.values()]
    graded = [one for one in asked if questions[one.pk].is_graded]
    others = [one for one in asked if not questions[one.pk].is_graded]
    pages: dict[int, AnswerPage] = {}
    for place in in_order(graded, others, seed):
        one = Assignment(
            question=questions[place.question], position=place.position, page=place.page
        )
        pages.setdefault(place.page, AnswerPage(place.page, [])).assignments.append(one)
    is_recall = collection.protocol == Collection.Protocol.RECALL
    leaves = [Leaf(CONSENT)]
    read: set[int] = set()
    for page in pages.values():
        if is_recall and page.passage is not None and page.passage.pk not in read:
            read.add(page.passage.pk)
            leaves += [Leaf(BEFORE, page), Leaf(TEXT, page)]
        leaves.append(Leaf(PAGE, page))
        if page.is_practice:
            leaves.append(Leaf(FEEDBACK, page))
    return [*leaves, Leaf(THANKS)]


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


def _address(collection: Collection, seed: int, step: int) -> str:
    version = collection.version
    said = {"version": version.number, "protocol": collection.protocol, "order": seed, "step": step}
    there = reverse("admin:editor-preview", args=[version.question_set.public_id])
    return f"{there}?{urlencode(said)}"


def _other(collection: Collection) -> str:
    protocol = Collection.Protocol
    return protocol.OPEN if collection.protocol == protocol.RECALL else protocol.RECALL


def _number(text: str, otherwise: int) -> int:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 7 else otherwise
