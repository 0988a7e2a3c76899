"""Deciding about people one by one: the queue, and one worker with the evidence side by side."""

from __future__ import annotations

from typing import Any
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
from annotations.web.query import choice, number
from annotations.web.scope import RefusedError
from evaluation.flow.aqer_summary import AqerSummary
from evaluation.models import Run, WorkerGrade, WorkerVerdict
from evaluation.reports.facts import contradictions_of
from evaluation.reports.signals import signals_of
from evaluation.reports.triage import comparison, history_of, queue_of, rows_of
from evaluation.reports.triage.files import PanelFiles
from evaluation.reports.triage.partners import Partner, partner_named, partners_of
from evaluation.reports.triage.queue import Queue
from evaluation.reports.triage.verdicts import Decided
from evaluation.site.meanwhile import meanwhile, seen
from evaluation.site.results.page import Context, kind_or_404, results_page, way_here
from evaluation.site.runs import run_or_404
from evaluation.triaging import (
    LONGEST_REASON,
    VERDICT_PROBLEMS,
    DecidedMeanwhileError,
    NothingToTakeBackError,
    VerdictError,
    accepted_together,
    decide,
    last_of,
    take_back,
)
from evaluation.words.message import Message
from evaluation.words.triage import OWN, REASONS

SHOW = {"all": "all", "open": "who waits for a decision", "decided": "who is decided"}
WHO = ("look", "everybody")
# Workers on one page of the queue.
ROWS = 50
# Presses that accepted many at once, on the page of the queue.
TOGETHER = 5
MOST = 10_000_000
LONGEST_BACK = 2000


class ExcludeForm(forms.Form):
    """Why somebody is excluded; what contradicts itself `evaluation.triaging` refuses."""

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
        help_text="Kept beside the decision, and part of what a rejected worker reads.",
    )
    rejects = forms.BooleanField(
        label="Reject the work on the panel, too: no pay",
        required=False,
        help_text="Without it the worker is left out of the grades, and approved and paid.",
    )


@results_page("evaluation/triage/queue.html")
def triage(request: HttpRequest, run: Run) -> Context:
    """Show who is worth looking at, what was decided, and what can be done with it."""
    show, who = choice(request.GET, "show", SHOW, "all"), choice(request.GET, "who", WHO, WHO[0])
    queue = queue_of(run, everybody=who == "everybody")
    shown = queue.shown(show)
    start = number(request.GET, "start", 0, MOST, blank=True) or 0
    excluded = [one for one in queue.verdicts.values() if one.kind == "exclude"]
    return {
        "title": "Decide about people",
        "queue": queue,
        "rows": rows_of(run, queue, shown[start : start + ROWS]),
        "n_shown": len(shown),
        "start": start,
        "next_start": start + ROWS if start + ROWS < len(shown) else None,
        "before_start": max(0, start - ROWS) if start else None,
        "show": show,
        "shows": SHOW.items(),
        "who": who,
        "begin": next((one for one in queue.workers if one not in queue.verdicts), None),
        "query": _query(show, who),
        "may": rights(request.user, run.version.question_set).edit,
        "question_set_id": run.version.question_set.public_id,
        "n_excluded": len(excluded),
        "n_decided": len(queue.verdicts),
        "n_undecided": queue.n_all - len(queue.verdicts),
        "together": accepted_together(run)[:TOGETHER],
        "files": PanelFiles(run) if queue.verdicts else None,
        "made": Run.objects.filter(applied_verdicts__run=run).distinct().order_by("-pk")[:10],
    }


@require_http_methods(["GET", "HEAD", "POST"])
def triage_worker(request: HttpRequest, run: UUID, worker: UUID) -> HttpResponseBase:
    """Show a worker with the evidence; what is posted is decided, or taken back."""
    if request.method != "POST":
        return _page(request, run=run, worker=worker)
    shown = run_or_404(request, run)
    kind_or_404(shown, AqerSummary)
    if not rights(request.user, shown.version.question_set).edit:
        raise RefusedError("change")
    about = _worker_of(shown, worker)
    form, problem, status = None, None, 400
    do = request.POST.get("do", "")
    try:
        if do == "undo":
            taken = take_back(shown, about, request.user, seen=seen(request))
            back: Any = taken.takes_back
            said = f"Taken back: {back.get_kind_display()}."
            messages.success(request, f"{about.external_id}: {said}")
            return redirect(_address(request, shown, worker))
        values: dict[str, Any] = {}
        if do == "exclude":
            form = ExcludeForm(request.POST)
            if not form.is_valid():
                return _again(request, run, worker, form=form, status=400)
            values = form.cleaned_data
        kept = decide(shown, about, request.user, do, **values, seen=seen(request))
        messages.success(request, f"{about.external_id}: {kept.get_kind_display()}.")
        return redirect(_onwards(request, shown, worker))
    except VerdictError as error:
        if form is not None and error.field in form.fields:
            form.add_error(error.field, ValidationError(str(error), error.code))
        else:
            problem = str(error)
    except NothingToTakeBackError:
        problem = VERDICT_PROBLEMS["nothing_to_take_back"]
    except DecidedMeanwhileError as error:
        problem, status = meanwhile(error.newest, request.user, _what(error.newest)), 409
    return _again(request, run, worker, form=form, problem=problem, status=status)


@results_page("evaluation/triage/worker.html")
def _page(
    request: HttpRequest,
    run: Run,
    worker: UUID,
    form: ExcludeForm | None = None,
    problem: str | None = None,
) -> Context:
    """Show why a worker is here, the answers side by side, the times, and what was decided.

    `with` (whom to compare with), `pairs` (a page), `show`, `who` and `back` come from the address.
    """
    about = _worker_of(run, worker)
    show, who = _filters(request)
    queue = queue_of(run, everybody=who == "everybody")
    row = rows_of(run, queue, [worker])[0]
    history = history_of(run, worker)
    partners = partners_of(run, about)
    chosen = _chosen(request, run, about, partners)
    page = number(request.GET, "pairs", 1, MOST, blank=True) or 1
    before, after = queue.beside(worker, show)
    may = rights(request.user, run.version.question_set).edit
    mine = last_of(run, request.user) if may else None
    query = _query(show, who)
    return {
        "title": about.external_id,
        "breadcrumbs": [*way_here(run), ("Decide about people", _queue_link(run) + query)],
        "worker": row.row,
        "entry": row,
        "queue": queue,
        "place": queue.place(worker),
        "before": before,
        "after": after,
        "why": _why(row.why, queue, row),
        "verdict": row.verdict,
        "history": history,
        "seen": history[0].id if history else "",
        "partners": partners if chosen in partners else [*partners, chosen],
        "comparison": comparison(run, about, chosen, page),
        "contradictions": contradictions_of(run, "worker", worker),
        "signals": signals_of(run, [worker], in_full=True).get(worker),
        "mine": mine if mine is not None and mine.worker_id != about.pk else None,
        "may": may,
        "form": form or ExcludeForm(initial=_given(row.verdict)),
        "is_open": form is not None or request.GET.get("do") == "exclude",
        "problem": problem,
        "query": query,
        "show": show,
        "who": who,
        "back": _back(request),
        "queue_link": _queue_link(run) + query,
    }


def _again(request: HttpRequest, run: UUID, worker: UUID, **values: Any) -> HttpResponseBase:
    """Return the page with what was posted, and what is wrong with it."""
    status = values.pop("status")
    request.method = "GET"
    response: Any = _page(request, run=run, worker=worker, **values)
    response.status_code = status
    return response


def _worker_of(run: Run, worker: UUID) -> Worker:
    grade = WorkerGrade.objects.filter(run=run, worker__public_id=worker).only("worker")
    found = grade.select_related("worker").first()
    if found is None:
        raise Http404("the run has no such worker")
    return found.worker


def _why(why: Message | None, queue: Queue, row: Any) -> list[Message]:
    """Return what there is to say besides the marks."""
    standing = {"rank": row.row.rank, "ranked": queue.n_ranked}
    said = [Message("triage.standing", standing)] if why is None else [why]
    return said if row.marks else [Message("triage.nothing"), *said]


def _chosen(request: HttpRequest, run: Run, worker: Worker, offered: list[Partner]) -> Partner:
    asked = request.GET.get("with", "")
    found = partner_named(run, worker, asked, offered) if asked else offered[0]
    if found is None:
        raise Http404("there is nobody of the kind to compare with")
    return found


def _given(verdict: Decided | None) -> dict[str, Any]:
    if verdict is None or verdict.kind != WorkerVerdict.Kind.EXCLUDE:
        return {}
    return {
        "category": verdict.category,
        "reason": verdict.reason,
        "rejects": verdict.rejects,
    }


def _what(newest: WorkerVerdict) -> str:
    """Return what was decided, with the reason of an exclusion."""
    what = newest.get_kind_display()
    if newest.kind == WorkerVerdict.Kind.EXCLUDE and newest.category in REASONS:
        why = newest.reason if newest.category == OWN else REASONS[newest.category].briefly
        what = f"{what}, {why}"
    return what


def _filters(request: HttpRequest) -> tuple[str, str]:
    return choice(request.GET, "show", SHOW, "all"), choice(request.GET, "who", WHO, WHO[0])


def _query(show: str, who: str) -> str:
    """Return the part of an address that keeps the filters; "" for the usual ones."""
    kept = {"show": show, "who": who}
    usual = {"show": "all", "who": WHO[0]}
    asked = {name: value for name, value in kept.items() if value != usual[name]}
    return f"?{urlencode(asked)}" if asked else ""


def _queue_link(run: Run) -> str:
    return reverse("admin:results-triage", kwargs={"run": run.public_id})


def _address(request: HttpRequest, run: Run, worker: UUID) -> str:
    kept = {
        name: request.GET[name] for name in ("show", "who", "back", "with") if name in request.GET
    }
    ids = {"run": run.public_id, "worker": worker}
    link = reverse("admin:results-triage-worker", kwargs=ids)
    return f"{link}?{urlencode(kept)}" if kept else link


def _back(request: HttpRequest) -> str:
    """Return the page of this site that somebody came from; "" without one."""
    asked = request.GET.get("back", "")
    safe = asked.startswith("/") and len(asked) <= LONGEST_BACK
    return asked if safe and url_has_allowed_host_and_scheme(asked, allowed_hosts=None) else ""


def _onwards(request: HttpRequest, run: Run, worker: UUID) -> str:
    """Return where a decision leads: back, to the next of whom nobody decided, or to the queue."""
    if back := _back(request):
        return back
    show, who = _filters(request)
    queue = queue_of(run, everybody=who == "everybody")
    following = queue.next_open(worker)
    if following is None:
        return _queue_link(run) + _query(show, who)
    ids = {"run": run.public_id, "worker": following}
    return reverse("admin:results-triage-worker", kwargs=ids) + _query(show, who)
