"""Pages that decide about workers one at a time: the queue, and a worker with the evidence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import urlencode
from uuid import UUID

from django import forms
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_http_methods

from annotations.models import Worker, rights
from annotations.web.query import parse_choice, parse_number
from annotations.web.scope import RefusedError
from evaluation.core.messages.message import Message
from evaluation.core.messages.reasons import OWN, REASONS
from evaluation.grading.alarms.report.marks import read_marks_and_naming
from evaluation.grading.facts.report import read_contradictions
from evaluation.grading.results.pages import grading_page
from evaluation.grading.results.report.evidence import read_signals
from evaluation.grading.results.report.workers import build_worker_row_of_grade
from evaluation.grading.summary import AqerSummary
from evaluation.models import Run, WorkerVerdict
from evaluation.runs.forms import format_decision_conflict, get_seen_decision_id
from evaluation.runs.reports.verdicts import (
    WorkerDecision,
    find_own_last_verdict,
    group_accepted_batches,
    load_active_and_history,
)
from evaluation.runs.result_pages import Context, build_breadcrumbs, get_kind_or_404, get_run_or_404
from evaluation.triage.report.evidence import (
    Partner,
    compare_answers,
    find_partner,
    find_partners,
)
from evaluation.triage.report.exclusion import PanelFiles
from evaluation.triage.report.queue import (
    CONTRAST,
    REVIEW,
    Queue,
    QueueOrder,
    build_queue_rows,
    load_grade,
    load_queue,
    load_queue_rows,
)
from evaluation.triage.storage import (
    LONGEST_REASON,
    VERDICT_PROBLEMS,
    DecidedMeanwhileError,
    NothingToTakeBackError,
    VerdictError,
    decide,
    take_back,
)

SHOW = {"all": "all", "open": "who waits for a decision", "decided": "who is decided"}
SCOPES = ("look", "everybody")
ORDERS = {REVIEW: "alarms, then lowest rank", CONTRAST: "lowest question contrast"}
# Workers on one page of the queue.
ROWS_PER_PAGE = 50
# Batches of acceptances that the page of the queue lists.
MAX_BATCHES = 5
# Largest row or page number that a query may have.
MAX_NUMBER = 10_000_000
LONGEST_BACK = 2000


class ExcludeForm(forms.Form):
    """Form for the reason of an exclusion; `evaluation.triage.storage` checks consistency."""

    category = forms.ChoiceField(
        label="Why?",
        choices=[(code, reason.words) for code, reason in REASONS.items()],
        widget=forms.RadioSelect,
        error_messages={"required": VERDICT_PROBLEMS["category_missing"]},
    )
    reason = forms.CharField(
        label="In your own words",
        max_length=LONGEST_REASON,
        required=False,
        widget=forms.Textarea(attrs={"rows": 2, "dir": "auto"}),
        help_text="Stored with the decision. A rejected worker reads it.",
    )
    rejects = forms.BooleanField(
        label="Reject the work on the panel, too: no pay",
        required=False,
        help_text="Without it the worker is left out of the grades, and approved and paid.",
    )


@grading_page("evaluation/triage/queue.html")
def show_queue(request: HttpRequest, run: Run) -> Context:
    """Show the queue of workers, the decisions so far, and what can be done with them."""
    filters = _read_filters(request)
    queue = load_queue(run, everybody=filters.who == "everybody", order=filters.order)
    selected = queue.select(filters.show)
    start = parse_number(request.GET, "start", 0, MAX_NUMBER, blank=True) or 0
    excluded = [verdict for verdict in queue.verdicts.values() if verdict.kind == "exclude"]
    return {
        "title": "Decide about people",
        "queue": queue,
        "rows": load_queue_rows(run, queue, selected[start : start + ROWS_PER_PAGE]),
        "n_shown": len(selected),
        "start": start,
        "next_start": start + ROWS_PER_PAGE if start + ROWS_PER_PAGE < len(selected) else None,
        "before_start": max(0, start - ROWS_PER_PAGE) if start else None,
        "show": filters.show,
        "shows": SHOW.items(),
        "who": filters.who,
        "order": filters.order,
        "orders": ORDERS.items(),
        "begin": next((worker for worker in queue.workers if worker not in queue.verdicts), None),
        "query": filters.build_query(),
        "may": rights(request.user, run.version.question_set).edit,
        "question_set_id": run.version.question_set.public_id,
        "of_version": f"?version={run.version.number}",
        "n_excluded": len(excluded),
        "n_decided": len(queue.verdicts),
        "n_undecided": queue.n_all - len(queue.verdicts),
        "together": group_accepted_batches(queue.decided)[:MAX_BATCHES],
        "files": PanelFiles(run, queue.verdicts) if queue.verdicts else None,
        "made": Run.objects.filter(applied_verdicts__run=run).distinct().order_by("-pk")[:10],
    }


@require_http_methods(["GET", "HEAD", "POST"])
def review_worker(request: HttpRequest, run: UUID, worker: UUID) -> HttpResponseBase:
    """Show a worker with the evidence; a POST stores a decision or takes one back."""
    if request.method != "POST":
        return _render_page(request, run=run, worker=worker)
    graded_run = get_run_or_404(request, run)
    get_kind_or_404(graded_run, AqerSummary)
    # Viewers see the page, but only editors may decide.
    if not rights(request.user, graded_run.version.question_set).edit:
        raise RefusedError("change")
    subject: Worker = _get_grade_or_404(graded_run, worker).worker
    form, problem, status = None, None, 400
    action = request.POST.get("do", "")
    try:
        if action == "undo":
            undo_row = take_back(
                graded_run, subject, request.user, seen=get_seen_decision_id(request)
            )
            undone: Any = undo_row.takes_back
            sentence = f"Taken back: {undone.get_kind_display()}."
            messages.success(request, f"{subject.external_id}: {sentence}")
            return redirect(_build_worker_link(request, graded_run, worker))
        values: dict[str, Any] = {}
        if action == "exclude":
            form = ExcludeForm(request.POST)
            if not form.is_valid():
                return _render_problem(request, run, worker, form=form, status=400)
            values = form.cleaned_data
        verdict = decide(
            graded_run, subject, request.user, action, **values, seen=get_seen_decision_id(request)
        )
        messages.success(request, f"{subject.external_id}: {verdict.get_kind_display()}.")
        return redirect(_find_next_page(request, graded_run, worker))
    except VerdictError as error:
        if form is not None and error.field in form.fields:
            form.add_error(error.field, ValidationError(str(error), error.code))
        else:
            problem = str(error)
    except NothingToTakeBackError:
        problem = VERDICT_PROBLEMS["nothing_to_take_back"]
    except DecidedMeanwhileError as error:
        problem = format_decision_conflict(
            error.newest, request.user, _describe_verdict(error.newest)
        )
        status = 409
    return _render_problem(request, run, worker, form=form, problem=problem, status=status)


@grading_page("evaluation/triage/worker.html")
def _render_page(
    request: HttpRequest,
    run: Run,
    worker: UUID,
    form: ExcludeForm | None = None,
    problem: str | None = None,
) -> Context:
    """Return the page context: reasons for review, answers side by side, times and history.

    The query has `with` (key of a partner), `pairs` (page), `show`, `who` and `order` (filters),
    and `back` (link).
    """
    grade = _get_grade_or_404(run, worker)
    subject: Worker = grade.worker
    filters = _read_filters(request)
    decided, history = load_active_and_history(run, worker)
    marks, naming = read_marks_and_naming(run, subject)
    queue = load_queue(
        run,
        everybody=filters.who == "everybody",
        order=filters.order,
        counts=(grade.n_all, grade.n_ranked),
        decided=decided,
        marks=marks,
    )
    (row,) = build_queue_rows(queue, [build_worker_row_of_grade(grade)])
    partners = find_partners(run, subject, naming)
    partner = _choose_partner(request, run, subject, partners)
    page = parse_number(request.GET, "pairs", 1, MAX_NUMBER, blank=True) or 1
    comparison = compare_answers(run, subject, partner, page)
    previous, following = queue.find_neighbors(worker, filters.show)
    may = rights(request.user, run.version.question_set).edit
    own_last = find_own_last_verdict(queue.decided, request.user) if may else None
    query = filters.build_query()
    return {
        "title": subject.external_id,
        "breadcrumbs": [
            *build_breadcrumbs(run),
            ("Decide about people", _build_queue_link(run) + query),
        ],
        "worker": row.row,
        "entry": row,
        "queue": queue,
        "place": queue.find_position(worker),
        "before": previous,
        "after": following,
        "why": _list_reasons(row.why, queue, row),
        "verdict": row.verdict,
        "history": history,
        "seen": history[0].id if history else "",
        # A partner chosen by id need not be among those offered.
        "partners": partners if partner in partners else [*partners, partner],
        "comparison": comparison,
        "contradictions": read_contradictions(run, "worker", worker),
        "signals": read_signals(run, [worker], in_full=True).get(worker),
        "mine": own_last if own_last is not None and own_last.worker != worker else None,
        "may": may,
        "form": form or ExcludeForm(initial=_build_initial(row.verdict)),
        "is_open": form is not None or request.GET.get("do") == "exclude",
        "problem": problem,
        "query": query,
        "show": filters.show,
        "who": filters.who,
        "back": _read_back_link(request),
        "queue_link": _build_queue_link(run) + query,
    }


def _render_problem(
    request: HttpRequest, run: UUID, worker: UUID, **values: Any
) -> HttpResponseBase:
    """Render the page again with the posted values and the problem, with its status code."""
    status = values.pop("status")
    # `make_results_page` renders only GET and HEAD; the form of the POST is passed on.
    request.method = "GET"
    response: Any = _render_page(request, run=run, worker=worker, **values)
    response.status_code = status
    return response


def _get_grade_or_404(run: Run, worker: UUID) -> Any:
    """Return the worker's grade in the run; 404 without one."""
    grade = load_grade(run, worker)
    if grade is None:
        raise Http404("the run has no such worker")
    return grade


def _list_reasons(why: Message | None, queue: Queue, row: Any) -> list[Message]:
    """Return the reasons besides alarms: a low grade or the rank, or that no alarm exists."""
    values = {"rank": row.row.rank, "ranked": queue.n_ranked}
    reasons = [Message("triage.standing", values)] if why is None else [why]
    return reasons if row.marks else [Message("triage.nothing"), *reasons]


def _choose_partner(
    request: HttpRequest, run: Run, worker: Worker, offered: list[Partner]
) -> Partner:
    """Return the partner that the query names, else the first one offered; 404 if unknown."""
    key = request.GET.get("with", "")
    partner = find_partner(run, worker, key, offered) if key else offered[0]
    if partner is None:
        raise Http404("there is no such worker to compare with")
    return partner


def _build_initial(verdict: WorkerDecision | None) -> dict[str, Any]:
    """Return the initial values of the form: those of a current exclusion, else none."""
    if verdict is None or verdict.kind != WorkerVerdict.Kind.EXCLUDE:
        return {}
    # A message from the payment pages may be longer than a reason here.
    reason = verdict.reason if len(verdict.reason) <= LONGEST_REASON else ""
    return {
        "category": verdict.category,
        "reason": reason,
        "rejects": verdict.rejects,
    }


def _describe_verdict(verdict: WorkerVerdict) -> str:
    """Return the label of a decision, with the reason of an exclusion."""
    label = verdict.get_kind_display()
    if verdict.kind == WorkerVerdict.Kind.EXCLUDE and verdict.category in REASONS:
        reason = verdict.reason if verdict.category == OWN else REASONS[verdict.category].briefly
        label = f"{label}, {reason}"
    return label


@dataclass(frozen=True)
class QueueFilters:
    """State, scope and order of the queue that a query selects."""

    show: str = "all"
    who: str = SCOPES[0]
    order: QueueOrder = REVIEW

    def build_query(self) -> str:
        """Return the query string that keeps the filters; "" for their defaults."""
        changed = {name: value for name, value in vars(self).items() if value != DEFAULTS[name]}
        return f"?{urlencode(changed)}" if changed else ""


DEFAULTS = vars(QueueFilters())


def _read_filters(request: HttpRequest) -> QueueFilters:
    """Return the state, the scope and the order that the query selects."""
    return QueueFilters(
        parse_choice(request.GET, "show", SHOW, "all"),
        parse_choice(request.GET, "who", SCOPES, SCOPES[0]),
        cast(QueueOrder, parse_choice(request.GET, "order", ORDERS, REVIEW)),
    )


def _build_queue_link(run: Run) -> str:
    """Return the link to the queue of a run."""
    return reverse("admin:results-triage", kwargs={"run": run.public_id})


def _build_worker_link(request: HttpRequest, run: Run, worker: UUID) -> str:
    """Return the link to a worker's page that keeps the filters, partner and `back`."""
    query = {
        name: request.GET[name] for name in ("show", "who", "back", "with") if name in request.GET
    }
    ids = {"run": run.public_id, "worker": worker}
    link = reverse("admin:results-triage-worker", kwargs=ids)
    return f"{link}?{urlencode(query)}" if query else link


def _read_back_link(request: HttpRequest) -> str:
    """Return the safe local link in `back`; "" without one.

    Only a path of this site is accepted: an open redirect would lead users to other hosts.
    """
    link = request.GET.get("back", "")
    is_path = link.startswith("/") and len(link) <= LONGEST_BACK
    return link if is_path and url_has_allowed_host_and_scheme(link, allowed_hosts=None) else ""


def _find_next_page(request: HttpRequest, run: Run, worker: UUID) -> str:
    """Return the page after a decision: `back`, the next undecided worker, or the queue."""
    if back := _read_back_link(request):
        return back
    filters = _read_filters(request)
    queue = load_queue(run, everybody=filters.who == "everybody", order=filters.order)
    following = queue.find_next_undecided(worker)
    if following is None:
        return _build_queue_link(run) + filters.build_query()
    ids = {"run": run.public_id, "worker": following}
    return reverse("admin:results-triage-worker", kwargs=ids) + filters.build_query()
