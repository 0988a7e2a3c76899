"""Web pages of alarms, of remedies, and of the experts' grades that settle camps.

Links from an alarm to the grading form with a remedy filled in. Web page where experts' grades
settle which of a crowd's camps is right.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django import forms
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from annotations.models import Share, rights
from annotations.web.query import parse_number, parse_public_id
from annotations.web.scope import RefusedError, get_user_id
from evaluation.consensus.parameters import AqerParameters
from evaluation.core.messages.message import Message
from evaluation.core.messages.reasons import describe_not_chosen
from evaluation.core.options import OptionError
from evaluation.grading.alarms.messages import OF_QUESTIONS
from evaluation.grading.alarms.report import (
    AlarmEntry,
    build_alarms_report,
    build_outcomes_report,
    find_false_alarm_rates,
)
from evaluation.grading.alarms.report.marks import OF_PEOPLE
from evaluation.grading.alarms.storage import (
    LONGEST_NOTE,
    REVIEW_PROBLEMS,
    ReviewError,
    State,
    find_remedying_runs,
    save_review,
)
from evaluation.grading.remedies.report import (
    RECOMMENDED,
    build_anchors_report,
    read_suggested_anchors,
)
from evaluation.grading.results.pages import grading_page
from evaluation.grading.results.report.changes import WhatIf, build_what_if
from evaluation.grading.results.report.evidence import read_alarm_evidence, read_signals
from evaluation.grading.results.report.run import count_crowd
from evaluation.grading.results.report.workers import WorkerRow
from evaluation.grading.summary import AqerSummary
from evaluation.models import Alarm, Run
from evaluation.runs import judging
from evaluation.runs.background import runs as lifecycle
from evaluation.runs.background.exclusions import add_excluded_workers
from evaluation.runs.forms import format_refusal
from evaluation.runs.reports.verdicts import load_current_verdicts, load_run_exclusions
from evaluation.runs.result_pages import Context, build_breadcrumbs, get_kind_or_404, get_run_or_404
from evaluation.runs.steps.answers import read_grading_parameters

# A camp is not left out as a whole: it may be the one that is right.
LEFT_OUT = OF_PEOPLE - {"clique"}
ONE_ID = re.compile(r"[^\s,;]+")
# Ids that an address can hold; nobody should be left out by the hundred anyway.
MOST_EXCLUDED = 40
# A vote may weigh so many times what it would weigh if all were equal.
CAP = 2.0


@dataclass(frozen=True)
class Remedy:
    """A remedy suggested for an alarm: a label and the URL of the prefilled grading form."""

    label: str
    link: str


def build_remedies(run: Run, alarm: AlarmEntry, may_start: bool, n_copies: int) -> list[Remedy]:
    """Return links to the remedies that suit an alarm; empty if the user may not start runs.

    `may_start`: whether the user may start runs. `n_copies`: number of open alarms of copies.
    """
    remedies = []
    if alarm.case in ("two_camps", "clique"):
        link = reverse("admin:results-anchors", kwargs={"run": run.public_id})
        remedies.append(Remedy("Settle which camp is right", link))
    if not may_start:
        return remedies
    # One more than fit is enough to see that they do not.
    named = _read_named_workers(run, alarm) if alarm.case in LEFT_OUT else []
    # Groups that become one voter are found by the copy statistic, which needs more questions.
    if alarm.case == "copies" and alarm.message.code != "copies.identical":
        remedies.append(
            _build_remedy(
                run, "Grade again with the group as one voter", **_build_collapse_fields(run, named)
            )
        )
        if n_copies > 1:
            # One run in place of one for each group.
            every = {"collapse_copies": "on"}
            if run.parameters.get("collapse_workers"):
                every["collapse_workers"] = ""  # the form would begin with those of this run
            remedies.append(
                _build_remedy(run, "Grade again with every group as one voter", **every)
            )
    if alarm.case == OF_QUESTIONS:
        remedies.append(_build_remedy(run, "Grade again with several right answers", camps="on"))
    if alarm.case in ("leverage", "concentrated_weight"):
        n = max(1, count_crowd(run)["workers"])
        cap = f"{min(1.0, CAP / n):.3g}"
        remedies.append(_build_remedy(run, "Grade again with a cap on each vote", weight_cap=cap))
    if alarm.case == "grader_disagreement":
        remedies.append(_build_remedy(run, "Grade again by words", embedder="tfidf-word"))
    if alarm.case == "no_convergence":
        remedies.append(
            _build_remedy(run, "Grade again with more iterations", max_iterations="10000")
        )
    if alarm.case in LEFT_OUT and len(named) <= MOST_EXCLUDED:
        excluding_fields = _build_exclude_field(run, named)
        remedies.append(_build_remedy(run, "See how it is without their votes", **excluding_fields))
    return remedies


def build_links_without(run: Run, workers: Iterable[WorkerRow], may_start: bool) -> dict[UUID, str]:
    """Return, by worker, the URL of the form that grades again without the worker."""
    if not may_start:
        return {}
    return {row.worker: build_link_without(run, row.worker, row.name) for row in workers}


def build_link_without(run: Run, worker: UUID, name: str) -> str:
    """Return the URL of the grading form in which this worker is excluded."""
    return _build_remedy(run, "", **_build_exclude_field(run, [(worker, name)])).link


def build_link_to_add_models(run: Run) -> str:
    """Return the URL of the grading form with the run's options, for scoring new models."""
    return _build_remedy(run, "").link


def read_what_if(request: HttpRequest, run: Run) -> WhatIf | None:
    """Return how grades would change without the worker in the query parameter `without`."""
    if not request.GET.get("without"):
        return None
    worker_id = parse_public_id(request.GET, "without")
    what_if_report = build_what_if(run, worker_id) if worker_id else None
    if what_if_report is None:
        raise Http404("the run has no such worker")
    return what_if_report


def build_verdict_context(run: Run, workers: Iterable[UUID], may_decide: bool) -> dict[str, Any]:
    """Return the template context for requesters' decisions on workers."""
    return {"verdicts": load_current_verdicts(run, list(workers)), "may_decide": may_decide}


def _read_named_workers(run: Run, alarm: AlarmEntry) -> list[tuple[UUID, str]]:
    """Return (public id, external id) of the workers that an alarm names, at most 41."""
    named = Alarm.workers.through.objects.filter(alarm__run=run, alarm__place=alarm.place)
    rows = named.order_by("pk").values_list("worker__public_id", "worker__external_id")
    return list(rows[: MOST_EXCLUDED + 1])


def _build_collapse_fields(run: Run, workers: list[tuple[UUID, str]]) -> dict[str, str]:
    """Return form fields that count each group of these workers as one voter.

    Groups that the run already collapses are included.
    """
    # One name stands for a group that is too large for an address.
    own = _choose_ids(workers if len(workers) <= MOST_EXCLUDED else workers[:1])
    before = run.parameters.get("collapse_workers", ())
    return {
        "collapse_copies": "on",
        "collapse_workers": "\n".join(dict.fromkeys([*before, *own])),
    }


def _choose_ids(workers: Iterable[tuple[UUID, str]]) -> list[str]:
    """Return worker ids that a form field separated by spaces or commas can hold.

    That is the external id, or the public id where the field would split the external one.
    """
    return [name if ONE_ID.fullmatch(name) else str(worker) for worker, name in workers]


def _build_exclude_field(run: Run, workers: Iterable[tuple[UUID, str]]) -> dict[str, str]:
    """Return the form field that excludes these workers, besides those already excluded."""
    before = run.parameters.get("exclude_workers", ())
    return {"exclude_workers": "\n".join(dict.fromkeys([*before, *_choose_ids(workers)]))}


def _build_remedy(run: Run, label: str, **preset: str) -> Remedy:
    """Return a link to the grading form with the run's options and the preset fields."""
    form = reverse("admin:grade", kwargs={"set_id": run.version.question_set.public_id})
    query = {"version": run.version.number, "like": run.public_id, **preset}
    return Remedy(label, f"{form}?{urlencode(query)}")


# Later runs that may have remedied it.
RUNS_OFFERED = 50


class ReviewForm(forms.Form):
    """Form for a user's review of an alarm: state, note and the run with the remedy."""

    state = forms.ChoiceField(
        label="What did you make of it?",
        choices=[
            (State.EXAMINED, "Reviewed"),
            (State.REMEDIED, "A run with a remedy takes care of it"),
            (State.DISMISSED, "It is no reason to doubt these grades"),
            (State.OPEN, "It is open again"),
        ],
        widget=forms.RadioSelect,
        error_messages={"required": REVIEW_PROBLEMS["unknown_state"]},
    )
    note = forms.CharField(
        label="Why",
        max_length=LONGEST_NOTE,
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="All readers of the grades see it. Required to dismiss the alarm.",
    )
    remedied_by = forms.ModelChoiceField(
        Run.objects.none(), label="The run with the remedy", required=False
    )

    def __init__(self, run: Run, *args: Any, **kwargs: Any) -> None:
        """Offer the later runs of the question set as the run with the remedy."""
        super().__init__(*args, **kwargs)
        runs = list(find_remedying_runs(run)[:RUNS_OFFERED])
        choice: Any = self.fields["remedied_by"]
        choice.queryset = find_remedying_runs(run)
        choice.choices = [("", "–")] + [
            (run.pk, f"of {run.created_at:%-d %b %Y, %H:%M}, version {run.version.number}")
            for run in runs
        ]
        if not runs:
            del self.fields["remedied_by"]


@grading_page("evaluation/alarms.html")
def show_alarms(request: HttpRequest, run: Run) -> Context:
    """Show the alarms of a run, their outcomes after remedies, and all checks."""
    report = build_alarms_report(run)
    return {
        "title": f"Alarms of {report.about.name}",
        "alarms": report,
        "outcomes": build_outcomes_report(run),
        "false_alarm_rates": find_false_alarm_rates(count_crowd(run)["workers"]),
    }


@require_http_methods(["GET", "HEAD", "POST"])
def show_alarm(request: HttpRequest, run: UUID, place: int) -> HttpResponseBase:
    """Show one alarm with its evidence; POST saves the user's review of it."""
    if request.method != "POST":
        return _show_page(request, run=run, place=place)
    current_run = get_run_or_404(request, run)
    get_kind_or_404(current_run, AqerSummary)
    if not rights(request.user, current_run.version.question_set).edit:
        raise RefusedError("change")
    alarm_row = (
        Alarm.objects.filter(run=current_run, place=place).select_related("run__version").first()
    )
    if alarm_row is None:
        raise Http404("the run has no such alarm")
    form = ReviewForm(current_run, request.POST)
    if form.is_valid():
        try:
            save_review(alarm_row, request.user, **form.cleaned_data)
        except ReviewError as error:
            field = error.field if error.field in form.fields else None
            form.add_error(field, ValidationError(str(error), error.code))
        else:
            messages.success(request, "Saved. The note is shown with the alarm.")
            ids = {"run": run, "place": place}
            return redirect(f"{reverse('admin:results-alarm', kwargs=ids)}#reviews")
    response: Any = _show_page(_turn_into_get(request), run=run, place=place, form=form)
    response.status_code = 400
    return response


def _turn_into_get(request: HttpRequest) -> HttpRequest:
    """Turn a POST request into a GET, so that the page is shown with the posted form."""
    request.method = "GET"
    return request


@grading_page("evaluation/alarm.html")
def _show_page(
    request: HttpRequest, run: Run, place: int, form: ReviewForm | None = None
) -> Context:
    """Show an alarm: the workers it names, answers as evidence, advice and reviews.

    `after` (of workers) and `texts` (a page) come from the address.
    """
    page = parse_number(request.GET, "texts", 1, 99_999) or 1
    after = request.GET.get("after", "")
    evidence = read_alarm_evidence(run, place, after, page)
    if evidence is None or evidence.page > evidence.n_pages:
        raise Http404("the run has no such alarm")
    may_edit = rights(request.user, run.version.question_set).edit
    false_alarm_rates = find_false_alarm_rates(count_crowd(run)["workers"])
    alarms_address = reverse("admin:results-alarms", kwargs={"run": run.public_id})
    return {
        **build_verdict_context(run, [row.worker for row in evidence.workers.rows], may_edit),
        "title": evidence.alarm.title,
        "breadcrumbs": [*build_breadcrumbs(run), ("Alarms", alarms_address)],
        "evidence": evidence,
        "alarm": evidence.alarm,
        "rings_falsely": false_alarm_rates.describe(evidence.alarm.case)
        if false_alarm_rates
        else "",
        "remedies": build_remedies(run, evidence.alarm, may_edit, evidence.n_copies),
        "signals": read_signals(run, [row.worker for row in evidence.workers.rows]),
        "limits": Message("signals.limits"),
        "without": build_links_without(run, evidence.workers.rows, may_edit),
        "form": (form or ReviewForm(run)) if may_edit else None,
    }


@require_http_methods(["GET", "HEAD", "POST"])
def show_expert_grading(request: HttpRequest, run: UUID) -> HttpResponseBase:
    """Show the answers (anchors) that experts grade, their progress, and the selected ranking.

    A POST says in `do` what to do: suggest answers, ask an expert, or grade with experts' grades.
    """
    if request.method != "POST":
        return _show_anchors_page(request, run=run)
    current_run = get_run_or_404(request, run)
    get_kind_or_404(current_run, AqerSummary)
    if not rights(request.user, current_run.version.question_set).edit:
        raise RefusedError("change")
    name = request.POST.get("do", "")
    do = {"suggest": _start_suggestion, "ask": _ask_expert, "grade": _start_grading}.get(name)
    if current_run.state != Run.State.DONE or do is None:
        return redirect(_build_address(current_run))
    if name != "ask" and request.POST.get("left_out", "") != load_run_exclusions(current_run).ids:
        request.method = "GET"
        response: Any = _show_anchors_page(request, run=run, changed=True)
        response.status_code = 409
        return response
    return do(request, current_run)


@grading_page("evaluation/anchors.html")
def _show_anchors_page(request: HttpRequest, run: Run, changed: bool = False) -> Context:
    """Show the page; `changed` states that the excluded workers changed in the meantime."""
    user_id = get_user_id(request)
    report = build_anchors_report(run, user_id)
    user_rights = rights(request.user, run.version.question_set)
    return {
        "title": "Settle which camp is right",
        "subtitle": f"{report.about.name}, version {report.about.version}",
        "report": report,
        "voters": load_run_exclusions(run),
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
    """Start a run with the same options that also selects answers for experts to grade."""
    parameters = replace(
        read_grading_parameters(run.parameters),
        suggest_anchors=RECOMMENDED,
        anchors=False,
        camps=False,
    )
    try:
        options = add_excluded_workers(parameters, run.version)
        started = lifecycle.queue_run(run.version, get_user_id(request), options, made_from=run)
    except OptionError as error:
        return _show_refusal(request, run, error)
    messages.success(
        request, "The run has started; its page “Settle which camp is right” names the answers."
    )
    return redirect("admin:run", started.public_id)


def _ask_expert(request: HttpRequest, run: Run) -> HttpResponse:
    """Ask an expert, or the user, to grade the selected answers."""
    expert_text = request.POST.get("expert", "")
    user_id = get_user_id(request)
    expert = (
        int(expert_text)
        # isdigit alone is true of "²", which int refuses; a longer number is beyond any key.
        if expert_text.isascii() and expert_text.isdigit() and len(expert_text) < 12
        else 0
    )
    is_expert = Share.objects.of_experts(run.version.question_set).filter(user=expert).exists()
    if expert != user_id and not is_expert:
        messages.error(request, "Choose an expert who has access to the set.")
        return redirect(_build_address(run))
    judging.request_answer_judgements(run, read_suggested_anchors(run), expert)
    if expert == user_id:
        return redirect("admin:judging", run.version.question_set.public_id)
    messages.success(request, "The expert finds the answers on the page of the question set.")
    return redirect(_build_address(run))


def _start_grading(request: HttpRequest, run: Run) -> HttpResponse:
    """Start a run in which the experts' grades choose among the candidate rankings."""
    parameters = replace(
        read_grading_parameters(run.parameters), anchors=True, suggest_anchors=0, camps=False
    )
    try:
        options = add_excluded_workers(parameters, run.version)
        started = lifecycle.queue_run(run.version, get_user_id(request), options, made_from=run)
    except OptionError as error:
        return _show_refusal(request, run, error)
    return redirect("admin:run", started.public_id)


def _show_refusal(request: HttpRequest, run: Run, error: OptionError) -> HttpResponse:
    """Show why a run cannot be started, and redirect to the page of experts' grading."""
    messages.error(request, format_refusal(AqerParameters, error))
    return redirect(_build_address(run))


def _build_address(run: Run) -> str:
    """Return the URL of the page of experts' grading."""
    return reverse("admin:results-anchors", kwargs={"run": run.public_id})
