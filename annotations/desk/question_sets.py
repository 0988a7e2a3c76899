"""Pages that list, create, edit and publish question sets."""

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
from annotations.editing import list_blocking_findings
from annotations.models import QuestionSet
from annotations.web.lists import QuestionSetFilter, annotate_set_counts
from annotations.web.pages import build_breadcrumbs
from annotations.web.scope import get_editable, get_user_id, require_requester, select_visible

SETS_PER_PAGE = 25


def list_question_sets(request: HttpRequest) -> HttpResponse:
    """List the question sets that the user may see, filtered and sorted by `QuestionSetFilter`."""
    rows = (
        select_visible(request, QuestionSet.objects.filter(archived_at=None))
        .select_related("owner", "team")
        # Long texts that the list does not show.
        .defer("description", "notice")
    )
    sets = QuestionSetFilter(request.GET, rows, user=request.user)
    context = {
        "title": "Question sets",
        **sets.build_list_context(request, SETS_PER_PAGE, annotate_set_counts),
    }
    return TemplateResponse(request, "annotations/question_sets.html", context)


def create_question_set(request: HttpRequest) -> HttpResponse:
    """Show the form of a new question set; POST creates it, owned by the user."""
    return _handle_question_set_form(
        request, QuestionSet(owner_id=require_requester(request)), "New question set", []
    )


def edit_question_set(request: HttpRequest, set_id: UUID) -> HttpResponse:
    """Edit name, description, language, licence and notice of a question set."""
    question_set = get_editable(request, QuestionSet.objects.all(), set_id)
    trail = build_breadcrumbs(question_set)
    return _handle_question_set_form(request, question_set, f"Edit {question_set.name}", trail)


@require_POST
def publish_latest_version(request: HttpRequest, set_id: UUID) -> HttpResponse:
    """Publish the latest version, which freezes its texts; refuse it if it has errors."""
    question_set = get_editable(request, QuestionSet.objects.all(), set_id)
    latest = question_set.latest_version()
    if latest is None or not latest.questions.exists():
        text = "There is nothing to publish: write or upload questions first."
        messages.error(request, text, "nothing_to_publish")
    elif not latest.is_published and (findings := list_blocking_findings(latest)):
        more = f" (and {len(findings) - 1} more)" if len(findings) > 1 else ""
        item = f"{findings[0].item}: " if findings[0].item else ""
        text = f"It cannot be published yet. {item}{findings[0].words}{more}"
        messages.error(request, text, f"not_publishable {findings[0].code}")
        return redirect("admin:editor", question_set.public_id)
    # False after a second click: the version is published once, by whichever request was first.
    elif latest.publish():
        messages.success(request, f"Version {latest.number} is published; its wording stays.")
    else:
        messages.info(request, f"Version {latest.number} was published before.")
    return redirect("admin:question-set", question_set.public_id)


def _handle_question_set_form(
    request: HttpRequest, question_set: QuestionSet, title: str, trail: list[tuple[str, str]]
) -> HttpResponse:
    """Show the form of a new or existing question set; POST saves it and opens its page."""
    form = QuestionSetForm(request.POST or None, instance=question_set)
    if request.method == "POST" and form.is_valid():
        try:
            # A savepoint, so that the page can be rendered after an IntegrityError.
            with transaction.atomic():
                saved = form.save()
        except IntegrityError:
            whose = "You have" if question_set.owner_id == get_user_id(request) else "Its owner has"
            text = f"{whose} a question set of this name."
            form.add_error("name", ValidationError(text, "name_taken"))
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
