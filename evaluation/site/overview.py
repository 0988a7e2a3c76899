"""The first page: how much there is, what needs attention, what to do first."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import HttpRequest
from django.template.response import TemplateResponse
from django.urls import reverse

from annotations.models import (
    Question,
    QuestionSet,
    Response,
    Worker,
    invitations,
    is_requester,
)
from annotations.web.scope import user_id, visible
from evaluation.background.runs import visible_runs
from evaluation.kinds.listed import listed
from evaluation.models import LanguageModel, Run, WorkerGrade
from evaluation.reports.lists import in_short, unarchived
from evaluation.site.attention import attention
from evaluation.site.judging import to_judge

ITEMS_SHOWN = 20
RUNS_SHOWN = 5


@dataclass(frozen=True)
class Count:
    """A number of the flow; `label` is the plural of what is counted, `link` may be empty."""

    label: str
    number: int
    link: str = ""

    @property
    def noun(self) -> str:
        """What is counted, as it is called beside the number."""
        return self.label.removesuffix("s") if self.number == 1 else self.label


@dataclass(frozen=True)
class FirstStep:
    """One of the three things that lead to the first grades."""

    title: str
    text: str
    done: bool
    link: str = ""
    button: str = ""


def overview(request: HttpRequest) -> TemplateResponse:
    """Show the flow from question sets to models as counts, and what to do."""
    counts = flow(request)
    items = attention(request.user)
    context = {
        "title": "Overview",
        "counts": [count for count in counts if count.number or is_requester(request.user)],
        "items": items[:ITEMS_SHOWN],
        "hidden_items": max(0, len(items) - ITEMS_SHOWN),
        "inbox": to_judge(visible(request, QuestionSet.objects.all()), user_id(request)),
        "invitations": invitations(request.user),
        "runs": listed(
            in_short(unarchived(visible_runs(request.user))).order_by("-id")[:RUNS_SHOWN]
        ),
        "steps": first_steps(request, {count.label: count.number for count in counts}),
    }
    return TemplateResponse(request, "admin/overview.html", context)


def flow(request: HttpRequest) -> list[Count]:
    """Return the counts of the flow, in its order, of what the one who asks may see."""
    sets, runs = reverse("admin:question-sets"), reverse("admin:runs")
    texts = Response.objects.filter(state=Response.State.SUBMITTED, status=Response.Status.TEXT)
    return [
        Count("question sets", visible(request, QuestionSet.objects.all()).count(), sets),
        Count("questions", visible(request, Question.objects.all()).count(), sets),
        Count("workers", visible(request, Worker.objects.all()).count(), reverse("admin:workers")),
        Count("answers", visible(request, texts).count(), sets),
        Count("runs", visible(request, Run.objects.all()).count(), runs),
        Count("grades", visible(request, WorkerGrade.objects.all()).count(), runs),
        Count(
            "language models",
            visible(request, LanguageModel.objects.filter(archived_at=None)).count(),
            reverse("admin:models"),
        ),
    ]


def first_steps(request: HttpRequest, counts: dict[str, int]) -> list[FirstStep]:
    """Return the three steps of a requester to the first grades; none once there are grades."""
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
