"""Start page: counts, items that need attention, first steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db.models import Count as Counted
from django.db.models import QuerySet
from django.http import HttpRequest
from django.template.response import TemplateResponse
from django.urls import reverse

from annotations.models import Question, QuestionSet, Response, Worker, invitations, is_requester
from annotations.web.numbers import TableCounts, read_numbers
from annotations.web.scope import get_user_id, select_visible
from evaluation.models import LanguageModel, Run, WorkerGrade
from evaluation.runs.background.liveness import count_running
from evaluation.runs.background.runs import visible_runs
from evaluation.runs.judging.tasks import filter_requests
from evaluation.runs.reports.lists import filter_unarchived, select_list_rows
from evaluation.runs.run_types.run_list import list_runs
from evaluation.site.attention import find_items_needing_attention
from evaluation.site.judging import list_to_judge

ITEMS_SHOWN = 20
RUNS_SHOWN = 5
LISTENING, ASKED = "listening", "asked"
ALL = (Counted("pk"),)


@dataclass(frozen=True)
class Count:
    """A count on the start page; `label` is the plural, `link` may be empty."""

    label: str
    number: int
    link: str = ""

    @property
    def noun(self) -> str:
        """Singular or plural of the label, by the number."""
        return self.label.removesuffix("s") if self.number == 1 else self.label


@dataclass(frozen=True)
class FirstStep:
    """One of a new requester's three steps to the first grades."""

    title: str
    text: str
    done: bool
    link: str = ""
    button: str = ""


def show_overview(request: HttpRequest) -> TemplateResponse:
    """Show counts from question sets to models, and the items that need attention."""
    numbers = read_counts(request)
    counts = build_flow_counts(request, numbers)
    items = find_items_needing_attention(request.user, numbers[LISTENING] > 0)
    sets = select_visible(request, QuestionSet.objects.all())
    context = {
        "title": "Overview",
        "counts": [count for count in counts if count.number or is_requester(request.user)],
        "items": items[:ITEMS_SHOWN],
        "hidden_items": max(0, len(items) - ITEMS_SHOWN),
        "inbox": list_to_judge(sets, get_user_id(request), known=True) if numbers[ASKED] else [],
        "invitations": invitations(request.user),
        "runs": list_runs(
            select_list_rows(filter_unarchived(visible_runs(request.user))).order_by("-id")[
                :RUNS_SHOWN
            ]
        ),
        "steps": build_first_steps(request, numbers),
    }
    return TemplateResponse(request, "admin/overview.html", context)


def build_flow_counts(request: HttpRequest, numbers: dict[str, int]) -> list[Count]:
    """Return the counts from question sets to models, with links to their lists."""
    sets, runs = reverse("admin:question-sets"), reverse("admin:runs")
    links = {
        "question sets": sets,
        "questions": sets,
        "workers": reverse("admin:workers"),
        "answers": sets,
        "runs": runs,
        "grades": runs,
        "language models": reverse("admin:models"),
    }
    return [Count(label, numbers[label], link) for label, link in links.items()]


def read_counts(request: HttpRequest) -> dict[str, int]:
    """Return the numbers of visible objects, background processes and tasks; one query.

    Beside it how many workers listen, and how many answers the one who asks is to judge.
    """
    texts = Response.objects.filter(state=Response.State.SUBMITTED, status=Response.Status.TEXT)
    querysets: dict[str, QuerySet[Any, Any]] = {
        "question sets": QuestionSet.objects.all(),
        "questions": Question.objects.all(),
        "workers": Worker.objects.all(),
        "answers": texts,
        "runs": Run.objects.all(),
        "grades": WorkerGrade.objects.all(),
        "language models": LanguageModel.objects.filter(archived_at=None),
    }
    parts = {
        name: TableCounts(select_visible(request, rows), ALL) for name, rows in querysets.items()
    }
    asked = TableCounts(filter_requests(get_user_id(request)), ALL)
    found = read_numbers({**parts, LISTENING: count_running(), ASKED: asked})
    return {name: n for name, [(n,)] in found.items()}


def build_first_steps(request: HttpRequest, counts: dict[str, int]) -> list[FirstStep]:
    """Return a requester's three steps to the first grades; none once there are grades."""
    if counts["grades"] or not is_requester(request.user):
        return []
    newest = QuestionSet.objects.editable_by(request.user).order_by("-id").first()
    steps = [
        FirstStep(
            "Make a question set",
            "It holds the questions, the answers and the runs.",
            newest is not None,
            reverse("admin:question-set-new"),
            "New question set",
        )
    ]
    upload = "" if newest is None else reverse("admin:question-set", args=[newest.public_id])
    grade = "" if newest is None else reverse("admin:grade", args=[newest.public_id])
    answered = counts["answers"] > 0
    return [
        *steps,
        FirstStep(
            "Upload questions and answers",
            "Files of any usual format; every bad row is named before anything is stored.",
            answered,
            upload,
            "Upload",
        ),
        FirstStep(
            "Grade",
            "A run finds what the crowd agrees on and grades everybody against it.",
            False,
            grade if answered else "",
            "Grade",
        ),
    ]
