"""Language models, and what one of them answered in a set."""

from __future__ import annotations

from uuid import UUID

from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from annotations.models import QuestionSet
from annotations.web.pages import NEWEST_FIRST, breadcrumbs, page_of
from annotations.web.paging import Keyset
from annotations.web.scope import visible, visible_or_404
from evaluation.models import LanguageModel, LLMResponse

BY_QUESTION = Keyset(
    "questions",
    ("question__version__number", "question__position", "question__public_id", "pk"),
)


def models(request: HttpRequest) -> HttpResponse:
    """List the language models, newest first."""
    rows = visible(request, LanguageModel.objects.all()).annotate(
        n_answers=Count("responses"),
        n_sets=Count("responses__question__version__question_set", distinct=True),
    )
    context = {"title": "Language models", "page": page_of(request, rows, NEWEST_FIRST)}
    return TemplateResponse(request, "admin/models/list.html", context)


def model_answers(request: HttpRequest, set_id: UUID, model_id: UUID) -> HttpResponse:
    """Show what a model answered to a set's questions."""
    question_set = visible_or_404(request, QuestionSet.objects.all(), set_id)
    model = visible_or_404(request, LanguageModel.objects.all(), model_id)
    answers = (
        visible(request, LLMResponse.objects.all())
        .filter(model=model, question__version__question_set=question_set)
        .select_related("question__version")
    )
    context = {
        "title": model.name,
        "subtitle": "Answers of a language model",
        "breadcrumbs": breadcrumbs(question_set),
        "notice": " ".join(filter(None, [question_set.notice, model.notice])),
        "question_set": question_set,
        "page": page_of(request, answers, BY_QUESTION),
    }
    return TemplateResponse(request, "admin/models/answers.html", context)
