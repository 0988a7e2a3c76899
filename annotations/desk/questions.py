"""Passages and questions of a set, and the answers to one of them."""

from __future__ import annotations

from uuid import UUID

from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from annotations.models import Passage, Question, QuestionSet, Response, rights
from annotations.web.pages import AS_ADDED, IN_ORDER, breadcrumbs, page_of
from annotations.web.scope import visible, visible_or_404


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
        "page": page_of(request, answers, AS_ADDED),
    }
    return TemplateResponse(request, "annotations/question.html", context)
