"""The editor's first page: a version's passages and questions, with errors and warnings."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.views.decorators.http import require_POST

from annotations.answering.languages import describe_interface_language
from annotations.desk.editor.languages import list_language_progress
from annotations.desk.editor.saving import parse_optional_uuid
from annotations.editing import (
    Finding,
    ItemOrder,
    PublishedError,
    compare_versions,
    list_findings,
    lock_draft,
)
from annotations.editing.translation import arrange_items, build_sheets
from annotations.models import Image, Passage, Question, QuestionSet, QuestionSetVersion, rights
from annotations.web.images import build_image_response
from annotations.web.pages import IN_ORDER, build_breadcrumbs, load_page
from annotations.web.scope import get_editable, get_visible_or_404

PASSAGES_SHOWN = 20
QUESTIONS_SHOWN = 100
FINDINGS_SHOWN = 12
STALE_MESSAGE = (
    "Another person changed the order or deleted this, so nothing was moved. The page shows the "
    "present order."
)


def show_editor(request: HttpRequest, set_id: UUID) -> HttpResponse:
    """Show the latest version with errors and warnings; POST creates a new draft version."""
    question_set = get_editable(request, QuestionSet.objects.all(), set_id)
    if request.method == "POST":
        with lock_draft(question_set, anew=True):
            return redirect("admin:editor", set_id)
    version = question_set.latest_version()
    context = {
        "title": "Editor",
        "breadcrumbs": build_breadcrumbs(question_set),
        "notice": question_set.notice,
        "question_set": question_set,
        "version": version,
        "rights": rights(request.user, question_set),
    }
    if version is not None:
        context |= _build_version_context(request, version)
    return TemplateResponse(request, "annotations/editor/editor.html", context)


@require_POST
def move_item(request: HttpRequest, set_id: UUID) -> HttpResponse:
    """Move a passage or question by one position (`way`) or before another one (`before`).

    Without `way` and `before` it becomes the last. Nothing moves if the order changed since the
    page was shown (`seen`): the response is 409, or a redirect with a warning.
    """
    question_set = get_editable(request, QuestionSet.objects.all(), set_id)
    wants_json = "application/json" in request.headers.get("Accept", "")
    post = request.POST
    try:
        with lock_draft(question_set) as draft:
            item = _find_item(draft, post.get("item", ""))
            now = ItemOrder.from_version(draft)
            # Up and down mean another place if the order is no longer the one on the page.
            if item is None or now.seen != post.get("seen"):
                raise ValueError
            if post.get("way") in ("up", "down"):
                now.move_by(item, -1 if post["way"] == "up" else 1)
            else:
                _place_item(now, draft, item, post.get("before", ""), post.get("passage", ""))
            now.save(draft)
    except (ValueError, PublishedError) as error:
        text, why = STALE_MESSAGE, "stale"
        if isinstance(error, PublishedError):
            why = "published"
            text = "This version was published meanwhile: its order stays. Open the next version."
        if wants_json:
            return JsonResponse({"said": text, "why": why}, status=409)
        messages.warning(request, text, why)
        return redirect("admin:editor", set_id)
    if wants_json:
        return JsonResponse({"seen": now.seen})
    kind = "passage" if isinstance(item, Passage) else "question"
    position = request.POST.get("page", "")
    return redirect(
        # The posted position goes into a URL: only a plain word is accepted.
        reverse("admin:editor", args=[set_id])
        + (f"?after={position}" if position.isidentifier() else "")
        + f"#{kind}-{item.public_id}"
    )


def show_version_changes(request: HttpRequest, set_id: UUID) -> HttpResponse:
    """Show the differences between two versions of a question set.

    The query parameters `from` and `to` are their numbers; without them, the last two.
    """
    question_set = get_visible_or_404(request, QuestionSet.objects.all(), set_id)
    versions = list(question_set.versions.order_by("-number"))
    newer = _find_version(versions, request.GET.get("to")) or (versions[0] if versions else None)
    older = _find_version(versions, request.GET.get("from"))
    if older is None and newer is not None:
        older = next((version for version in versions if version.number < newer.number), None)
    context = {
        "title": "What changed",
        "breadcrumbs": build_breadcrumbs(question_set),
        "notice": question_set.notice,
        "question_set": question_set,
        "versions": versions,
        "older": older,
        "newer": newer,
        "changes": compare_versions(older, newer) if older and newer and older != newer else [],
    }
    return TemplateResponse(request, "annotations/editor/changes.html", context)


def send_image(request: HttpRequest, set_id: UUID, image_id: UUID) -> HttpResponse:
    """Send an image file of a question set that the user may see."""
    question_set = get_visible_or_404(request, QuestionSet.objects.all(), set_id)
    return build_image_response(
        get_visible_or_404(request, Image.objects.filter(question_set=question_set), image_id)
    )


def build_finding_url(question_set: QuestionSet, finding: Finding) -> str:
    """Return the URL of the editor page on which an error or warning can be corrected."""
    set_id = question_set.public_id
    if finding.language:
        return reverse("admin:editor-language", args=[set_id, finding.language]) + "?missing=yes"
    if isinstance(finding.item, Passage):
        return reverse("admin:editor-passage", args=[set_id, finding.item.public_id])
    if isinstance(finding.item, Question):
        return reverse("admin:editor-question", args=[set_id, finding.item.public_id])
    if finding.code in ("no_question", "none_graded", "more"):
        return reverse("admin:editor", args=[set_id])
    return reverse("admin:editor-texts", args=[set_id])


def _build_version_context(request: HttpRequest, version: QuestionSetVersion) -> dict[str, Any]:
    """Return the template context of a version: its passages, questions, errors and warnings.

    Questions without a passage have their own pages (query parameter `alone`).
    """
    question_set = version.question_set
    # All rows are read: findings and order need them, although the page shows some.
    passages = list(version.passages.order_by("position", "pk"))
    questions = list(version.questions.order_by("position", "pk"))
    with_images = version.passages.select_related("image").defer("image__content")
    page = load_page(request, with_images, IN_ORDER, PASSAGES_SHOWN, len(passages))
    questions_by_passage: dict[int | None, list[Question]] = {passage.pk: [] for passage in page}
    for question in questions:
        if question.passage_id in questions_by_passage:
            questions_by_passage[question.passage_id].append(question)
    alone = IN_ORDER.load_page(
        version.questions.filter(passage=None), request.GET.get("alone", ""), QUESTIONS_SHOWN
    )
    sheets = build_sheets(version, arrange_items(version, passages, questions))
    all_findings = list_findings(version, passages, questions, sheets)
    order = ItemOrder.from_rows(passages, questions)
    return {
        # The neighbour of an item that is dropped behind the last one of this page.
        "behind_passages": _find_following_id(order.passages, page.rows, version.passages)
        if page.next
        else "",
        "behind_alone": _find_following_id(order.questions[None], alone.rows, version.questions)
        if alone.next
        else "",
        "frame": describe_interface_language(version),
        "progress": list_language_progress(version, sheets),
        "page": page,
        "groups": [(passage, questions_by_passage[passage.pk]) for passage in page],
        "alone": alone,
        "n_questions": len(questions),
        "seen": order.seen,
        "findings": [
            (finding, build_finding_url(question_set, finding))
            for finding in all_findings[:FINDINGS_SHOWN]
        ],
        "n_more": max(0, len(all_findings) - FINDINGS_SHOWN),
        "n_errors": sum(finding.blocks for finding in all_findings),
        "n_warnings": sum(not finding.blocks for finding in all_findings),
        "next_number": version.number + 1,
        "earlier": version.number > 1,
    }


def _find_item(draft: QuestionSetVersion, public_id: str) -> Passage | Question | None:
    """Return the draft's question or passage with this public id; None if there is none."""
    public_ids = parse_optional_uuid(public_id)
    return (
        draft.questions.filter(public_id__in=public_ids).first()
        or draft.passages.filter(public_id__in=public_ids).first()
    )


def _find_following_id(keys: list[int], page_rows: list[Any], rows: Any) -> str:
    """Return the public id of the row that follows the last row of a page.

    `keys` are the primary keys of all rows in their order, `page_rows` the rows of the page.
    """
    following = keys[keys.index(page_rows[-1].pk) + 1]
    return str(rows.values_list("public_id", flat=True).get(pk=following))


def _place_item(
    order: ItemOrder, draft: QuestionSetVersion, item: Passage | Question, before: str, passage: str
) -> None:
    """Move an item before another one; a question may also change its passage.

    An empty `before` means the end, an empty `passage` no passage.

    Raises ValueError if the neighbour or the passage does not exist.
    """
    neighbour = _find_item(draft, before) if before else None
    if before and (neighbour is None or type(neighbour) is not type(item)):
        raise ValueError("no such neighbour")
    if isinstance(item, Passage):
        order.move_before(item, neighbour.pk if neighbour else None)
        return
    target = _find_item(draft, passage) if passage else None
    if passage and not isinstance(target, Passage):
        raise ValueError("no such passage")
    order.move_before(item, neighbour.pk if neighbour else None, target.pk if target else None)


def _find_version(
    versions: list[QuestionSetVersion], number: str | None
) -> QuestionSetVersion | None:
    """Return the version with this number; None if there is none."""
    return next((version for version in versions if str(version.number) == number), None)
