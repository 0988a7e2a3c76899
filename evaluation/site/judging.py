"""Pages on which an expert judges tasks blindly, one after the other."""

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
from evaluation.runs import judging as door
from evaluation.runs.judging import Choice, Judging, JudgingProgress, JudgingTask
from evaluation.runs.judging.tasks import load_inbox
from evaluation.runs.run_types import UnknownKindError, find_judging

PROBLEMS = {
    "grade": "Choose a grade from 0 to 5.",
    "answer": "Choose one of the answers below.",
}
"""Error of a posted judgement without a valid choice, by kind of choice."""


@dataclass(frozen=True)
class InboxRow:
    """An expert's judging tasks in one question set, with the progress."""

    question_set: QuestionSet
    judging: Judging
    progress: JudgingProgress


def list_judging_tasks(
    sets: QuerySet[QuestionSet], expert: int, *, known: bool = False
) -> list[InboxRow]:
    """Return an expert's judging tasks in some sets, unfinished ones first.

    `known` states that the expert is known to have a request in some set, which saves a query.
    """
    rows = []
    for waiting in load_inbox(sets, expert, known=known):
        try:
            judging = find_judging(waiting.declared)
        except UnknownKindError:
            continue  # the run type was disabled in the settings; its judgements are kept
        rows.append(InboxRow(waiting.question_set, judging, waiting.progress))
    return rows


def show_judging(request: HttpRequest, set_id: UUID) -> HttpResponse:
    """Show an expert's judging tasks in a set, with the finished ones marked."""
    question_set = get_visible_or_404(request, QuestionSet.objects.all(), set_id)
    expert = get_user_id(request)
    sets = QuestionSet.objects.filter(pk=question_set.pk)
    context = {
        "title": "To judge",
        "subtitle": question_set.name,
        "breadcrumbs": _build_breadcrumbs(question_set)[:1],
        "question_set": question_set,
        "queues": list_judging_tasks(sets, expert),
        "last": door.find_last_judged(question_set, expert),
    }
    return TemplateResponse(request, "admin/judging/start.html", context)


def show_or_save_judgement(request: HttpRequest, set_id: UUID, task_id: UUID) -> HttpResponse:
    """Show one judging task; POST saves the judgement and redirects to the next task."""
    question_set = get_visible_or_404(request, QuestionSet.objects.all(), set_id)
    expert = get_user_id(request)
    task = door.load_judging_task(question_set, expert, task_id)
    if task is None:
        raise Http404("there is no such thing to judge")
    try:
        declared = find_judging(task.declared)
    except UnknownKindError as error:
        raise Http404(str(error)) from error
    problem = ""
    if request.method == "POST":
        choice = declared.find_choice(request.POST.get("grade", ""))
        if choice is not None:
            return _save_judgement(request, question_set, expert, task_id, choice)
        problem = PROBLEMS["grade" if declared.graded else "answer"]
    context = {
        "title": f"{declared.one.capitalize()} {task.number} of {task.total}",
        "breadcrumbs": _build_breadcrumbs(question_set),
        "notice": question_set.notice,
        "question_set": question_set,
        "task": task,
        "task_id": task_id,
        "judging": declared,
        "keys": _describe_choice_keys(declared),
        "given": _find_given_code(declared, task),
        "last": _find_last_judged_task(question_set, expert, task_id),
        "problem": problem,
    }
    status = 400 if problem else 200
    return TemplateResponse(request, "admin/judging/task.html", context, status=status)


@require_POST
def undo_judgement(request: HttpRequest, set_id: UUID, task_id: UUID) -> HttpResponse:
    """Delete a judgement and show its task again."""
    question_set = get_visible_or_404(request, QuestionSet.objects.all(), set_id)
    try:
        gone = door.delete_judgement(question_set, get_user_id(request), task_id)
    except door.NotAskedError:
        raise Http404("there is no such thing to judge") from None
    if gone:
        messages.success(request, "Taken back: it is to be judged again.")
    return redirect("admin:judge", question_set.public_id, task_id)


def _find_last_judged_task(question_set: QuestionSet, expert: int, shown_task: UUID) -> UUID | None:
    """Return the task that the expert judged last; None if it is the shown one."""
    last = door.find_last_judged(question_set, expert)
    return None if last == shown_task else last


def _save_judgement(
    request: HttpRequest, question_set: QuestionSet, expert: int, task_id: UUID, choice: Choice
) -> HttpResponse:
    """Save a judgement and redirect to the next task, or to the list after the last one."""
    try:
        following = door.store_judgement(question_set, expert, task_id, choice)
    except door.NotAskedError:
        raise Http404("there is no such thing to judge") from None
    answer = choice.words if choice.grade is None else f"{choice.code}, {choice.words}"
    messages.success(request, f"Saved: {answer}.")
    if following is None:
        return redirect("admin:judging", question_set.public_id)
    return redirect("admin:judge", question_set.public_id, following)


def _find_given_code(judging: Judging, task: JudgingTask) -> str:
    """Return the code of the stored judgement; "" for none, or one between two choices."""
    return judging.find_code(task.grade, task.label)


def _describe_choice_keys(judging: Judging) -> str:
    """Return a phrase that names the keyboard keys of the choices."""
    pressed = [choice.pressed for choice in judging.choices if len(choice.pressed) == 1]
    before = {choice.pressed[0] for choice in judging.choices if len(choice.pressed) == 2}
    if pressed == [str(number) for number in range(len(pressed))]:
        half = "".join(f", {key} and then a digit for a half more" for key in sorted(before))
        return f"keys {pressed[0]} to {pressed[-1]}{half}"
    return f"keys {', '.join(pressed[:-1])} and {pressed[-1]}"


def _build_breadcrumbs(question_set: QuestionSet) -> list[tuple[str, str]]:
    """Return the links to the set and to its list of tasks."""
    key = [question_set.public_id]
    return [
        (question_set.name, reverse("admin:question-set", args=key)),
        ("To judge", reverse("admin:judging", args=key)),
    ]
