"""Pages of the workers to pay: the list, and one submission.

Page that lists workers for payment decisions, and the context of all payment pages. Page of one
submission: evidence, decision, appeal and history.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.text import capfirst
from django.views.decorators.http import require_GET, require_http_methods

from annotations.exchange.prolific import CATEGORIES, LEAST_MESSAGE, LONGEST_MESSAGE, REJECT
from annotations.ledger import appeals
from annotations.ledger import decisions as deciding
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
from evaluation.grading.facts.report import read_contradictions
from evaluation.payments.messages import draft_rejection
from evaluation.payments.people_filter import PayPageFilter
from evaluation.payments.report import OPEN, PaymentPeople, PayRow
from evaluation.payments.storage.evidence import Evidence, get_payable_version
from evaluation.payments.storage.fairness import compare_decisions
from evaluation.payments.storage.rules import APPROVE
from evaluation.runs.forms import format_decision_conflict, get_seen_decision_id


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
    sendable, held_back = split_confirmed(
        (payment for payment in payments if is_in_round(payment, None)), log
    )
    context |= {
        "n_confirmed": len(sendable),
        "n_held": len(held_back),
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
            problem = f"{error}. No one was approved; check the current list."
        except DecidedMeanwhileError as error:
            problem = (
                f"{error.newest.decided_by.get_username()} decided about one of them since you "
                f"opened the page. "
                "No one was approved; check the current list."
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


SENTENCES = {
    "approve": "Approved. The panel is not informed yet.",
    "reject": "Rejected. The worker sees it on their own page. The panel is not informed yet.",
    "open": "Undecided again.",
    "answer-approve": "Answered, and approved. The panel is not informed yet.",
    "answer-stays": "Answered. It stays rejected.",
    "note-appeal": "Noted. You can answer it now.",
}
ANSWERS = {"answer-approve": True, "answer-stays": False}
"""Actions that answer an appeal, and whether they approve the submission."""
NOTE = "note-appeal"


class Problem(NamedTuple):
    """Error message at the top of the page; `code` is the reason why nothing was done."""

    code: str
    sentence: str


class RejectForm(forms.Form):
    """Reason and message of a rejection; `annotations.ledger.decisions` checks them.

    `offered` are the categories with evidence, which come first.
    """

    category = forms.ChoiceField(label="Reason, as the panel calls it", widget=forms.RadioSelect)
    reason = forms.CharField(
        label="What the worker reads",
        widget=forms.Textarea(attrs={"rows": 6, "dir": "auto"}),
        help_text=f"{LEAST_MESSAGE} to {LONGEST_MESSAGE:,} characters: what was wrong, in words "
        "that they can answer to.",
    )

    def __init__(self, offered: Sequence[str], *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field: Any = self.fields["category"]
        field.choices = [
            *((code, f"{CATEGORIES[code]}: there is evidence") for code in offered),
            *((code, words) for code, words in CATEGORIES.items() if code not in offered),
        ]


class AnswerForm(forms.Form):
    """Answer to an appeal."""

    answer = forms.CharField(
        label="Your answer, which they read",
        widget=forms.Textarea(attrs={"rows": 5, "dir": "auto"}),
        max_length=appeals.LONGEST,
        help_text=f"At most {appeals.LONGEST:,} characters.",
    )


class NoteForm(forms.Form):
    """Form to enter an appeal that a worker sent outside Crowdgrade."""

    written = forms.CharField(
        label="What they wrote, word for word",
        widget=forms.Textarea(attrs={"rows": 5, "dir": "auto"}),
        max_length=appeals.LONGEST,
        help_text=f"At most {appeals.LONGEST:,} characters, stored as typed.",
    )


@require_http_methods(["GET", "HEAD", "POST"])
def person(request: HttpRequest, set_id: UUID, submission_id: UUID) -> HttpResponse:
    """Show one submission with its evidence; a POST stores a decision or answers an appeal."""
    version = get_payable_version(request, set_id)
    row = _load_row(version, submission_id)
    if request.method != "POST":
        return _render_page(request, row)
    kind = request.POST.get("do", "")
    if kind in ANSWERS:
        return _answer_appeal(request, row, kind)
    if kind == NOTE:
        return _note_appeal(request, row)
    values = {name: request.POST.get(name, "") for name in ("category", "reason")}
    values = values if kind == REJECT else {}
    try:
        decision = deciding.decide(
            row.submission, request.user, kind, **values, seen=get_seen_decision_id(request)
        )
    except deciding.DecisionError as error:
        return _render_refusal(request, row, error, values)
    except deciding.WithdrawnError as error:
        problem = Problem("withdrawn", f"{error}: nothing was decided.")
        return _render_page(request, row, problem=problem, status=409)
    except deciding.DecidedMeanwhileError as error:
        problem = _build_problem(request, error)
        initial = values if kind == REJECT else None
        return _render_page(
            request, _load_row(version, submission_id), initial, problem=problem, status=409
        )
    messages.success(
        request, f"{row.name}: {SENTENCES[decision.kind]}", f"decision_{decision.kind}"
    )
    return redirect(request.get_full_path())


def _answer_appeal(request: HttpRequest, row: PayRow, action: str) -> HttpResponse:
    """Store the answer to an appeal with its decision; each appeal gets one answer.

    If the answer cannot be stored, the page shows the text again so that it is not lost.
    """
    if row.appeal is None:
        problem = Problem("nothing_written", "They wrote nothing to answer to.")
        return _render_page(request, row, problem=problem, status=409)
    form = AnswerForm(request.POST)
    if not form.is_valid():
        return _render_page(request, row, answer_form=form, status=400)
    try:
        text = form.cleaned_data["answer"]
        appeals.answer_appeal(row.appeal, request.user, text, approve=ANSWERS[action])
    except deciding.WithdrawnError as error:
        problem = Problem("withdrawn", f"{error}: nothing was sent.")
    except deciding.DecidedMeanwhileError as error:
        problem = _build_problem(request, error)
    except appeals.AppealError:
        sentence = "Another user has answered, and only one answer is possible. Yours was not sent."
        problem = Problem("answered_meanwhile", sentence)
    else:
        messages.success(request, f"{row.name}: {SENTENCES[action]}", action.replace("-", "_"))
        return redirect(request.get_full_path())
    current = _load_row(row.submission.version, row.submission.public_id)
    return _render_page(
        request, current, problem=problem, unsent=form.cleaned_data["answer"], status=409
    )


def _note_appeal(request: HttpRequest, row: PayRow) -> HttpResponse:
    """Store an appeal that a worker sent elsewhere; each rejection has one appeal."""
    form = NoteForm(request.POST)
    if not form.is_valid():
        return _render_page(request, row, note_form=form, status=400)
    try:
        appeals.create_appeal(row.submission, form.cleaned_data["written"], request.user)
    except deciding.WithdrawnError as error:
        problem = Problem("withdrawn", f"{error}: nothing was noted.")
    except appeals.AppealError as error:
        sentence = f"{appeals.NOT_STORED_REASONS[error.code]} Nothing was noted."
        problem = Problem(error.code, sentence)
    else:
        messages.success(request, f"{row.name}: {SENTENCES[NOTE]}", "note_appeal")
        return redirect(f"{request.get_full_path()}#appeal")
    current = _load_row(row.submission.version, row.submission.public_id)
    return _render_page(
        request, current, problem=problem, unsent=form.cleaned_data["written"], status=409
    )


def _build_problem(request: HttpRequest, error: deciding.DecidedMeanwhileError) -> Problem:
    """Build the problem that another user decided since the page was opened."""
    newest = error.newest
    return Problem(
        "decided_meanwhile",
        format_decision_conflict(newest, request.user, newest.get_kind_display()),
    )


def _load_row(version: QuestionSetVersion, submission_id: UUID) -> PayRow:
    """Return the payment row of a submission with all evidence; 404 for an unknown one."""
    row = PaymentPeople(version).load_row(submission_id, in_full=True)
    if row is None:
        raise Http404("there is no such submission")
    return row


def _render_refusal(
    request: HttpRequest, row: PayRow, error: deciding.DecisionError, values: Mapping[str, str]
) -> HttpResponse:
    """Render the page with the posted values and the errors beside their fields; status 400."""
    form = RejectForm(row.suggestion.categories, values)
    # Fills `errors`, without which `add_error` fails.
    form.is_valid()
    problem = None
    for field, reason, remedy, _ in error.wrong:
        if field in form.fields:
            # The form's own message would repeat that of the ledger.
            form.errors.pop(field, None)
            form.add_error(field, f"{capfirst(reason)}. {remedy}")
        else:
            problem = Problem(field, f"{capfirst(reason)}. {remedy}")
    is_rejecting = bool(form.errors)
    return _render_page(
        request, row, form=form if is_rejecting else None, problem=problem, status=400
    )


def _render_page(
    request: HttpRequest,
    row: PayRow,
    posted: Mapping[str, str] | None = None,
    *,
    form: RejectForm | None = None,
    answer_form: AnswerForm | None = None,
    note_form: NoteForm | None = None,
    problem: Problem | None = None,
    unsent: str = "",
    status: int = 200,
) -> HttpResponse:
    """Render the page of a submission.

    `problem` states why nothing was done; `unsent` is a posted text whose form is no longer on the
    page.
    """
    submission = row.submission
    version = submission.version
    run = row.run
    drafts = _draft_rejections(row)
    history = row.log[::-1]
    offered = row.suggestion.categories
    first_category = next(iter(offered), "")
    initial = posted or {"category": first_category, "reason": drafts.get(first_category, "")}
    context = build_frame(version, row.name) | {
        "row": row,
        "run": run if row.score is not None else None,
        "contradictions": read_contradictions(run, "worker", submission.worker.public_id)
        if run and row.score and row.score.contradicted
        else [],
        "history": history,
        "seen": history[0].public_id if history else "",
        "form": form or RejectForm(offered, initial=initial),
        "is_rejecting": form is not None or posted is not None or request.GET.get("do") == REJECT,
        "drafts": [
            (CATEGORIES[code], text) for code, text in drafts.items() if code != first_category
        ],
        "answer_form": answer_form or AnswerForm(),
        "note_form": note_form or NoteForm(),
        "problem": problem,
        "unsent": unsent,
        "signals": row.signals,
    }
    return TemplateResponse(request, "evaluation/payments/person.html", context, status=status)


def _draft_rejections(row: PayRow) -> dict[str, str]:
    """Return a draft of the message to the worker for each category with enough evidence."""
    drafts = {}
    for category in row.suggestion.categories:
        offered: list[Evidence] = [
            evidence
            for evidence in row.evidence
            if evidence.category == category and evidence.offered
        ]
        checks = [check for evidence in offered for check in evidence.checks]
        values = [(evidence.said.code, evidence.said.values) for evidence in offered]
        drafts[category] = draft_rejection(category, values, checks)
    return drafts


def build_person_link(version: QuestionSetVersion, submission: UUID) -> str:
    """Return the link to the page of a submission."""
    link = reverse("admin:paying-person", args=[version.question_set.public_id, submission])
    return link + str(build_frame(version, "")["kept"])
