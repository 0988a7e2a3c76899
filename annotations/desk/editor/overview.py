"""The editor's first page: a version with its passages and questions in their order."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.views.decorators.http import require_POST

from annotations.answering.languages import said_of
from annotations.desk.editor.languages import told_of_languages
from annotations.desk.editor.saving import as_uuids
from annotations.editing import Finding, Order, PublishedError, differences, draft_of, findings
from annotations.models import Image, Passage, Question, QuestionSet, QuestionSetVersion, rights
from annotations.web.images import image_response
from annotations.web.pages import IN_ORDER, breadcrumbs, page_of
from annotations.web.scope import editable, visible, visible_or_404

PASSAGES_SHOWN = 20
QUESTIONS_SHOWN = 100
FINDINGS_SHOWN = 12
STALE = (
    "Somebody else changed the order or deleted this meanwhile, so nothing was moved. The page "
    "shows how it stands now."
)


def editor(request: HttpRequest, set_id: UUID) -> HttpResponse:
    """Show the latest version to edit; a post opens the next draft."""
    question_set = editable(request, QuestionSet.objects.all(), set_id)
    if request.method == "POST":
        with draft_of(question_set, anew=True):
            return redirect("admin:editor", set_id)
    version = question_set.latest_version()
    context = {
        "title": "Editor",
        "breadcrumbs": breadcrumbs(question_set),
        "notice": question_set.notice,
        "question_set": question_set,
        "version": version,
        "rights": rights(request.user, question_set),
    }
    if version is not None:
        context |= _contents(request, version)
    return TemplateResponse(request, "annotations/editor/editor.html", context)


@require_POST
def order(request: HttpRequest, set_id: UUID) -> HttpResponse:
    """Move an item: `way` up or down, or to before another (`before`, last without one).

    Nothing is moved where the order is not the one that the page showed (`seen`).
    """
    question_set = editable(request, QuestionSet.objects.all(), set_id)
    wants_json = "application/json" in request.headers.get("Accept", "")
    post = request.POST
    try:
        with draft_of(question_set) as draft:
            item = _item(draft, post.get("item", ""))
            now = Order.of(draft)
            if item is None or now.seen != post.get("seen"):
                raise ValueError
            if post.get("way") in ("up", "down"):
                now.move(item, -1 if post["way"] == "up" else 1)
            else:
                _put(now, draft, item, post.get("before", ""), post.get("passage", ""))
            now.save(draft)
    except (ValueError, PublishedError) as error:
        said, why = STALE, "stale"
        if isinstance(error, PublishedError):
            why = "published"
            said = "This version was published meanwhile: its order stays. Open the next version."
        if wants_json:
            return JsonResponse({"said": said, "why": why}, status=409)
        messages.warning(request, said, why)
        return redirect("admin:editor", set_id)
    if wants_json:
        return JsonResponse({"seen": now.seen})
    kind = "passage" if isinstance(item, Passage) else "question"
    where = request.POST.get("page", "")
    return redirect(
        reverse("admin:editor", args=[set_id])
        + (f"?after={where}" if where.isidentifier() else "")
        + f"#{kind}-{item.public_id}"
    )


def changes(request: HttpRequest, set_id: UUID) -> HttpResponse:
    """Show what differs between two versions: `from` and `to`, the last two without them."""
    question_set = visible_or_404(request, QuestionSet.objects.all(), set_id)
    versions = list(question_set.versions.order_by("-number"))
    newer = _numbered(versions, request.GET.get("to")) or (versions[0] if versions else None)
    older = _numbered(versions, request.GET.get("from"))
    if older is None and newer is not None:
        older = next((one for one in versions if one.number < newer.number), None)
    context = {
        "title": "What changed",
        "breadcrumbs": breadcrumbs(question_set),
        "notice": question_set.notice,
        "question_set": question_set,
        "versions": versions,
        "older": older,
        "newer": newer,
        "changes": differences(older, newer) if older and newer and older != newer else [],
    }
    return TemplateResponse(request, "annotations/editor/changes.html", context)


def image(request: HttpRequest, set_id: UUID, image_id: UUID) -> HttpResponse:
    """Send a picture of a set."""
    question_set = visible_or_404(request, QuestionSet.objects.all(), set_id)
    return image_response(
        visible_or_404(request, Image.objects.filter(question_set=question_set), image_id)
    )


def finding_link(question_set: QuestionSet, one: Finding) -> str:
    """Return where a finding is mended."""
    here = question_set.public_id
    if one.language:
        return reverse("admin:editor-language", args=[here, one.language]) + "?missing=yes"
    if isinstance(one.item, Passage):
        return reverse("admin:editor-passage", args=[here, one.item.public_id])
    if isinstance(one.item, Question):
        return reverse("admin:editor-question", args=[here, one.item.public_id])
    if one.code in ("no_question", "none_graded", "more"):
        return reverse("admin:editor", args=[here])
    return reverse("admin:editor-texts", args=[here])


def _contents(request: HttpRequest, version: QuestionSetVersion) -> dict[str, Any]:
    question_set = version.question_set
    passages = (
        visible(request, Passage.objects.all())
        .filter(version=version)
        .select_related("image")
        .defer("image__content")
    )
    page = page_of(request, passages, IN_ORDER, PASSAGES_SHOWN)
    questions = visible(request, Question.objects.all()).filter(version=version)
    of_passages: dict[int, list[Question]] = {passage.pk: [] for passage in page}
    for one in questions.filter(passage__in=list(of_passages)).order_by("position", "pk"):
        of_passages[one.passage_id or 0].append(one)
    alone = IN_ORDER.take(
        questions.filter(passage=None), request.GET.get("alone", ""), QUESTIONS_SHOWN
    )
    found = findings(version)
    now = Order.of(version)
    return {
        # Where an item goes that is dropped behind the last one of this page.
        "behind_passages": _after(now.passages, page.rows, version.passages) if page.next else "",
        "behind_alone": _after(now.questions[None], alone.rows, questions) if alone.next else "",
        "frame": said_of(version),
        "progress": told_of_languages(version),
        "page": page,
        "groups": [(passage, of_passages[passage.pk]) for passage in page],
        "alone": alone,
        "n_questions": questions.count(),
        "seen": now.seen,
        "findings": [(one, finding_link(question_set, one)) for one in found[:FINDINGS_SHOWN]],
        "n_more": max(0, len(found) - FINDINGS_SHOWN),
        "n_errors": sum(one.blocks for one in found),
        "n_warnings": sum(not one.blocks for one in found),
        "next_number": version.number + 1,
        "earlier": version.number > 1,
    }


def _item(draft: QuestionSetVersion, public_id: str) -> Passage | Question | None:
    key = as_uuids(public_id)
    return (
        draft.questions.filter(public_id__in=key).first()
        or draft.passages.filter(public_id__in=key).first()
    )


def _after(keys: list[int], shown: list[Any], rows: Any) -> str:
    """Return the public id of what follows the last of some rows."""
    following = keys[keys.index(shown[-1].pk) + 1]
    return str(rows.values_list("public_id", flat=True).get(pk=following))


def _put(
    order: Order, draft: QuestionSetVersion, item: Passage | Question, before: str, passage: str
) -> None:
    """Put an item where it was dropped; ValueError for a place that is not there."""
    beside = _item(draft, before) if before else None
    if before and (beside is None or type(beside) is not type(item)):
        raise ValueError("no such neighbour")
    if isinstance(item, Passage):
        order.put(item, beside.pk if beside else None)
        return
    place = _item(draft, passage) if passage else None
    if passage and not isinstance(place, Passage):
        raise ValueError("no such passage")
    order.put(item, beside.pk if beside else None, place.pk if place else None)


def _numbered(versions: list[QuestionSetVersion], number: str | None) -> QuestionSetVersion | None:
    return next((one for one in versions if str(one.number) == number), None)
