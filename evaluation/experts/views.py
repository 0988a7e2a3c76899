"""Pages of the expert check and of its findings.

Page of the expert check: draw a random sample of answers, assign experts, read results. Page of the
expert findings: agreement, question difficulty, workers and models.
"""

from __future__ import annotations

from copy import copy
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from annotations.models import Share, rights
from annotations.web.scope import RefusedError, get_user_id
from evaluation.core.messages.reasons import WHY_EMPTY
from evaluation.experts.messages import COEFFICIENTS, LEVELS
from evaluation.experts.report import (
    FEWEST_OF_WORKER,
    FEWEST_WORKERS,
    FORESEEN_FOR,
    build_audit_report,
    build_experts_report,
)
from evaluation.grading.results.pages import grading_page
from evaluation.grading.summary import AqerSummary
from evaluation.models import Audit, Run
from evaluation.runs.judging.audit import (
    COUNT,
    MODELS,
    MOST,
    TENTH,
    TWO_HUNDRED,
    CannotDrawError,
    compute_preset_size,
    draw_audit_sample,
    list_audit_progress,
    load_drawable_answers,
    request_audit_grades,
    withdraw_requests,
)
from evaluation.runs.judging.declaration import MOST_SEED
from evaluation.runs.judging.tasks import CannotSettleError, ask_expert_to_settle
from evaluation.runs.reports.judging import FEWEST_JUDGED
from evaluation.runs.result_pages import Context, get_kind_or_404, get_run_or_404
from evaluation.trust.report.report import build_experts_fact

# Of strata, as the page calls them.
STRATA = {
    "people": "people's answers",
    "low": "answers of the third of the workers with the lowest grades",
    "middle": "answers of the middle third",
    "high": "answers of the third with the highest grades",
    MODELS: "models' answers",
}


class AuditForm(forms.Form):
    """Form to draw a sample: number of answers, sampling method and experts."""

    preset = forms.ChoiceField(
        required=False,
        label="How many",
        help_text="The published protocols have experts grade a tenth of all answers, or 200. "
        "The table above shows what each size can show.",
    )
    count = forms.IntegerField(
        min_value=1,
        max_value=MOST,
        initial=COUNT,
        label="Number of answers",
        help_text="Counts where you choose the number below. A larger number later on keeps those "
        "that were drawn before.",
    )
    design = forms.ChoiceField(
        choices=Audit.Design.choices,
        initial=Audit.Design.QUESTION,
        label="Which ones",
        help_text="A sample spread over the questions is the most informative. By grade, "
        "experts see "
        "enough of the weakest and of the best; each part then counts by how many answers it has.",
    )
    with_models = forms.BooleanField(
        required=False,
        label="Every fourth is a model's answer",
        help_text="The expert does not see which is which. People's and models' answers are "
        "compared with "
        "their scores apart from each other.",
    )
    seed = forms.IntegerField(
        min_value=0,
        max_value=MOST_SEED,
        initial=0,
        label="Seed",
        help_text="The same seed draws the same answers.",
    )
    step = forms.FloatField(
        required=False,
        min_value=0,
        max_value=5,
        step_size=0.5,
        initial=1,
        label="Experts disagree beyond",
        help_text="Two grades of an answer that are further apart than this are a disagreement, "
        "which you can have a third expert settle. It can be changed at any time.",
    )
    experts = forms.MultipleChoiceField(
        widget=forms.CheckboxSelectMultiple,
        label="Who grades",
        error_messages={"required": "Choose who grades."},
    )

    def __init__(
        self,
        people: list[tuple[int, str]],
        audit: Audit | None,
        n_answers: int,
        data: Any = None,
    ) -> None:
        super().__init__(data, label_suffix="")
        self.fields["experts"].choices = people  # type: ignore[attr-defined]
        few = (
            ""
            if n_answers > compute_preset_size(TWO_HUNDRED, n_answers)
            else f" (here all {n_answers})"
        )
        self.fields["preset"].choices = [  # type: ignore[attr-defined]
            ("", "The number below"),
            (TENTH, f"A tenth of all answers ({compute_preset_size(TENTH, n_answers)})"),
            (TWO_HUNDRED, f"200 answers{few}"),
        ]
        if audit is None:
            return
        self.fields["count"].initial = audit.items.count()
        self.fields["step"].initial = audit.step
        for name in ("design", "with_models", "seed"):
            self.fields[name].initial = getattr(audit, name)
            self.fields[name].disabled = True


@require_http_methods(["GET", "HEAD", "POST"])
def show_audit(request: HttpRequest, run: UUID) -> HttpResponseBase:
    """Show the sample, its experts and the results; a POST draws a sample or assigns experts.

    `do` is `ask`, `take-back` (withdraw the requests to the user in `expert`) or `settle` (assign
    the disagreements to the user in `expert`).
    """
    if request.method != "POST":
        return _render_page(request, run=run)
    current_run = get_run_or_404(request, run)
    get_kind_or_404(current_run, AqerSummary)
    if not rights(request.user, current_run.version.question_set).edit:
        raise RefusedError("change")
    if current_run.state != Run.State.DONE:
        return redirect(_build_link(current_run))
    if request.POST.get("do") == "take-back":
        return _withdraw_expert(request, current_run)
    if request.POST.get("do") == "settle":
        return _assign_settling_expert(request, current_run)
    people = _list_graders(request, current_run)
    form = _build_form(
        people, current_run, len(load_drawable_answers(current_run).answers), request.POST
    )
    if form.is_valid():
        return _draw_sample(request, current_run, form)
    return _render_page(request, run=run, form=form)


def _render_page(
    request: HttpRequest, run: UUID, form: AuditForm | None = None
) -> HttpResponseBase:
    """Render the page; `form` is an invalid form to show again."""
    # Pages of results are read only: this one is read once more, with what was wrong.
    reading = copy(request)
    reading.method = "GET"
    response = _build_context(reading, run=run, form=form)
    if form is not None:
        response.status_code = 400
    return response


@grading_page("evaluation/audit.html")
def _build_context(request: HttpRequest, run: Run, form: AuditForm | None) -> Context:
    may = rights(request.user, run.version.question_set)
    me = get_user_id(request)
    report = build_audit_report(run)
    people = _add_requester(request, [one for one in report.of_set if one[0] != me])
    thirds = [person for person in people if person[0] not in report.parties]
    return {
        "title": "Expert check",
        "subtitle": f"{report.about.name}, version {report.about.version}",
        "report": report,
        "fact": build_experts_fact(report.check),
        "strata": [(STRATA.get(row.code, row.code), row) for row in report.strata],
        "design": dict(Audit.Design.choices).get(report.design or "", ""),
        "form": form or _build_form(people, run, report.n_answers),
        "thirds": thirds,
        "unsettled": report.n_disputed - report.n_settled - report.n_settling,
        "enough": FEWEST_JUDGED,
        "foreseen_for": FORESEEN_FOR,
        "fewest_of_worker": FEWEST_OF_WORKER,
        "fewest_workers": FEWEST_WORKERS,
        "may": may.edit,
        "sharing": may.manage,
        "own": next((expert for expert in report.experts if expert.user == me), None),
    }


def _build_form(
    people: list[tuple[int, str]], run: Run, n_answers: int, data: Any = None
) -> AuditForm:
    audit = Audit.objects.filter(run=run).first()
    form = AuditForm(people, audit, n_answers, data)
    if not run.llm_answer_scores.filter(score__isnull=False).exists():
        del form.fields["with_models"]
    return form


def _draw_sample(request: HttpRequest, run: Run, form: AuditForm) -> HttpResponse:
    """Draw the sample, assign it to the experts, and redirect with a message."""
    data = form.cleaned_data
    with_models, count = data.get("with_models", False), data["count"]
    if data["preset"]:
        count = load_drawable_answers(run).compute_sample_size(data["preset"], with_models)
    try:
        drawn = draw_audit_sample(
            run, count, data["design"], with_models, data["seed"], data["step"]
        )
    except CannotDrawError as error:
        messages.error(request, str(error))
        return redirect(_build_link(run))
    experts = [int(expert) for expert in data["experts"]]
    for expert in experts:
        request_audit_grades(drawn, expert)
    if experts == [get_user_id(request)]:
        return redirect("admin:judging", run.version.question_set.public_id)
    n = drawn.items.count()
    messages.success(
        request,
        f"Asked about {n} answer{'' if n == 1 else 's'}. Experts find them on their first page "
        "after signing in.",
    )
    return redirect(_build_link(run))


def _withdraw_expert(request: HttpRequest, run: Run) -> HttpResponse:
    current_audit = Audit.objects.filter(run=run).first()
    named = _read_expert_key(request)
    if current_audit is None or named is None:
        messages.error(request, "Choose an expert who was asked.")
    else:
        n = withdraw_requests(current_audit, named)
        messages.success(
            request,
            f"{n} answer{'' if n == 1 else 's'} taken back; what was graded stays.",
        )
    return redirect(_build_link(run))


def _assign_settling_expert(request: HttpRequest, run: Run) -> HttpResponse:
    """Assign a third expert to settle disagreements, and redirect with a message."""
    current_audit, named = Audit.objects.filter(run=run).first(), _read_expert_key(request)
    thirds = dict(_list_graders(request, run))
    if current_audit is None or named not in thirds:
        messages.error(request, "Choose an expert who settles it. No request was sent.")
        return redirect(_build_link(run))
    try:
        n = ask_expert_to_settle(current_audit, named)
    except CannotSettleError as error:
        messages.error(request, f"{error} No request was sent.")
        return redirect(_build_link(run))
    messages.success(
        request,
        f"Asked to settle {n} answer{'' if n == 1 else 's'}: question, answer and the grades are "
        "shown, and not who gave which.",
    )
    return redirect(_build_link(run))


def _list_graders(request: HttpRequest, run: Run) -> list[tuple[int, str]]:
    """Return key and name of the users who may grade: the set's experts, and the requester."""
    experts = Share.objects.of_experts(run.version.question_set).exclude(user=get_user_id(request))
    return _add_requester(request, list(experts.values_list("user", "user__username")))


def _add_requester(request: HttpRequest, experts: list[tuple[int, str]]) -> list[tuple[int, str]]:
    return [*experts, (get_user_id(request), f"{request.user.get_username()} (you)")]


def _read_expert_key(request: HttpRequest) -> int | None:
    """Return the posted key of an expert; None without one."""
    named = request.POST.get("expert", "")
    # isdigit alone is true of "²", which int refuses; a longer number is beyond any key.
    return int(named) if named.isascii() and named.isdigit() and len(named) < 12 else None


def _build_link(run: Run) -> str:
    return reverse("admin:results-audit", kwargs={"run": run.public_id})


# Rows that the page shows; the files have all.
MAX_SHOWN = 40


@grading_page("evaluation/experts.html")
def show_experts(request: HttpRequest, run: Run) -> Context:
    """Show the expert findings; an expert with open answers sees none before the last one."""
    audit = Audit.objects.filter(run=run).first()
    me = get_user_id(request)
    own = (
        next((progress for progress in list_audit_progress(audit) if progress.user == me), None)
        if audit
        else None
    )
    report = build_experts_report(run)
    findings = report.findings
    return {
        "title": "Experts' grades",
        "subtitle": f"{report.about.name}, version {report.about.version}",
        "report": report,
        "found": findings,
        "grading": own is not None and not own.is_done,
        "level": LEVELS[findings.level],
        "coefficients": [
            (*COEFFICIENTS[coefficient.metric], coefficient, _describe_reason(coefficient.reason))
            for coefficient in findings.agreement
        ],
        "difficulty": findings.difficulty[:MAX_SHOWN],
        "means": [(mean, _describe_reason(mean.reason)) for mean in findings.means[:MAX_SHOWN]],
    }


def _describe_reason(reason: str | None) -> str:
    """Return the reason for a missing number, in words; "" for no reason."""
    return WHY_EMPTY.get(reason or "", "")
