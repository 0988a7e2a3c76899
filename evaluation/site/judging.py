"""The expert's screens: one thing after the other, judged blindly."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from django.contrib import messages
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.views.decorators.http import require_POST

from annotations.models import QuestionSet
from annotations.web.scope import get_user_id, get_visible_or_404
from evaluation import judging as door
from evaluation.judging import Choice, Judging, Progress, Task
from evaluation.judging.inbox import inbox
from evaluation.kinds import UnknownKindError, judging_of

PROBLEMS = {
    "grade": "Choose a grade from 0 to 5.",
    "answer": "Choose one of the answers below.",
}
"""What is wrong with a posted judgement, by what had to be chosen."""


@dataclass(frozen=True)
class ToJudge:
    """A row of an inbox: what is judged of a set, and how far one is."""

    question_set: QuestionSet
    judging: Judging
    progress: Progress


def to_judge(sets: QuerySet[QuestionSet], expert: int, *, known: bool = False) -> list[ToJudge]:
    """Return what somebody is asked to judge of some sets, what is not done first.

    `known` says that they are asked something of some set.
    """
    rows = []
    for waiting in inbox(sets, expert, known=known):
        try:
            judging = judging_of(waiting.declared)
        except UnknownKindError:
            continue  # the kind was taken out; what was judged comes back with it
        rows.append(ToJudge(waiting.question_set, judging, waiting.progress))
    return rows


def judging(request: HttpRequest, set_id: UUID) -> HttpResponse:
    """Show an expert what is to be judged, and that it is done."""
    question_set = get_visible_or_404(request, QuestionSet.objects.all(), set_id)
    expert = get_user_id(request)
    mine = QuestionSet.objects.filter(pk=question_set.pk)
    context = {
        "title": "To judge",
        "subtitle": question_set.name,
        "breadcrumbs": _way_here(question_set)[:1],
        "question_set": question_set,
        "queues": to_judge(mine, expert),
        "last": door.last_judged(question_set, expert),
    }
    return TemplateResponse(request, "admin/judging/start.html", context)


def judge(request: HttpRequest, set_id: UUID, task_id: UUID) -> HttpResponse:
    """Show one thing; a posted judgement is saved at once and leads to the next."""
    question_set = get_visible_or_404(request, QuestionSet.objects.all(), set_id)
    expert = get_user_id(request)
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
        problem = PROBLEMS["grade" if declared.graded else "answer"]
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
        "last": _last(question_set, expert, task_id),
        "problem": problem,
    }
    status = 400 if problem else 200
    return TemplateResponse(request, "admin/judging/task.html", context, status=status)


@require_POST
def undo(request: HttpRequest, set_id: UUID, task_id: UUID) -> HttpResponse:
    """Take a judgement back, and show what it was about."""
    question_set = get_visible_or_404(request, QuestionSet.objects.all(), set_id)
    try:
        gone = door.undo(question_set, get_user_id(request), task_id)
    except door.NotAskedError:
        raise Http404("there is no such thing to judge") from None
    if gone:
        messages.success(request, "Taken back: it is to be judged again.")
    return redirect("admin:judge", question_set.public_id, task_id)


def _last(question_set: QuestionSet, expert: int, here: UUID) -> UUID | None:
    """Return what was judged last, to take it back; None where that is what is shown."""
    last = door.last_judged(question_set, expert)
    return None if last == here else last


def _saved(
    request: HttpRequest, question_set: QuestionSet, expert: int, task_id: UUID, choice: Choice
) -> HttpResponse:
    try:
        following = door.judge(question_set, expert, task_id, choice)
    except door.NotAskedError:
        raise Http404("there is no such thing to judge") from None
    said = choice.words if choice.grade is None else f"{choice.code}, {choice.words}"
    messages.success(request, f"Saved: {said}.")
    if following is None:
        return redirect("admin:judging", question_set.public_id)
    return redirect("admin:judge", question_set.public_id, following)


def _given(judging: Judging, task: Task) -> str:
    """Return the code of what was chosen before; "" for nothing, or a grade between two."""
    return judging.code_of(task.grade, task.label)


def _keys(judging: Judging) -> str:
    """Return which keys judge."""
    pressed = [choice.pressed for choice in judging.choices if len(choice.pressed) == 1]
    before = {choice.pressed[0] for choice in judging.choices if len(choice.pressed) == 2}
    if pressed == [str(number) for number in range(len(pressed))]:
        half = "".join(f", {key} and then a digit for a half more" for key in sorted(before))
        return f"keys {pressed[0]} to {pressed[-1]}{half}"
    return f"keys {', '.join(pressed[:-1])} and {pressed[-1]}"


def _way_here(question_set: QuestionSet) -> list[tuple[str, str]]:
    key = [question_set.public_id]
    return [
        (question_set.name, reverse("admin:question-set", args=key)),
        ("To judge", reverse("admin:judging", args=key)),
    ]
