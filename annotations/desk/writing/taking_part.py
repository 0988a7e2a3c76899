"""The pages of those who write and those who check; nobody else finds them."""

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
from annotations.web.pages import NEWEST_FIRST, Breadcrumbs, page_of
from annotations.web.scope import RefusedError, user_id

WRITER = WritingMember.Role.WRITER


def mine(request: HttpRequest) -> HttpResponse:
    """List what one takes part in."""
    context = {"title": "Writing and checking", "members": rules.member_of(request.user)}
    return TemplateResponse(request, "annotations/writing/mine.html", context)


def desk(request: HttpRequest, project_id: UUID) -> HttpResponse:
    """Show a writer their problems, a validator what there is to check.

    A writer who posts here gets the next question.
    """
    member = _member(request, project_id)
    if member.role != WRITER:
        return _checks(request, member)
    if request.method == "POST":
        try:
            problem = rules.take(member.project, user_id(request))
        except rules.WritingError as error:
            messages.error(request, str(error))
            return redirect("admin:writing-desk", project_id)
        return redirect("admin:writing-write", project_id, problem.public_id)
    slots = rules.slots(member.project)
    context = {
        **_frame(member, "Problems that you write"),
        "slots": slots,
        "free": slots.free and rules.next_original(member.project, user_id(request)) is not None,
        "page": page_of(request, _own(request, member).select_related("original"), NEWEST_FIRST),
    }
    return TemplateResponse(request, "annotations/writing/writer.html", context)


def write(request: HttpRequest, project_id: UUID, own_id: UUID) -> HttpResponse:
    """Show a problem of one's own; saving keeps it, handing it in gives it to the validators.

    What was typed is in the page again whatever the server says of it.
    """
    member = _member(request, project_id, WRITER)
    problem = get_object_or_404(_own(request, member).select_related("original"), public_id=own_id)
    is_own = problem.state in rules.OWN and member.project.closed_at is None
    typed = {"text": problem.text, "category": problem.category}
    form = ProblemForm(request.POST if request.method == "POST" else None, initial=typed)
    if request.method == "POST" and form.is_valid():
        act = rules.submit if request.POST.get("do") == "submit" else rules.save
        try:
            act(problem, form.cleaned_data["text"], form.cleaned_data["category"])
        except rules.WritingError as error:
            form.refuse(error)
        else:
            handed_in = act is rules.submit
            messages.success(request, "Handed in." if handed_in else "Saved.")
            name = "admin:writing-desk" if handed_in else "admin:writing-write"
            where = [project_id] if handed_in else [project_id, own_id]
            return redirect(name, *where)
    returned = problem.state == WrittenProblem.State.RETURNED
    context = {
        **_frame(member, f"Problem {problem.external_id}", deeper=True),
        "problem": problem,
        "is_own": is_own,
        "form": form,
        "categories": rules.WHAT_CATEGORIES_MEAN.items(),
        "chosen": str(form["category"].value() or ""),
        "words": rules.words_about(problem) if returned else [],
        "note": rules.last_note(problem) if returned else "",
        "may_withdraw": is_own or problem.state == WrittenProblem.State.CHECKING,
    }
    return TemplateResponse(
        request, "annotations/writing/write.html", context, status=400 if form.errors else 200
    )


def withdraw(request: HttpRequest, project_id: UUID, own_id: UUID) -> HttpResponse:
    """Ask, then give a problem up."""
    member = _member(request, project_id, WRITER)
    problem = get_object_or_404(_own(request, member).select_related("original"), public_id=own_id)
    if request.method == "POST":
        try:
            rules.withdraw(problem)
        except rules.WritingError as error:
            messages.error(request, str(error))
        else:
            messages.success(request, f"Problem {problem.external_id} is given up.")
        return redirect("admin:writing-desk", project_id)
    context = {
        **_frame(member, f"Give up problem {problem.external_id}?", deeper=True),
        "text": "Its question is free for others again. What you wrote is kept, but not checked.",
        "button": "Give it up",
        "back": reverse("admin:writing-write", args=[project_id, own_id]),
    }
    return TemplateResponse(request, "annotations/confirm.html", context)


def check(request: HttpRequest, project_id: UUID, check_id: UUID) -> HttpResponse:
    """Show a problem to check; what is posted is saved at once and leads to the next."""
    member = _member(request, project_id, WritingMember.Role.VALIDATOR)
    task = rules.task(member.project, user_id(request), check_id)
    if task is None:
        if request.method == "POST":
            messages.warning(request, rules.WORDS["decided"], "decided")
            return redirect("admin:writing-desk", project_id)
        raise Http404("there is no such problem to check")
    said = {None: "", True: "yes", False: "no"}[task.answerable]
    typed = {"verdict": said, "category": task.category, "note": task.note}
    form = VoteForm(request.POST if request.method == "POST" else None, initial=typed)
    if request.method == "POST" and form.is_valid():
        try:
            following = rules.vote(member.project, user_id(request), check_id, *form.said())
        except rules.WritingError as error:
            form.refuse(error)
        else:
            messages.success(request, "Saved.")
            if following is None:
                return redirect("admin:writing-desk", project_id)
            return redirect("admin:writing-check", project_id, following)
    context = {
        **_frame(member, "A problem to check", deeper=True),
        "task": task,
        "form": form,
        "categories": rules.WHAT_CATEGORIES_MEAN.items(),
        "chosen": str(form["category"].value() or ""),
        "verdict": form["verdict"].value() or "",
    }
    return TemplateResponse(
        request, "annotations/writing/check.html", context, status=400 if form.errors else 200
    )


def _checks(request: HttpRequest, member: WritingMember) -> HttpResponse:
    if request.method == "POST":
        raise Http404("who checks does not write")
    _refuse_who_sees(request, member)
    found = rules.tasks(member.project, user_id(request))
    context = {**_frame(member, "Problems to check"), "tasks": found}
    return TemplateResponse(request, "annotations/writing/validator.html", context)


def _member(request: HttpRequest, project_id: UUID, role: str = "") -> WritingMember:
    """Return the membership of the one who asks; Http404 without one, or with another role."""
    member = rules.project_of(request.user, project_id)
    if member is None or (role and member.role != role):
        raise Http404("you take no part in this")
    if role == WritingMember.Role.VALIDATOR:
        _refuse_who_sees(request, member)
    return member


def _refuse_who_sees(request: HttpRequest, member: WritingMember) -> None:
    """Refuse a validator who came to see the votes of others, by a share or a team."""
    if rules.sees_votes(request.user, member.project.version.question_set):
        raise RefusedError("blind")


def _own(request: HttpRequest, member: WritingMember) -> Any:
    return member.project.problems.filter(author=user_id(request))


def _frame(member: WritingMember, title: str, *, deeper: bool = False) -> dict[str, Any]:
    """Return what all these pages know: the project, and the way here."""
    project = member.project
    way: Breadcrumbs = [("Writing and checking", reverse("admin:writing-mine"))]
    if deeper:
        name = project.version.question_set.name
        way.append((name, reverse("admin:writing-desk", args=[project.public_id])))
    return {
        "title": title,
        "subtitle": "" if deeper else project.version.question_set.name,
        "breadcrumbs": way,
        "project": project,
        "member": member,
    }
