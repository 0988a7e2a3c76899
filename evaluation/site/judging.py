"""The expert's screens: one answer after the other, judged blindly."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse

from annotations.models import QuestionSet
from annotations.web.scope import user_id, visible_or_404
from evaluation import judging as door

GRADES = (
    (0, "wrong, or no answer"),
    (1, "mostly wrong"),
    (2, "more wrong than right"),
    (3, "more right than wrong"),
    (4, "mostly right"),
    (5, "right"),
)


def judging(request: HttpRequest, set_id: UUID) -> HttpResponse:
    """Show an expert what is to be judged, and that it is done."""
    question_set = visible_or_404(request, QuestionSet.objects.all(), set_id)
    context = {
        "title": "Answers to judge",
        "subtitle": question_set.name,
        "breadcrumbs": _way_here(question_set)[:1],
        "question_set": question_set,
        "progress": door.progress(question_set, user_id(request)),
    }
    return TemplateResponse(request, "admin/judging/start.html", context)


def judge(request: HttpRequest, set_id: UUID, task_id: UUID) -> HttpResponse:
    """Show one answer; a posted grade is saved at once and leads to the next."""
    question_set = visible_or_404(request, QuestionSet.objects.all(), set_id)
    expert = user_id(request)
    problem = ""
    if request.method == "POST":
        grade = request.POST.get("grade", "")
        if grade in {str(number) for number, _ in GRADES}:
            return _saved(request, question_set, expert, task_id, int(grade))
        problem = "Choose a grade from 0 to 5."
    task = door.task(question_set, expert, task_id)
    if task is None:
        raise Http404("there is no such answer to judge")
    context = {
        "title": f"Answer {task.number} of {task.total}",
        "breadcrumbs": _way_here(question_set),
        "notice": question_set.notice,
        "question_set": question_set,
        "task": task,
        "task_id": task_id,
        "grades": GRADES,
        "problem": problem,
    }
    status = 400 if problem else 200
    return TemplateResponse(request, "admin/judging/task.html", context, status=status)


def _saved(
    request: HttpRequest, question_set: QuestionSet, expert: int, task_id: UUID, grade: int
) -> HttpResponse:
    try:
        following = door.judge(question_set, expert, task_id, grade)
    except door.NotAskedError:
        raise Http404("there is no such answer to judge") from None
    messages.success(request, f"Saved: {grade}.")
    if following is None:
        return redirect("admin:judging", question_set.public_id)
    return redirect("admin:judge", question_set.public_id, following)


def _way_here(question_set: QuestionSet) -> list[tuple[str, str]]:
    key = [question_set.public_id]
    return [
        (question_set.name, reverse("admin:question-set", args=key)),
        ("Answers to judge", reverse("admin:judging", args=key)),
    ]
