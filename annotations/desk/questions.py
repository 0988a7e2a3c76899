"""Passages and questions of a set, and the answers to one of them."""

from __future__ import annotations

from uuid import UUID

from django.db.models import Count, Q
from django.db.models.functions import Left
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from annotations.desk.paging import Page, page_of
from annotations.desk.scope import visible, visible_or_404
from annotations.desk.uploads import breadcrumbs
from annotations.models import Passage, Question, QuestionSet, QuestionSetVersion, Response, rights

BEGINNING = 240
"""Characters of a text that a list shows."""
IN_ORDER = ("position", "pk")


def questions_page(request: HttpRequest, version: QuestionSetVersion, per_page: int) -> Page:
    """Return some of a version's questions in their order, with how many answered each.

    Answers are counted for the questions of the page alone: counting them in the query of the
    list would read all answers of the version.
    """
    rows = Question.objects.filter(version=version).values(
        "pk", "public_id", "external_id", "category", beginning=Left("text", BEGINNING)
    )
    page = page_of(request, rows, IN_ORDER, per_page)
    submitted = Response.objects.filter(
        question__in=[row["pk"] for row in page], state=Response.State.SUBMITTED
    )
    counted = {
        row["question"]: row
        for row in submitted.order_by()
        .values("question")
        .annotate(
            n_answers=Count("pk", filter=Q(status="text")),
            n_empty=Count("pk", filter=Q(status="empty")),
        )
    }
    for row in page:
        row |= counted.get(row["pk"], {"n_answers": 0, "n_empty": 0})
    return page


def passages(request: HttpRequest, set_id: UUID) -> HttpResponse:
    """Show the passages of the latest version, in full, a few on a page."""
    question_set = visible_or_404(request, QuestionSet.objects.all(), set_id)
    rows = visible(request, Passage.objects.all()).filter(version=question_set.latest_version())
    counted = rows.annotate(n_questions=Count("questions"))
    context = {
        "title": "Passages",
        "breadcrumbs": breadcrumbs(question_set),
        "notice": question_set.notice,
        "question_set": question_set,
        "rights": rights(request.user, question_set),
        "page": page_of(request, counted, IN_ORDER, 10),
    }
    return TemplateResponse(request, "annotations/passages.html", context)


def question(request: HttpRequest, set_id: UUID, question_id: UUID) -> HttpResponse:
    """Show a question, its passage and what people answered."""
    question_set = visible_or_404(request, QuestionSet.objects.all(), set_id)
    mine = Question.objects.filter(version__question_set=question_set).select_related("passage")
    shown = visible_or_404(request, mine, question_id)
    answers = (
        visible(request, Response.objects.all())
        .filter(question=shown, state=Response.State.SUBMITTED)
        .select_related("submission__worker")
    )
    context = {
        "title": f"Question {shown.external_id}",
        "breadcrumbs": breadcrumbs(question_set),
        "notice": question_set.notice,
        "question_set": question_set,
        "rights": rights(request.user, question_set),
        "question": shown,
        "page": page_of(request, answers, ("pk",)),
    }
    return TemplateResponse(request, "annotations/question.html", context)
