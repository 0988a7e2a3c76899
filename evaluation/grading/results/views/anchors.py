"""Settling which camp is right: answers that tell, experts who grade them, a run that uses it."""

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
from evaluation import judging
from evaluation.background import runs as lifecycle
from evaluation.background.exclusions import leave_out_excluded
from evaluation.consensus.parameters import AqerParameters
from evaluation.forms.options import refusal
from evaluation.grading.alarms.report import alarms_report
from evaluation.grading.remedies.report import RECOMMENDED, build_anchors_report, suggested_anchors
from evaluation.grading.results.pages import grading_page
from evaluation.grading.summary import AqerSummary
from evaluation.models import Run
from evaluation.options import OptionError
from evaluation.reports.verdicts import load_voters
from evaluation.result_pages import Context, kind_or_404, run_or_404
from evaluation.steps.answers import parameters_of
from evaluation.words.reasons import why_not_chosen


@require_http_methods(["GET", "HEAD", "POST"])
def anchors(request: HttpRequest, run: UUID) -> HttpResponseBase:
    """Show what an expert is to grade, how far that is, and what it chose.

    What is posted says in `do`: suggest answers, ask an expert, or grade with what they said.
    """
    if request.method != "POST":
        return _page(request, run=run)
    shown = run_or_404(request, run)
    kind_or_404(shown, AqerSummary)
    if not rights(request.user, shown.version.question_set).edit:
        raise RefusedError("change")
    name = request.POST.get("do", "")
    do = {"suggest": _suggest, "ask": _ask, "grade": _grade}.get(name)
    if shown.state != Run.State.DONE or do is None:
        return redirect(_address(shown))
    if name != "ask" and request.POST.get("left_out", "") != load_voters(shown).ids:
        request.method = "GET"
        response: Any = _page(request, run=run, changed=True)
        response.status_code = 409
        return response
    return do(request, shown)


@grading_page("evaluation/anchors.html")
def _page(request: HttpRequest, run: Run, changed: bool = False) -> Context:
    """Show the steps; `changed` says that other people are left out than were shown before."""
    me = get_user_id(request)
    report = build_anchors_report(run, me)
    may = rights(request.user, run.version.question_set)
    return {
        "title": "Settle which camp is right",
        "subtitle": f"{report.about.name}, version {report.about.version}",
        "report": report,
        "voters": load_voters(run),
        "changed": changed,
        "why": why_not_chosen(report.reason),
        "not_chosen": why_not_chosen(report.choice.reason if report.choice else None),
        "alarms": alarms_report(run),
        "recommended": RECOMMENDED,
        "may": may.edit,
        "sharing": may.manage,
        "own": next((expert for expert in report.experts if expert.user == me), None),
    }


def _suggest(request: HttpRequest, run: Run) -> HttpResponse:
    """Start a run like this one that also names the answers to grade."""
    parameters = replace(
        parameters_of(run.parameters), suggest_anchors=RECOMMENDED, anchors=False, camps=False
    )
    try:
        options = leave_out_excluded(parameters, run.version)
        started = lifecycle.queue(run.version, get_user_id(request), options, made_from=run)
    except OptionError as error:
        return _refused(request, run, error)
    messages.success(
        request, "The run has started; its page “Settle which camp is right” names the answers."
    )
    return redirect("admin:run", started.public_id)


def _ask(request: HttpRequest, run: Run) -> HttpResponse:
    """Give the suggested answers to an expert of the set, or to oneself."""
    asked = request.POST.get("expert", "")
    me = get_user_id(request)
    expert = int(asked) if asked.isascii() and asked.isdigit() and len(asked) < 12 else 0
    is_expert = Share.objects.of_experts(run.version.question_set).filter(user=expert).exists()
    if expert != me and not is_expert:
        messages.error(request, "Choose an expert with whom the set is shared.")
        return redirect(_address(run))
    judging.ask(run, suggested_anchors(run), expert)
    if expert == me:
        return redirect("admin:judging", run.version.question_set.public_id)
    messages.success(request, "The expert finds the answers on the page of the question set.")
    return redirect(_address(run))


def _grade(request: HttpRequest, run: Run) -> HttpResponse:
    """Start a run in which the experts' grades choose among the rankings."""
    parameters = replace(
        parameters_of(run.parameters), anchors=True, suggest_anchors=0, camps=False
    )
    try:
        options = leave_out_excluded(parameters, run.version)
        started = lifecycle.queue(run.version, get_user_id(request), options, made_from=run)
    except OptionError as error:
        return _refused(request, run, error)
    return redirect("admin:run", started.public_id)


def _refused(request: HttpRequest, run: Run, error: OptionError) -> HttpResponse:
    messages.error(request, refusal(AqerParameters, error))
    return redirect(_address(run))


def _address(run: Run) -> str:
    return reverse("admin:results-anchors", kwargs={"run": run.public_id})
