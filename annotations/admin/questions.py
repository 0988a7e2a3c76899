"""Passages and questions of a set, and the answers to one of them."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.db.models import Count, Q, QuerySet
from django.db.models.functions import Left
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from annotations.admin.paging import page_of
from annotations.admin.scope import visible, visible_or_404
from annotations.admin.uploads import breadcrumbs
from annotations.models import Passage, Question, QuestionSet, QuestionSetVersion, Response

BEGINNING = 240
"""Characters of a text that a list shows."""


def with_answer_counts(version: QuestionSetVersion) -> QuerySet[Question, Any]:
    """Return the version's questions in their order, with how many answered each."""
    submitted = Q(responses__state=Response.State.SUBMITTED)
    return (
        Question.objects.filter(version=version)
        .order_by("position", "pk")
        .values("public_id", "external_id", "category", beginning=Left("text", BEGINNING))
        .annotate(
            n_answers=Count("responses", filter=submitted & Q(responses__status="text")),
            n_empty=Count("responses", filter=submitted & Q(responses__status="empty")),
        )
    )


def passages(request: HttpRequest, set_id: UUID) -> HttpResponse:
    """Show the passages of the latest version, in full, a few on a page."""
    question_set = visible_or_404(request, QuestionSet.objects.all(), set_id)
    rows = visible(request, Passage.objects.all()).filter(version=question_set.latest_version())
    counted = rows.annotate(n_questions=Count("questions")).order_by("position", "pk")
    context = {
        "title": "Passages",
        "breadcrumbs": breadcrumbs(question_set),
        "notice": question_set.notice,
        "question_set": question_set,
        "page": page_of(request, counted, 10),
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
        .order_by("pk")
    )
    context = {
        "title": f"Question {shown.external_id}",
        "breadcrumbs": breadcrumbs(question_set),
        "notice": question_set.notice,
        "question_set": question_set,
        "question": shown,
        "page": page_of(request, answers),
    }
    return TemplateResponse(request, "annotations/question.html", context)
