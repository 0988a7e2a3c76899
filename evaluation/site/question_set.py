"""The page of a question set: how far the answers are, what was run, what to do next."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.db.models import Count, Exists, Model, OuterRef, Q, Subquery
from django.db.models.functions import Coalesce, Left
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse

from annotations.models import (
    Passage,
    Question,
    QuestionSet,
    QuestionSetVersion,
    Response,
    Submission,
    rights,
)
from annotations.web.pages import IN_ORDER, page_of
from annotations.web.paging import Page
from annotations.web.scope import user_id, visible, visible_or_404
from annotations.web.texts import with_code
from evaluation.background.liveness import HOW_TO_START, somebody_listens
from evaluation.judging import progress
from evaluation.kinds.listed import listed
from evaluation.models import LanguageModel, Run
from evaluation.models.runs import ACTIVE
from evaluation.reports.lists import in_short
from evaluation.reports.of_record import record_of
from evaluation.site.results.views import newest_views
from evaluation.site.starting import starts_of
from evaluation.waves import wave_before

RUNS_SHOWN = 10
QUESTIONS_SHOWN = 25
# Kinds of run that have a button beside the heading; the others stand below, with what they do.
BUTTONS = 2
BEGINNING = 240
"""Characters of a text that the list of questions shows."""


def question_set(request: HttpRequest, set_id: UUID) -> HttpResponse:
    """Show a set; `version` picks an older version."""
    shown = visible_or_404(request, QuestionSet.objects.all(), set_id)
    versions = list(shown.versions.order_by("-number"))
    version = chosen(shown, versions, request.GET.get("version"))
    held = rights(request.user, shown)
    # Whoever sees what came back to a set sees its runs.
    of_set = Run.objects.filter(version__question_set=shown, archived_at=None)
    of_set = of_set.select_related("version").order_by("-id")
    runs = list(in_short(of_set)[:RUNS_SHOWN]) if held.answers else []
    waits = any(run.state in ACTIVE for run in runs)
    context: dict[str, Any] = {
        "title": shown.name,
        "subtitle": shown.description,
        "breadcrumbs": [("Question sets", reverse("admin:question-sets"))],
        "notice": shown.notice,
        "earlier_wave": wave_before(request, shown),
        "question_set": shown,
        "rights": held,
        "to_judge": progress(shown, user_id(request)),
        "versions": versions,
        "version": version,
        "draft": draft_beside(versions, version),
        "runs": listed(runs),
        "record": record_of(shown, versions[0]) if runs else None,
        "waiting": with_code(HOW_TO_START) if waits and not somebody_listens() else "",
    }
    if version is not None:
        older = "" if version == versions[0] else f"?version={version.number}"
        counts = counts_of(version)
        starts = [
            start
            for start in starts_of(shown, older)
            if counts["questions"] and (counts["answers"] or not start.needs_answers)
        ]
        context |= {
            "starts": starts[:BUTTONS],
            "more_starts": starts[BUTTONS:],
            "counts": counts,
            "page": questions_page(request, version, counts["questions"]),
            "models": models_of(request, version),
            "all_views": newest_views(shown),
        }
    return TemplateResponse(request, "admin/question_set.html", context)


def chosen(
    question_set: QuestionSet, versions: list[QuestionSetVersion], wanted: str | None
) -> QuestionSetVersion | None:
    """Return the version of that number, else the newest that has answers, else the newest.

    `versions` are those of the set, the newest first.
    """
    for version in versions:
        if str(version.number) == wanted:
            return version
    if len(versions) < 2:  # most sets have one: no query then
        return versions[0] if versions else None
    answered = Response.objects.filter(
        question__version=OuterRef("pk"), state=Response.State.SUBMITTED
    )
    newest = question_set.versions.filter(Exists(answered)).order_by("-number").first()
    return newest or versions[0]


def draft_beside(
    versions: list[QuestionSetVersion], shown: QuestionSetVersion | None
) -> dict[str, Any] | None:
    """Return the draft that follows the version that is shown, with its questions; else None."""
    if not versions or versions[0] == shown or versions[0].is_published:
        return None
    return {"number": versions[0].number, "n_questions": versions[0].questions.count()}


def questions_page(
    request: HttpRequest, version: QuestionSetVersion, n_questions: int
) -> Page[dict[str, Any]]:
    """Return some of a version's questions in their order, with how many answered each.

    Answers are counted for the questions of the page alone: counting them in the query of the
    list would read all answers of the version.
    """
    rows = Question.objects.filter(version=version).values(
        "pk", "public_id", "position", "external_id", "category", beginning=Left("text", BEGINNING)
    )
    page = page_of(request, rows, IN_ORDER, QUESTIONS_SHOWN, n_questions)
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


def counts_of(version: QuestionSetVersion) -> dict[str, int]:
    """Return how many questions, passages, workers and answers a version has, by two queries."""
    submitted = Response.objects.filter(submission__version=version, state=Response.State.SUBMITTED)
    answers = submitted.aggregate(
        answers=Count("pk", filter=Q(status=Response.Status.TEXT)),
        empty=Count("pk", filter=Q(status=Response.Status.EMPTY)),
        refused=Count("pk", filter=Q(rejected=True)),
    )
    parts = {"questions": Question, "passages": Passage, "workers": Submission}
    numbers = (
        QuestionSetVersion.objects.filter(pk=version.pk)
        .values_list(*(_number_of(model) for model in parts.values()))
        .get()
    )
    counts = dict(zip(parts, numbers, strict=True))
    return {**answers, **counts, "possible": counts["questions"] * counts["workers"]}


def _number_of(model: type[Model]) -> Coalesce:
    """Return how many rows of a model a version has, as a column."""
    rows = model._default_manager.filter(version=OuterRef("pk")).order_by().values("version")
    return Coalesce(Subquery(rows.annotate(n=Count("pk")).values("n")), 0)


def models_of(request: HttpRequest, version: QuestionSetVersion) -> list[LanguageModel]:
    """Return the models that answered a version, with how many answers each has."""
    of_version = Q(responses__question__version=version)
    return list(
        visible(request, LanguageModel.objects.all())
        .filter(of_version)
        .annotate(
            n_answers=Count("responses", filter=of_version),
            n_without=Count("responses", filter=of_version & ~Q(responses__status="text")),
        )
        .order_by("name")
    )
