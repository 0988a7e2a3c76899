"""Page of experts' judgements of a run: draw a sample, ask experts, show agreement."""

from __future__ import annotations

from copy import copy
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from annotations.models import Share, rights
from annotations.web.scope import RefusedError, get_user_id
from evaluation.models import Run
from evaluation.runs.judging import Judging, draw_sample, request_judgements
from evaluation.runs.judging.sample import MOST_DRAWN, MOST_SEED
from evaluation.runs.reports.judging import build_judging_report
from evaluation.runs.result_pages import Context, kind_or_404, results_page, run_or_404
from evaluation.runs.run_types import RunSummary

COUNT = 40


class AskForm(forms.Form):
    """Form to draw a sample: its size, seed and the experts who judge."""

    count = forms.IntegerField(
        min_value=1,
        max_value=MOST_DRAWN,
        initial=COUNT,
        label="How many",
        help_text="Drawn at random among all. A larger number later on keeps those that were "
        "drawn before.",
    )
    seed = forms.IntegerField(
        min_value=0,
        max_value=MOST_SEED,
        initial=0,
        label="Seed",
        help_text="The same seed draws the same ones.",
    )
    experts = forms.MultipleChoiceField(
        widget=forms.CheckboxSelectMultiple,
        label="Who judges",
        error_messages={"required": "Choose who judges."},
    )

    def __init__(
        self, people: list[tuple[int, str]], drawn: tuple[int, int | None], data: Any = None
    ) -> None:
        super().__init__(data, label_suffix="")
        n_drawn, seed = drawn
        self.fields["experts"].choices = people  # type: ignore[attr-defined]
        if seed is not None:
            self.fields["count"].initial = n_drawn
            self.fields["seed"].initial = seed
            self.fields["seed"].disabled = True


@require_http_methods(["GET", "HEAD", "POST"])
def show_or_ask_judging(request: HttpRequest, run: UUID, name: str) -> HttpResponseBase:
    """Show the judgements of a run; a POST asks experts for more."""
    if request.method != "POST":
        return _show_page(request, run=run, name=name)
    shown = run_or_404(request, run)
    judging = _get_judging(shown, name)
    if not rights(request.user, shown.version.question_set).edit:
        raise RefusedError("change")
    if shown.state != Run.State.DONE:
        return redirect("admin:results-judging", shown.public_id, name)
    form = _build_form(request, shown, judging, request.POST)
    if form.is_valid():
        return _ask_experts(request, shown, judging, form)
    # Pages of results are read only: this one is read once more, with what was wrong.
    reading = copy(request)
    reading.method = "GET"
    response: Any = _show_page(reading, run=run, name=name, form=form)
    response.status_code = 400
    return response


@results_page("evaluation/judging.html", RunSummary)
def _show_page(request: HttpRequest, run: Run, name: str, form: AskForm | None = None) -> Context:
    """Return the page context: report, agreement and form."""
    judging = _get_judging(run, name)
    may = rights(request.user, run.version.question_set)
    me = get_user_id(request)
    report = build_judging_report(run, judging)
    return {
        "title": judging.title,
        "subtitle": f"{run.version.question_set.name}, version {run.version.number}",
        "report": report,
        "judging": judging,
        "groups": [
            {"title": "People with each other", "pairs": report.between},
            {"title": "People with programs", "pairs": report.with_machines},
        ],
        "form": form or _build_form(request, run, judging),
        "may": may.edit,
        "sharing": may.manage,
        "own": next((one for one in report.experts if one.user == me), None),
    }


def _get_judging(run: Run, name: str) -> Judging:
    """Return the run type's judging of that name; 404 where there is none."""
    for judging in kind_or_404(run).judging:
        if judging.name == name:
            return judging
    raise Http404("the kind has nothing of that name judged")


def _build_form(request: HttpRequest, run: Run, judging: Judging, data: Any = None) -> AskForm:
    """Return the form with the experts of the set and the sample drawn so far."""
    me = get_user_id(request)
    shares = Share.objects.of_experts(run.version.question_set)
    people = [
        *shares.exclude(user=me).values_list("user", "user__username"),
        (me, f"{request.user.get_username()} (you)"),
    ]
    seeds = run.exhibits.filter(judging=judging.name).values_list("seed", flat=True)
    drawn = (len(seeds), next(iter(seeds), None))
    return AskForm(people, drawn, data)


def _ask_experts(request: HttpRequest, run: Run, judging: Judging, form: AskForm) -> HttpResponse:
    """Draw the sample, ask the experts to judge it, and redirect with a message."""
    drawn = draw_sample(run, judging, form.cleaned_data["count"], form.cleaned_data["seed"])
    address = reverse("admin:results-judging", args=[run.public_id, judging.name])
    if not drawn:
        messages.error(request, f"This run has no {judging.many} to judge.")
        return redirect(address)
    experts = [int(one) for one in form.cleaned_data["experts"]]
    for expert in experts:
        request_judgements(drawn, expert)
    if experts == [get_user_id(request)]:
        return redirect("admin:judging", run.version.question_set.public_id)
    said = f"{len(drawn)} {judging.many if len(drawn) > 1 else judging.one}"
    messages.success(request, f"Asked about {said}; experts find them on the page of the set.")
    return redirect(address)
