"""Page that lists workers for payment decisions, and the context of all payment pages."""

from __future__ import annotations

from collections import Counter
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods

from annotations.ledger.bonuses import (
    PART,
    UNRESOLVED_STATES,
    has_confirmed,
    is_in_round,
    split_confirmed,
)
from annotations.ledger.decisions import (
    DecidedMeanwhileError,
    WithdrawnError,
    approve_undecided,
    is_newest_answered,
)
from annotations.ledger.parts import select_sendable_parts
from annotations.models import QuestionSetVersion
from annotations.panels.lists import PanelLists
from annotations.panels.people import load_people
from annotations.web.pages import build_breadcrumbs
from evaluation.payments.people_filter import PayPageFilter
from evaluation.payments.report import OPEN, PaymentPeople
from evaluation.payments.storage.fairness import compare_decisions
from evaluation.payments.storage.scope import get_payable_version
from evaluation.payments.storage.suggestions import APPROVE


def build_frame(version: QuestionSetVersion, title: str, *, inside: bool = True) -> dict[str, Any]:
    """Return the template context that all payment pages share.

    `inside` : whether the page has a link up to the list of workers.
    """
    question_set = version.question_set
    query = "" if is_newest_answered(version) else f"?version={version.number}"
    links = build_breadcrumbs(question_set)
    if inside:
        links.append(("Pay people", reverse("admin:paying", args=[question_set.public_id]) + query))
    return {
        "title": title,
        "subtitle": f"{question_set.name}, version {version.number}",
        "breadcrumbs": links,
        "notice": question_set.notice,
        "question_set": question_set,
        "version": version,
        # Every link of a payment page ends with it, so that the user stays on this version.
        "kept": query,
    }


ROWS_PER_PAGE = 50
MAX_LISTED = 100
"""Workers that the page of a joint approval lists by name."""


@require_GET
def desk(request: HttpRequest, set_id: UUID) -> HttpResponse:
    """List the workers with evidence and suggestions; the query filters, sorts and pages."""
    version = get_payable_version(request, set_id)
    everybody = load_people(version.submissions.all())
    people = [person for person in everybody if not person.withdrew]
    records = PaymentPeople(version, everybody)
    form = PayPageFilter(request.GET, records)
    listing = form.listing(request, ROWS_PER_PAGE)
    page = listing["page"]
    counts = records.count_decisions()
    # Decisions of the page's workers, and of those whose confirmed bonus may be held back.
    log = records.load_log([submission.pk for submission in page.rows], has_confirmed(version))
    context = build_frame(version, "Pay people", inside=False) | listing
    payments = records.payments
    waiting = split_confirmed((payment for payment in payments if is_in_round(payment, None)), log)
    context |= {
        "n_confirmed": len(waiting.sendable),
        "n_held": len(waiting.held_back),
        "n_parts": len(select_sendable_parts(version, payments, everybody)),
        "may_have_parts": sum(records.ended.values()),
        "taken": [
            (batch, n, is_part)
            for (batch, is_part), n in Counter(
                (payment.batch, payment.round == PART)
                for payment in payments
                if payment.state in UNRESOLVED_STATES
            ).items()
        ],
        "rows": records.load_rows(page.rows, log=log),
        "run": records.run,
        "counts": counts,
        "ended": records.ended,
        "n_waiting": records.n_waiting,
        "comparisons": compare_decisions(version, people=people),
        "n_all": records.n_all,
        "lists": PanelLists(version.pk, people, may_have_batches=records.has("batches")),
        "versions": records.versions,
    }
    return TemplateResponse(request, "evaluation/payments/desk.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def approve(request: HttpRequest, set_id: UUID) -> HttpResponse:
    """Ask for confirmation to approve several workers; a POST approves them.

    `who` in the query names the submissions. Without it, these are all undecided ones for which
    approval is suggested.
    """
    version = get_payable_version(request, set_id)
    problem = ""
    if request.method == "POST":
        submissions = _load_submissions(version, request.POST.get("who", "").split(","))
        try:
            approval = approve_undecided(
                request.user, [submission.pk for submission in submissions]
            )
        except WithdrawnError as error:
            problem = f"{error}. Nobody was approved; look at the list as it is now."
        except DecidedMeanwhileError as error:
            problem = (
                f"{error.newest.decided_by.get_username()} decided about one of them meanwhile. "
                "Nobody was approved; look at the list as it is now."
            )
        else:
            phrase = "person is" if approval.n_new == 1 else "people are"
            messages.success(
                request, f"{approval.n_new:,} {phrase} approved. The panel is not informed yet."
            )
            query = build_frame(version, "")["kept"]
            return redirect(reverse("admin:paying", args=[set_id]) + query)
    ids = request.GET.getlist("who")
    people = _load_submissions(version, ids) if ids else _load_suggested(version)
    people = [
        submission
        for submission in people
        if submission.decided == OPEN and submission.withdrawn_at is None
    ]
    context = build_frame(version, "Approve several people?") | {
        "people": people[:MAX_LISTED],
        "more": max(0, len(people) - MAX_LISTED),
        "n": len(people),
        "who": ",".join(submission.public_id.hex for submission in people),
        "chosen": bool(ids),
        "problem": problem,
    }
    status = 409 if problem else 200
    return TemplateResponse(request, "evaluation/payments/approve.html", context, status=status)


def _load_suggested(version: QuestionSetVersion) -> list[Any]:
    """Return the undecided submissions for which approval is suggested, by name."""
    records = PaymentPeople(version)
    submissions = list(records.select_people().order_by("name", "pk"))
    suggestions = records.suggest_all(submissions)
    return [
        submission
        for submission in submissions
        if submission.decided == OPEN and suggestions[submission.pk].action == APPROVE
    ]


def _load_submissions(version: QuestionSetVersion, ids: list[str]) -> list[Any]:
    """Return the submissions of this version with these public ids, by name; others are ignored."""
    public_ids = set()
    for text in ids:
        try:
            public_ids.add(UUID(text.strip()))
        except ValueError:
            continue
    submissions = PaymentPeople(version).select_people().order_by("name", "pk")
    return [submission for submission in submissions if submission.public_id in public_ids]
