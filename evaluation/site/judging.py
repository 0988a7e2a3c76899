"""The expert's screens: one thing after the other, judged blindly."""

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
from evaluation.judging import Choice, Judging, Task
from evaluation.kinds import UnknownKindError, judging_of


def judging(request: HttpRequest, set_id: UUID) -> HttpResponse:
    """Show an expert what is to be judged, and that it is done."""
    question_set = visible_or_404(request, QuestionSet.objects.all(), set_id)
    queues = []
    for queue in door.queues(question_set, user_id(request)):
        try:
            queues.append({"judging": judging_of(queue.declared), "progress": queue.progress})
        except UnknownKindError:
            continue  # the kind was taken out; what was judged comes back with it
    context = {
        "title": "To judge",
        "subtitle": question_set.name,
        "breadcrumbs": _way_here(question_set)[:1],
        "question_set": question_set,
        "queues": queues,
    }
    return TemplateResponse(request, "admin/judging/start.html", context)


def judge(request: HttpRequest, set_id: UUID, task_id: UUID) -> HttpResponse:
    """Show one thing; a posted judgement is saved at once and leads to the next."""
    question_set = visible_or_404(request, QuestionSet.objects.all(), set_id)
    expert = user_id(request)
    task = door.task(question_set, expert, task_id)
    if task is None:
        raise Http404("there is no such thing to judge")
    try:
        declared = judging_of(task.declared)
    except UnknownKindError as error:
        raise Http404(str(error)) from error
    problem = ""
    if request.method == "POST":
        choice = declared.choice(request.POST.get("grade", ""))
        if choice is not None:
            return _saved(request, question_set, expert, task_id, choice)
        problem = (
            "Choose a grade from 0 to 5." if declared.graded else "Choose one of the answers below."
        )
    context = {
        "title": f"{declared.one.capitalize()} {task.number} of {task.total}",
        "breadcrumbs": _way_here(question_set),
        "notice": question_set.notice,
        "question_set": question_set,
        "task": task,
        "task_id": task_id,
        "judging": declared,
        "keys": _keys(declared),
        "given": _given(declared, task),
        "problem": problem,
    }
    status = 400 if problem else 200
    return TemplateResponse(request, "admin/judging/task.html", context, status=status)


def _saved(
    request: HttpRequest, question_set: QuestionSet, expert: int, task_id: UUID, choice: Choice
) -> HttpResponse:
    try:
        following = door.judge(question_set, expert, task_id, choice)
    except door.NotAskedError:
        raise Http404("there is no such thing to judge") from None
    messages.success(
        request, f"Saved: {choice.code if choice.grade is not None else choice.words}."
    )
    if following is None:
        return redirect("admin:judging", question_set.public_id)
    return redirect("admin:judge", question_set.public_id, following)


def _given(judging: Judging, task: Task) -> str:
    """Return the code of what was chosen before; "" for nothing, or a grade between two."""
    return judging.code_of(task.grade, task.label)


def _keys(judging: Judging) -> str:
    """Return which keys judge."""
    pressed = [choice.pressed for choice in judging.choices]
    if pressed == [str(number) for number in range(len(pressed))]:
        return f"keys {pressed[0]} to {pressed[-1]}"
    return f"keys {', '.join(pressed[:-1])} and {pressed[-1]}"


def _way_here(question_set: QuestionSet) -> list[tuple[str, str]]:
    key = [question_set.public_id]
    return [
        (question_set.name, reverse("admin:question-set", args=key)),
        ("To judge", reverse("admin:judging", args=key)),
    ]
