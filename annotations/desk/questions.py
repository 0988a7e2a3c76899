"""Pages that show a question set's passages, and one question with its answers."""

from __future__ import annotations

from uuid import UUID

from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from annotations.models import Passage, Question, QuestionSet, Response, rights
from annotations.web.pages import AS_ADDED, IN_ORDER, build_breadcrumbs, load_page
from annotations.web.scope import get_visible_or_404, select_visible


def show_passages(request: HttpRequest, set_id: UUID) -> HttpResponse:
    """Show the passages of the latest version with their full texts, ten per page."""
    question_set = get_visible_or_404(request, QuestionSet.objects.all(), set_id)
    rows = select_visible(request, Passage.objects.all()).filter(
        version=question_set.latest_version()
    )
    counted = rows.annotate(n_questions=Count("questions"))
    context = {
        "title": "Passages",
        "breadcrumbs": build_breadcrumbs(question_set),
        "notice": question_set.notice,
        "question_set": question_set,
        "rights": rights(request.user, question_set),
        "page": load_page(request, counted, IN_ORDER, 10),
    }
    return TemplateResponse(request, "annotations/passages.html", context)


def show_question(request: HttpRequest, set_id: UUID, question_id: UUID) -> HttpResponse:
    """Show a question, its passage, and the submitted answers that the user may see."""
    question_set = get_visible_or_404(request, QuestionSet.objects.all(), set_id)
    rows = Question.objects.filter(version__question_set=question_set).select_related("passage")
    question = get_visible_or_404(request, rows, question_id)
    answers = (
        select_visible(request, Response.objects.all())
        .filter(question=question, state=Response.State.SUBMITTED)
        .select_related("submission__worker")
    )
    context = {
        "title": f"Question {question.external_id}",
        "breadcrumbs": build_breadcrumbs(question_set),
        "notice": question_set.notice,
        "question_set": question_set,
        "rights": rights(request.user, question_set),
        "question": question,
        "page": load_page(request, answers, AS_ADDED),
    }
    return TemplateResponse(request, "annotations/question.html", context)
