"""Question sets: the list, making and changing one, freezing its wording."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.db import IntegrityError, transaction
from django.db.models import Count, Exists, IntegerField, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.views.decorators.http import require_POST

from annotations.desk.forms import QuestionSetForm
from annotations.models import Question, QuestionSet, QuestionSetVersion, Response, Submission
from annotations.web.pages import NEWEST_FIRST, breadcrumbs, page_of
from annotations.web.scope import editable, maker, user_id, visible

SETS_PER_PAGE = 25


def question_sets(request: HttpRequest) -> HttpResponse:
    """List the sets, newest first; `q` searches their names."""
    search = request.GET.get("q", "").strip()
    rows = (
        visible(request, QuestionSet.objects.all())
        .select_related("owner", "team")
        .defer("description", "notice")
    )
    if search:
        rows = rows.filter(name__icontains=search)
    context = {
        "title": "Question sets",
        "page": page_of(request, _counted(rows), NEWEST_FIRST, SETS_PER_PAGE),
        "search": search,
    }
    return TemplateResponse(request, "annotations/question_sets.html", context)


def new_question_set(request: HttpRequest) -> HttpResponse:
    """Make a set."""
    return _form(request, QuestionSet(owner_id=maker(request)), "New question set", [])


def edit_question_set(request: HttpRequest, set_id: UUID) -> HttpResponse:
    """Change what is said about a set."""
    question_set = editable(request, QuestionSet.objects.all(), set_id)
    trail = breadcrumbs(question_set)
    return _form(request, question_set, f"Edit {question_set.name}", trail)


@require_POST
def publish(request: HttpRequest, set_id: UUID) -> HttpResponse:
    """Freeze the wording of the latest version."""
    question_set = editable(request, QuestionSet.objects.all(), set_id)
    latest = question_set.latest_version()
    if latest is None or not latest.questions.exists():
        messages.error(request, "There is nothing to publish: upload questions first.")
    elif latest.publish():
        messages.success(request, f"Version {latest.number} is published; its wording stays.")
    else:
        messages.info(request, f"Version {latest.number} was published before.")
    return redirect("admin:question-set", question_set.public_id)


def _form(
    request: HttpRequest, question_set: QuestionSet, title: str, trail: list[tuple[str, str]]
) -> HttpResponse:
    form = QuestionSetForm(request.POST or None, instance=question_set)
    if request.method == "POST" and form.is_valid():
        try:
            with transaction.atomic():
                saved = form.save()
        except IntegrityError:
            whose = "You have" if question_set.owner_id == user_id(request) else "Its owner has"
            form.add_error("name", f"{whose} a question set of this name.")
        else:
            return redirect("admin:question-set", saved.public_id)
    context = {
        "title": title,
        "breadcrumbs": trail or [("Question sets", reverse("admin:question-sets"))],
        "form": form,
        "button": "Save" if question_set.pk else "Make the question set",
    }
    return TemplateResponse(
        request, "annotations/question_set_form.html", context, status=400 if form.errors else 200
    )


def _counted(rows: QuerySet[QuestionSet]) -> QuerySet[QuestionSet]:
    """Add the counts of the list, each by a query of its own inside the one query."""
    latest = QuestionSetVersion.objects.filter(question_set=OuterRef("pk")).order_by("-number")
    return rows.annotate(
        version=Subquery(latest.values("number")[:1]),
        published=Exists(latest.filter(published_at__isnull=False)),
        n_questions=_count(
            Question.objects.filter(version__question_set=OuterRef("pk")).values(
                "version__question_set"
            ),
            "external_id",
        ),
        n_workers=_count(
            Submission.objects.filter(version__question_set=OuterRef("pk")).values(
                "version__question_set"
            ),
            "worker",
        ),
        n_answers=_count(
            Response.objects.filter(
                Q(status=Response.Status.TEXT),
                state=Response.State.SUBMITTED,
                submission__version__question_set=OuterRef("pk"),
            ).values("submission__version__question_set"),
            "pk",
            distinct=False,
        ),
    )


def _count(rows: QuerySet[Any, Any], field: str, distinct: bool = True) -> Coalesce:
    counted = rows.order_by().annotate(n=Count(field, distinct=distinct)).values("n")
    return Coalesce(Subquery(counted, output_field=IntegerField()), 0)
