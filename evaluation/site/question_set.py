"""Page of a question set: versions, answers, runs and the recommended next step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Count, Exists, F, Model, OuterRef, Q, Subquery
from django.db.models.functions import Coalesce, Left, Right
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse

from annotations.models import (
    Collection,
    Passage,
    Question,
    QuestionSet,
    QuestionSetVersion,
    Response,
    Submission,
    rights,
)
from annotations.models.uploads import select_open_uploads
from annotations.web.numbers import Numbers, TableCounts, load_table_counts
from annotations.web.pages import IN_ORDER, load_page
from annotations.web.paging import Page
from annotations.web.scope import get_user_id, get_visible_or_404, select_visible
from annotations.web.texts import mark_code
from evaluation.grading.results.report.changes import build_change_parts, build_data_change
from evaluation.grading.results.report.run import OfficialRun, read_official_run_sources
from evaluation.model_overview.views import select_overviews
from evaluation.models import JudgementRequest, LanguageModel, Run
from evaluation.models.runs import ACTIVE, GRADING
from evaluation.runs.background.progress import HOW_TO_START, build_process_count
from evaluation.runs.judging import load_expert_progress
from evaluation.runs.reports.lists import annotate_runs_for_list
from evaluation.runs.run_types.run_list import list_runs
from evaluation.site.runs import build_start_links


@dataclass(frozen=True)
class NextStep:
    """Recommended next action on a question set: its code, and the link to its page."""

    code: str
    label: str
    link: str


def find_next_step(
    question_set: QuestionSet,
    rights: Any,
    counts: Mapping[str, int],
    runs: Sequence[Run],
    record: OfficialRun | None,
    collecting: str | None,
) -> NextStep | None:
    """Return the user's recommended next action on a set; None if there is nothing to do.

    Parameters
    ----------
    counts : `questions` and `answers` of the version that is shown; empty without a version.
    runs : the newest runs of the set. record : the official run, None without a finished one.
    collecting : the state of the collection of the latest version; None without one.
    """
    if question_set.archived_at or not rights.answers:
        return None
    own = {"set_id": question_set.public_id}
    results = None
    if record is not None:
        link = reverse("admin:results-run", kwargs={"run": record.run})
        results = NextStep("show_results", "Show results", link)
    if not rights.edit:
        return results
    if not counts.get("questions"):
        return NextStep("import_answers", "Import answers", reverse("admin:import", kwargs=own))
    if not counts["answers"]:
        is_open = collecting == Collection.State.OPEN
        code, label = ("watch", "Show progress") if is_open else ("collect", "Collect answers")
        return NextStep(code, label, reverse("admin:collecting", kwargs=own))
    for run in runs:
        if run.kind == GRADING and run.state in ACTIVE:
            link = reverse("admin:run", kwargs={"run_id": run.public_id})
            return NextStep("follow_run", "Follow the run", link)
    if results is None or (record is not None and record.changed and record.newer is None):
        return NextStep("grade", "Grade", reverse("admin:grade", kwargs=own))
    return results


RUNS_SHOWN = 10
QUESTIONS_SHOWN = 25
BEGINNING = 240
"""Characters of a text that the list of questions shows."""


def show_question_set(request: HttpRequest, set_id: UUID) -> HttpResponse:
    """Show a question set; query parameter `version` selects an older version."""
    sets = QuestionSet.objects.select_related("earlier_wave")
    question_set = get_visible_or_404(request, sets, set_id)
    versions = load_versions(question_set)
    version = select_version(versions, request.GET.get("version"))
    permissions = rights(request.user, question_set)
    # Users who may see the answers may see the runs.
    of_set = Run.objects.filter(version__question_set=question_set, archived_at=None)
    of_set = of_set.select_related("version").order_by("-id")
    runs = list(annotate_runs_for_list(of_set)[:RUNS_SHOWN]) if permissions.answers else []
    waits = any(run.state in ACTIVE for run in runs)
    record = (
        read_official_run_sources(question_set, select_overviews(question_set))
        if permissions.answers
        else None
    )
    me = get_user_id(request)
    uploads = select_open_uploads(question_set, me)
    parts = {
        "asked": build_judging_request_count(me),
        "listening": build_process_count(),
        "uploads": TableCounts(uploads, (Count("pk"),)),
    }
    if version is not None:
        parts |= build_version_count_queries(version)
    if record and record.run:
        parts |= build_change_parts(record.run)
    # One statement for all counts of the page, instead of a query for each.
    numbers = load_table_counts(parts)
    standing = None
    if record and record.run:
        standing = record.build_official_run(build_data_change(record.run, numbers), versions[0])
    context: dict[str, Any] = {
        "title": question_set.name,
        "subtitle": question_set.description,
        "breadcrumbs": [("Question sets", reverse("admin:question-sets"))],
        "notice": question_set.notice,
        "earlier_wave": find_visible_earlier_wave(request, question_set),
        "question_set": question_set,
        "rights": permissions,
        "to_judge": load_expert_progress(question_set, me, is_asked=True)
        if numbers["asked"] != [(0,)]
        else None,
        "versions": versions,
        "version": version,
        "draft": find_draft(versions, version),
        "uploads": list(uploads) if permissions.edit and numbers["uploads"] != [(0,)] else [],
        "runs": list_runs(runs),
        "record": standing,
        "waiting": mark_code(HOW_TO_START) if waits and numbers["listening"] == [(0,)] else "",
    }
    counts: dict[str, int] = {}
    if version is not None:
        older = "" if version == versions[0] else f"?version={version.number}"
        counts = read_version_counts(numbers)
        page = load_questions_page(request, version, counts["questions"])
        starts = []
        if permissions.edit and counts["questions"]:
            links = build_start_links(
                question_set, older, [build_question_from_ends(row) for row in page]
            )
            starts = [link for link in links if counts["answers"] or not link.needs_answers]
        context |= {
            "starts": [link for link in starts if link.is_suited and not link.is_research],
            "ask": next(
                (link for link in starts if link.link.startswith(build_ask_link(question_set))),
                None,
            ),
            "research": [link for link in starts if link.is_suited and link.is_research],
            "unsuited": [link for link in starts if not link.is_suited],
            "counts": counts,
            "page": page,
            "models": load_answering_models(request, version, sees_all=permissions.answers),
            "all_views": next(iter(record.others), None) if record else None,
        }
    collecting = versions[0].collecting if versions else None
    step = find_next_step(question_set, permissions, counts, runs, standing, collecting)
    return TemplateResponse(request, "admin/question_set.html", context | {"step": step})


def build_ask_link(question_set: QuestionSet) -> str:
    """Return the URL of the page to ask models the questions of a set."""
    return reverse("admin:ask-models", kwargs={"set_id": question_set.public_id})


def load_versions(question_set: QuestionSet) -> list[Any]:
    """Return the versions of a set, newest first, with their numbers of questions.

    Each has `is_answered` (whether it has a submitted answer), `n_questions`, and `collecting` (the
    state of its collection, None without one).
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


def select_version(versions: list[Any], wanted: str | None) -> QuestionSetVersion | None:
    """Return the version numbered `wanted`, else the newest with answers, else the newest.

    `versions` are the set's rows of `load_versions`.
    """
    for version in versions:
        if str(version.number) == wanted:
            return version
    answered = (version for version in versions if version.is_answered)
    return next(answered, versions[0] if versions else None)


def find_visible_earlier_wave(request: HttpRequest, later: QuestionSet) -> QuestionSet | None:
    """Return the set's earlier wave if the user may see it, else None."""
    before = later.earlier_wave
    return before if before is not None and rights(request.user, before).see else None


def build_judging_request_count(expert: int) -> TableCounts:
    """Return the query for the number of judgements requested from an expert."""
    return TableCounts(JudgementRequest.objects.filter(expert=expert), (Count("pk"),))


def find_draft(versions: list[Any], version: QuestionSetVersion | None) -> dict[str, Any] | None:
    """Return number and question count of the draft after the shown version; None without one.

    `versions` are the set's rows of `load_versions`.
    """
    if not versions or versions[0] == version or versions[0].is_published:
        return None
    return {"number": versions[0].number, "n_questions": versions[0].n_questions}


def load_questions_page(
    request: HttpRequest, version: QuestionSetVersion, n_questions: int
) -> Page[dict[str, Any]]:
    """Return one page of a version's questions as rows, with their numbers of answers.

    Answers are counted for the questions of the page alone: counting them in the query of the
    list would read all answers of the version.
    """
    rows = Question.objects.filter(version=version).values(
        *("pk", "public_id", "position", "external_id", "category"),
        *("accepted_answers", "answerable"),
        beginning=Left("text", BEGINNING),
        # A word problem has its question at the end.
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


def build_question_from_ends(row: Mapping[str, Any]) -> Question:
    """Return an unsaved question whose text is the first and last 240 characters of a row's."""
    return Question(
        text=f"{row['beginning']} {row['ending']}".strip(),
        accepted_answers=row["accepted_answers"],
        answerable=row["answerable"],
    )


def build_version_count_queries(version: QuestionSetVersion) -> dict[str, TableCounts]:
    """Return the queries of a version's counts by name, to run with `load_table_counts`."""
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


def read_version_counts(numbers: Mapping[str, list[Numbers]]) -> dict[str, int]:
    """Return a version's numbers of questions, passages, workers and answers."""
    answers = zip(("answers", "empty", "refused"), numbers["submitted"][0], strict=True)
    counts = {name: numbers[name][0][0] for name in ("questions", "passages", "workers")}
    return {**dict(answers), **counts, "possible": counts["questions"] * counts["workers"]}


def load_answering_models(
    request: HttpRequest, version: QuestionSetVersion, *, sees_all: bool
) -> list[LanguageModel]:
    """Return the models with answers to a version, with their numbers of answers.

    Users who see all answers (`sees_all`) get all models, others their own.
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
