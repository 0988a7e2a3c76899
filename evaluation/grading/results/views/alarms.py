"""Web pages of alarms: the list, and one alarm with its evidence and review."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from annotations.models import rights
from annotations.web.query import parse_number
from annotations.web.scope import RefusedError
from evaluation.core.messages.message import Message
from evaluation.grading.alarms.report import (
    build_alarms_report,
    build_outcomes_report,
    find_false_rings,
)
from evaluation.grading.alarms.storage import (
    LONGEST_NOTE,
    REVIEW_PROBLEMS,
    ReviewError,
    State,
    find_remedying_runs,
    save_review,
)
from evaluation.grading.results.pages import grading_page
from evaluation.grading.results.report.alarm_evidence import read_alarm_evidence
from evaluation.grading.results.report.run import count_crowd
from evaluation.grading.results.report.signals import read_signals
from evaluation.grading.results.views.remedies import (
    build_links_without,
    build_remedies,
    build_verdict_context,
)
from evaluation.grading.summary import AqerSummary
from evaluation.models import Alarm, Run
from evaluation.runs.result_pages import Context, kind_or_404, run_or_404, way_here

# Later runs that may have remedied it.
RUNS_OFFERED = 50


class ReviewForm(forms.Form):
    """Form for a user's review of an alarm: state, note and the run with the remedy."""

    state = forms.ChoiceField(
        label="What did you make of it?",
        choices=[
            (State.EXAMINED, "I looked at it"),
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
        help_text="Whoever reads the grades reads it too. Needed where you dismiss the alarm.",
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
            (one.pk, f"of {one.created_at:%-d %b %Y, %H:%M}, version {one.version.number}")
            for one in runs
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
        "rings": find_false_rings(count_crowd(run)["workers"]),
    }


@require_http_methods(["GET", "HEAD", "POST"])
def show_alarm(request: HttpRequest, run: UUID, place: int) -> HttpResponseBase:
    """Show one alarm with its evidence; POST saves the user's review of it."""
    if request.method != "POST":
        return _show_page(request, run=run, place=place)
    shown = run_or_404(request, run)
    kind_or_404(shown, AqerSummary)
    if not rights(request.user, shown.version.question_set).edit:
        raise RefusedError("change")
    alarm_row = Alarm.objects.filter(run=shown, place=place).select_related("run__version").first()
    if alarm_row is None:
        raise Http404("the run has no such alarm")
    form = ReviewForm(shown, request.POST)
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
    false_alarm_rates = find_false_rings(count_crowd(run)["workers"])
    alarms_address = reverse("admin:results-alarms", kwargs={"run": run.public_id})
    return {
        **build_verdict_context(run, [row.worker for row in evidence.workers.rows], may_edit),
        "title": evidence.alarm.title,
        "breadcrumbs": [*way_here(run), ("Alarms", alarms_address)],
        "evidence": evidence,
        "alarm": evidence.alarm,
        "rings_falsely": false_alarm_rates.of(evidence.alarm.case) if false_alarm_rates else "",
        "remedies": build_remedies(run, evidence.alarm, may_edit, evidence.n_copies),
        "signals": read_signals(run, [row.worker for row in evidence.workers.rows]),
        "limits": Message("signals.limits"),
        "without": build_links_without(run, evidence.workers.rows, may_edit),
        "form": (form or ReviewForm(run)) if may_edit else None,
    }
