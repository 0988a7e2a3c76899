"""Pages for the writers and validators of a writing project; other users get 404."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import reverse

from annotations import writing as rules
from annotations.desk.writing.forms import ProblemForm, VoteForm
from annotations.models import WritingMember, WrittenProblem
from annotations.web.pages import NEWEST_FIRST, Breadcrumbs, load_page
from annotations.web.scope import RefusedError, get_user_id

WRITER = WritingMember.Role.WRITER


def list_memberships(request: HttpRequest) -> HttpResponse:
    """List the writing projects in which the user is a writer or a validator."""
    context = {"title": "Writing and checking", "members": rules.list_memberships(request.user)}
    return TemplateResponse(request, "annotations/writing/mine.html", context)


def show_participant_page(request: HttpRequest, project_id: UUID) -> HttpResponse:
    """Show a writer the problems they wrote, and a validator the problems to check.

    POST by a writer takes the next question.
    """
    member = load_membership(request, project_id)
    if member.role != WRITER:
        return _show_validator_tasks(request, member)
    if request.method == "POST":
        try:
            problem = rules.take_question(member.project, get_user_id(request))
        except rules.WritingError as error:
            messages.error(request, str(error))
            return redirect("admin:writing-desk", project_id)
        return redirect("admin:writing-write", project_id, problem.public_id)
    slots = rules.count_problems(member.project)
    context = {
        **build_participant_context(member, "Problems that you write"),
        "slots": slots,
        "free": slots.free
        and rules.find_next_original(member.project, get_user_id(request)) is not None,
        "page": load_page(
            request, _select_own_problems(request, member).select_related("original"), NEWEST_FIRST
        ),
    }
    return TemplateResponse(request, "annotations/writing/writer.html", context)


def write_problem(request: HttpRequest, project_id: UUID, own_id: UUID) -> HttpResponse:
    """Show a problem of the writer; POST saves it as a draft or submits it to the validators.

    If the rules refuse it, the page shows the typed text with the error.
    """
    member = load_membership(request, project_id, WRITER)
    problem = get_object_or_404(
        _select_own_problems(request, member).select_related("original"), public_id=own_id
    )
    # For the page only: the rules check it again under the lock.
    is_own = problem.state in rules.EDITABLE_STATES and member.project.closed_at is None
    initial = {"text": problem.text, "category": problem.category}
    form = ProblemForm(request.POST if request.method == "POST" else None, initial=initial)
    if request.method == "POST" and form.is_valid():
        store = rules.submit_problem if request.POST.get("do") == "submit" else rules.save_problem
        try:
            store(problem, form.cleaned_data["text"], form.cleaned_data["category"])
        except rules.WritingError as error:
            form.add_rule_error(error)
        else:
            is_submitted = store is rules.submit_problem
            messages.success(request, "Handed in." if is_submitted else "Saved.")
            if is_submitted:
                return redirect("admin:writing-desk", project_id)
            return redirect("admin:writing-write", project_id, own_id)
    returned = problem.state == WrittenProblem.State.RETURNED
    context = {
        **build_participant_context(member, f"Problem {problem.external_id}", deeper=True),
        "problem": problem,
        "is_own": is_own,
        "form": form,
        "categories": rules.CATEGORY_DESCRIPTIONS.items(),
        "chosen": str(form["category"].value() or ""),
        "words": rules.list_anonymous_votes(problem) if returned else [],
        "note": rules.find_return_note(problem) if returned else "",
        "may_withdraw": is_own or problem.state == WrittenProblem.State.CHECKING,
    }
    return TemplateResponse(
        request, "annotations/writing/write.html", context, status=400 if form.errors else 200
    )


def withdraw_problem(request: HttpRequest, project_id: UUID, own_id: UUID) -> HttpResponse:
    """Ask for confirmation; POST withdraws a problem that the user wrote."""
    member = load_membership(request, project_id, WRITER)
    problem = get_object_or_404(
        _select_own_problems(request, member).select_related("original"), public_id=own_id
    )
    if request.method == "POST":
        try:
            rules.withdraw_problem(problem)
        except rules.WritingError as error:
            messages.error(request, str(error))
        else:
            messages.success(request, f"Problem {problem.external_id} is given up.")
        return redirect("admin:writing-desk", project_id)
    context = {
        **build_participant_context(member, f"Give up problem {problem.external_id}?", deeper=True),
        "text": "Others can take its question again. Your text stays stored and is not checked.",
        "button": "Give it up",
        "back": reverse("admin:writing-write", args=[project_id, own_id]),
    }
    return TemplateResponse(request, "annotations/confirm.html", context)


def check_problem(request: HttpRequest, project_id: UUID, check_id: UUID) -> HttpResponse:
    """Show a problem to a validator; POST stores the vote and opens the next problem."""
    member = load_membership(request, project_id, WritingMember.Role.VALIDATOR)
    task = rules.find_problem_task(member.project, get_user_id(request), check_id)
    if task is None:
        # The other votes decided it while this validator was reading.
        if request.method == "POST":
            messages.warning(request, rules.MESSAGES["decided"], "decided")
            return redirect("admin:writing-desk", project_id)
        raise Http404("there is no such problem to check")
    verdict = {None: "", True: "yes", False: "no"}[task.answerable]
    initial = {"verdict": verdict, "category": task.category, "note": task.note}
    form = VoteForm(request.POST if request.method == "POST" else None, initial=initial)
    if request.method == "POST" and form.is_valid():
        try:
            following = rules.vote_on_problem(
                member.project, get_user_id(request), check_id, *form.read_vote()
            )
        except rules.WritingError as error:
            form.add_rule_error(error)
        else:
            messages.success(request, "Saved.")
            if following is None:
                return redirect("admin:writing-desk", project_id)
            return redirect("admin:writing-check", project_id, following)
    context = {
        **build_participant_context(member, "A problem to check", deeper=True),
        "task": task,
        "form": form,
        "categories": rules.CATEGORY_DESCRIPTIONS.items(),
        "chosen": str(form["category"].value() or ""),
        "verdict": form["verdict"].value() or "",
    }
    return TemplateResponse(
        request, "annotations/writing/check.html", context, status=400 if form.errors else 200
    )


def _show_validator_tasks(request: HttpRequest, member: WritingMember) -> HttpResponse:
    """Show a validator the list of problems to check."""
    if request.method == "POST":
        raise Http404("who checks does not write")
    _refuse_if_sees_votes(request, member)
    tasks = rules.list_problem_tasks(member.project, get_user_id(request))
    context = {
        **build_participant_context(member, "Problems to check"),
        "tasks": tasks,
        "candidates": rules.list_candidate_tasks(member.project, get_user_id(request)),
    }
    return TemplateResponse(request, "annotations/writing/validator.html", context)


def load_membership(request: HttpRequest, project_id: UUID, role: str = "") -> WritingMember:
    """Return the user's membership of a writing project; raise `Http404` without one in `role`.

    Raises `RefusedError` for a validator who can see the votes of others.
    """
    member = rules.find_membership(request.user, project_id)
    if member is None or (role and member.role != role):
        raise Http404("you take no part in this")
    if role == WritingMember.Role.VALIDATOR:
        _refuse_if_sees_votes(request, member)
    return member


def _refuse_if_sees_votes(request: HttpRequest, member: WritingMember) -> None:
    """Raise `RefusedError` if a validator can see others' votes in another role."""
    if rules.can_see_votes(request.user, member.project.version.question_set):
        raise RefusedError("blind")


def _select_own_problems(request: HttpRequest, member: WritingMember) -> Any:
    """Return the problems of a writing project that the user wrote."""
    return member.project.problems.filter(author=get_user_id(request))


def build_participant_context(
    member: WritingMember, title: str, *, deeper: bool = False
) -> dict[str, Any]:
    """Return the template context that all pages of a writer or validator share.

    Pages below the first page of a project (`deeper`) have it among their breadcrumbs.
    """
    project = member.project
    trail: Breadcrumbs = [("Writing and checking", reverse("admin:writing-mine"))]
    if deeper:
        name = project.version.question_set.name
        trail.append((name, reverse("admin:writing-desk", args=[project.public_id])))
    return {
        "title": title,
        "subtitle": "" if deeper else project.version.question_set.name,
        "breadcrumbs": trail,
        "project": project,
        "member": member,
    }
