"""Question sets: the list, making and changing one, freezing its wording."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.views.decorators.http import require_POST

from annotations.desk.forms import QuestionSetForm
from annotations.editing import blocking
from annotations.models import QuestionSet
from annotations.web.lists import SetFilter, counted_sets
from annotations.web.pages import breadcrumbs
from annotations.web.scope import editable, maker, user_id, visible

SETS_PER_PAGE = 25


def question_sets(request: HttpRequest) -> HttpResponse:
    """List the sets, searched, filtered and sorted by what `SetFilter` declares."""
    rows = (
        visible(request, QuestionSet.objects.filter(archived_at=None))
        .select_related("owner", "team")
        .defer("description", "notice")
    )
    asked = SetFilter(request.GET, rows, user=request.user)
    context = {"title": "Question sets", **asked.listing(request, SETS_PER_PAGE, counted_sets)}
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
        said = "There is nothing to publish: write or upload questions first."
        messages.error(request, said, "nothing_to_publish")
    elif not latest.is_published and (found := blocking(latest)):
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        about = f"{found[0].item}: " if found[0].item else ""
        said = f"It cannot be published yet. {about}{found[0].words}{more}"
        messages.error(request, said, f"not_publishable {found[0].code}")
        return redirect("admin:editor", question_set.public_id)
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
            said = f"{whose} a question set of this name."
            form.add_error("name", ValidationError(said, "name_taken"))
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
