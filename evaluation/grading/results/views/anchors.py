"""Web page where experts' grades settle which of a crowd's camps is right."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from annotations.models import Share, rights
from annotations.web.scope import RefusedError, get_user_id
from evaluation.consensus.parameters import AqerParameters
from evaluation.core.messages.reasons import describe_not_chosen
from evaluation.core.options import OptionError
from evaluation.grading.alarms.report import build_alarms_report
from evaluation.grading.remedies.report import (
    RECOMMENDED,
    build_anchors_report,
    read_suggested_anchors,
)
from evaluation.grading.results.pages import grading_page
from evaluation.grading.summary import AqerSummary
from evaluation.models import Run
from evaluation.runs import judging
from evaluation.runs.background import runs as lifecycle
from evaluation.runs.background.exclusions import leave_out_excluded
from evaluation.runs.forms.options import refusal
from evaluation.runs.reports.verdicts import load_voters
from evaluation.runs.result_pages import Context, kind_or_404, run_or_404
from evaluation.runs.steps.answers import read_parameters


@require_http_methods(["GET", "HEAD", "POST"])
def show_anchors(request: HttpRequest, run: UUID) -> HttpResponseBase:
    """Show the answers that experts grade, their progress, and the ranking they chose.

    A POST says in `do` what to do: suggest answers, ask an expert, or grade with experts' grades.
    """
    if request.method != "POST":
        return _show_page(request, run=run)
    shown = run_or_404(request, run)
    kind_or_404(shown, AqerSummary)
    if not rights(request.user, shown.version.question_set).edit:
        raise RefusedError("change")
    name = request.POST.get("do", "")
    do = {"suggest": _start_suggestion, "ask": _ask_expert, "grade": _start_grading}.get(name)
    if shown.state != Run.State.DONE or do is None:
        return redirect(_build_address(shown))
    if name != "ask" and request.POST.get("left_out", "") != load_voters(shown).ids:
        request.method = "GET"
        response: Any = _show_page(request, run=run, changed=True)
        response.status_code = 409
        return response
    return do(request, shown)


@grading_page("evaluation/anchors.html")
def _show_page(request: HttpRequest, run: Run, changed: bool = False) -> Context:
    """Show the page; `changed` says that the excluded workers changed in the meantime."""
    user_id = get_user_id(request)
    report = build_anchors_report(run, user_id)
    user_rights = rights(request.user, run.version.question_set)
    return {
        "title": "Settle which camp is right",
        "subtitle": f"{report.about.name}, version {report.about.version}",
        "report": report,
        "voters": load_voters(run),
        "changed": changed,
        "why": describe_not_chosen(report.reason),
        "not_chosen": describe_not_chosen(report.choice.reason if report.choice else None),
        "alarms": build_alarms_report(run),
        "recommended": RECOMMENDED,
        "may": user_rights.edit,
        "sharing": user_rights.manage,
        "own": next((expert for expert in report.experts if expert.user == user_id), None),
    }


def _start_suggestion(request: HttpRequest, run: Run) -> HttpResponse:
    """Start a run with the same options that also suggests answers for experts to grade."""
    parameters = replace(
        read_parameters(run.parameters), suggest_anchors=RECOMMENDED, anchors=False, camps=False
    )
    try:
        options = leave_out_excluded(parameters, run.version)
        started = lifecycle.queue_run(run.version, get_user_id(request), options, made_from=run)
    except OptionError as error:
        return _refuse(request, run, error)
    messages.success(
        request, "The run has started; its page “Settle which camp is right” names the answers."
    )
    return redirect("admin:run", started.public_id)


def _ask_expert(request: HttpRequest, run: Run) -> HttpResponse:
    """Ask an expert of the question set, or the user, to grade the suggested answers."""
    expert_text = request.POST.get("expert", "")
    user_id = get_user_id(request)
    expert = (
        int(expert_text)
        if expert_text.isascii() and expert_text.isdigit() and len(expert_text) < 12
        else 0
    )
    is_expert = Share.objects.of_experts(run.version.question_set).filter(user=expert).exists()
    if expert != user_id and not is_expert:
        messages.error(request, "Choose an expert with whom the set is shared.")
        return redirect(_build_address(run))
    judging.request_answers(run, read_suggested_anchors(run), expert)
    if expert == user_id:
        return redirect("admin:judging", run.version.question_set.public_id)
    messages.success(request, "The expert finds the answers on the page of the question set.")
    return redirect(_build_address(run))


def _start_grading(request: HttpRequest, run: Run) -> HttpResponse:
    """Start a run in which the experts' grades choose among the candidate rankings."""
    parameters = replace(
        read_parameters(run.parameters), anchors=True, suggest_anchors=0, camps=False
    )
    try:
        options = leave_out_excluded(parameters, run.version)
        started = lifecycle.queue_run(run.version, get_user_id(request), options, made_from=run)
    except OptionError as error:
        return _refuse(request, run, error)
    return redirect("admin:run", started.public_id)


def _refuse(request: HttpRequest, run: Run, error: OptionError) -> HttpResponse:
    """Show why a run cannot be started, and return to the page of experts' grades."""
    messages.error(request, refusal(AqerParameters, error))
    return redirect(_build_address(run))


def _build_address(run: Run) -> str:
    """Return the URL of the page of experts' grades."""
    return reverse("admin:results-anchors", kwargs={"run": run.public_id})
