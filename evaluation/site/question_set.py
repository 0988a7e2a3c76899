"""The page of a question set: how far the answers are, what was run, what to do next."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.db.models import Count, Exists, F, Model, OuterRef, Q, Subquery
from django.db.models.functions import Coalesce, Left, Right
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
from annotations.web.numbers import Numbers, TableCounts, read_numbers
from annotations.web.pages import IN_ORDER, load_page
from annotations.web.paging import Page
from annotations.web.scope import get_user_id, get_visible_or_404, select_visible
from annotations.web.texts import mark_code
from evaluation.background.liveness import HOW_TO_START, listening_part
from evaluation.grading.results.report.changes import change_of, change_parts
from evaluation.grading.results.report.of_record import record_runs
from evaluation.judging import progress
from evaluation.kinds.listed import listed
from evaluation.model_overview.views import newest_views
from evaluation.models import JudgementRequest, LanguageModel, Run
from evaluation.models.runs import ACTIVE
from evaluation.reports.lists import in_short
from evaluation.site.next_step import find_next_step
from evaluation.site.starting import starts_of

RUNS_SHOWN = 10
QUESTIONS_SHOWN = 25
BEGINNING = 240
"""Characters of a text that the list of questions shows."""


def question_set(request: HttpRequest, set_id: UUID) -> HttpResponse:
    """Show a set; `version` picks an older version."""
    sets = QuestionSet.objects.select_related("earlier_wave")
    shown = get_visible_or_404(request, sets, set_id)
    versions = versions_of(shown)
    version = chosen(versions, request.GET.get("version"))
    held = rights(request.user, shown)
    # Whoever sees what came back to a set sees its runs.
    of_set = Run.objects.filter(version__question_set=shown, archived_at=None)
    of_set = of_set.select_related("version").order_by("-id")
    runs = list(in_short(of_set)[:RUNS_SHOWN]) if held.answers else []
    waits = any(run.state in ACTIVE for run in runs)
    record = record_runs(shown, newest_views(shown)) if held.answers else None
    me = get_user_id(request)
    parts = {"asked": asked_part(me), "listening": listening_part()}
    if version is not None:
        parts |= counts_parts(version)
    if record and record.run:
        parts |= change_parts(record.run)
    numbers = read_numbers(parts)
    standing = None
    if record and record.run:
        standing = record.standing(change_of(record.run, numbers), versions[0])
    context: dict[str, Any] = {
        "title": shown.name,
        "subtitle": shown.description,
        "breadcrumbs": [("Question sets", reverse("admin:question-sets"))],
        "notice": shown.notice,
        "earlier_wave": wave_seen(request, shown),
        "question_set": shown,
        "rights": held,
        "to_judge": progress(shown, me, is_asked=True) if numbers["asked"] != [(0,)] else None,
        "versions": versions,
        "version": version,
        "draft": draft_beside(versions, version),
        "runs": listed(runs),
        "record": standing,
        "waiting": mark_code(HOW_TO_START) if waits and numbers["listening"] == [(0,)] else "",
    }
    counts: dict[str, int] = {}
    if version is not None:
        older = "" if version == versions[0] else f"?version={version.number}"
        counts = counts_from(numbers)
        page = questions_page(request, version, counts["questions"])
        starts = []
        if held.edit and counts["questions"]:
            found = starts_of(shown, older, [question_from(row) for row in page])
            starts = [one for one in found if counts["answers"] or not one.needs_answers]
        context |= {
            "starts": [one for one in starts if one.is_suited and not one.is_research],
            "ask": next((one for one in starts if one.link.startswith(ask_link(shown))), None),
            "research": [one for one in starts if one.is_suited and one.is_research],
            "unsuited": [one for one in starts if not one.is_suited],
            "counts": counts,
            "page": page,
            "models": models_of(request, version, sees_all=held.answers),
            "all_views": next(iter(record.others), None) if record else None,
        }
    collecting = versions[0].collecting if versions else None
    step = find_next_step(shown, held, counts, runs, standing, collecting)
    return TemplateResponse(request, "admin/question_set.html", context | {"step": step})


def ask_link(question_set: QuestionSet) -> str:
    """Return the page where models are asked the questions of a set."""
    return reverse("admin:ask-models", kwargs={"set_id": question_set.public_id})


def versions_of(question_set: QuestionSet) -> list[Any]:
    """Return the versions of a set, the newest first; one query.

    Each has `is_answered`, whether somebody handed in an answer to it, `n_questions`, and
    `collecting`, the state of its collection, None without one.
    """
    answered = Response.objects.filter(
        question__version=OuterRef("pk"), state=Response.State.SUBMITTED
    )
    questions = Question.objects.filter(version=OuterRef("pk")).order_by().values("version")
    counted = Subquery(questions.annotate(n=Count("pk")).values("n"))
    versions = question_set.versions.order_by("-number")
    return list(
        versions.annotate(
            is_answered=Exists(answered),
            n_questions=Coalesce(counted, 0),
            collecting=F("collection__state"),
        )
    )


def chosen(versions: list[Any], wanted: str | None) -> QuestionSetVersion | None:
    """Return the version of that number, else the newest that has answers, else the newest.

    `versions` are those of `versions_of` a set.
    """
    for version in versions:
        if str(version.number) == wanted:
            return version
    answered = (version for version in versions if version.is_answered)
    return next(answered, versions[0] if versions else None)


def wave_seen(request: HttpRequest, later: QuestionSet) -> QuestionSet | None:
    """Return the wave before a set, read with it, if the one who asks may see it."""
    before = later.earlier_wave
    return before if before is not None and rights(request.user, before).see else None


def asked_part(expert: int) -> TableCounts:
    """Return what counts all that somebody is asked to judge: most people nothing."""
    return TableCounts(JudgementRequest.objects.filter(expert=expert), (Count("pk"),))


def draft_beside(versions: list[Any], shown: QuestionSetVersion | None) -> dict[str, Any] | None:
    """Return the draft that follows the version that is shown, with its questions; else None.

    `versions` are those of `versions_of` a set.
    """
    if not versions or versions[0] == shown or versions[0].is_published:
        return None
    return {"number": versions[0].number, "n_questions": versions[0].n_questions}


def questions_page(
    request: HttpRequest, version: QuestionSetVersion, n_questions: int
) -> Page[dict[str, Any]]:
    """Return some of a version's questions in their order, with how many answered each.

    Answers are counted for the questions of the page alone: counting them in the query of the
    list would read all answers of the version.
    """
    rows = Question.objects.filter(version=version).values(
        *("pk", "public_id", "position", "external_id", "category"),
        *("accepted_answers", "answerable"),
        beginning=Left("text", BEGINNING),
        # A problem asks at its end.
        ending=Right("text", BEGINNING),
    )
    page = load_page(request, rows, IN_ORDER, QUESTIONS_SHOWN, n_questions)
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


def question_from(row: Mapping[str, Any]) -> Question:
    """Return a question of `questions_page` with the beginning and the end of its text."""
    return Question(
        text=f"{row['beginning']} {row['ending']}".strip(),
        accepted_answers=row["accepted_answers"],
        answerable=row["answerable"],
    )


def counts_parts(version: QuestionSetVersion) -> dict[str, TableCounts]:
    """Return what `counts_from` needs, to be read with `read_numbers`."""
    submitted = Response.objects.filter(submission__version=version, state=Response.State.SUBMITTED)
    numbers = (
        Count("pk", filter=Q(status=Response.Status.TEXT)),
        Count("pk", filter=Q(status=Response.Status.EMPTY)),
        Count("pk", filter=Q(rejected=True)),
    )
    of_version: dict[str, type[Model]] = {
        "questions": Question,
        "passages": Passage,
        "workers": Submission,
    }
    return {
        "submitted": TableCounts(submitted, numbers),
        **{
            name: TableCounts(model._default_manager.filter(version=version), (Count("pk"),))
            for name, model in of_version.items()
        },
    }


def counts_from(found: Mapping[str, list[Numbers]]) -> dict[str, int]:
    """Return how many questions, passages, workers and answers a version has."""
    answers = zip(("answers", "empty", "refused"), found["submitted"][0], strict=True)
    counts = {name: found[name][0][0] for name in ("questions", "passages", "workers")}
    return {**dict(answers), **counts, "possible": counts["questions"] * counts["workers"]}


def models_of(
    request: HttpRequest, version: QuestionSetVersion, *, sees_all: bool
) -> list[LanguageModel]:
    """Return the models that answered a version, with how many answers each has.

    Who `sees_all` that came back to the version sees all of them, others their own.
    """
    of_version = Q(responses__question__version=version)
    models = LanguageModel.objects.all()
    return list(
        (models if sees_all else select_visible(request, models))
        .filter(of_version)
        .annotate(
            n_answers=Count("responses", filter=of_version),
            n_without=Count("responses", filter=of_version & ~Q(responses__status="text")),
        )
        .order_by("name")
    )
